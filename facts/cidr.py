"""How the VPC's address space is cut into subnets.

Each zone gets three subnets at offsets that depend only on its place in the list, so a zone that is appended moves none
of the others: a new CIDR means a replaced subnet, and a replaced subnet means a replaced cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

MAX_ZONES = 4
"""Zones that fit beside each other without moving one: EKS control planes take no more than they need, two is usual."""
RESERVED_ADDRESSES = 5
"""Addresses that AWS keeps of each subnet (VPC user guide, subnet sizing)."""


@dataclass(frozen=True)
class ZoneSubnets:
    """The CIDR blocks of one zone."""

    zone_id: str
    public: str
    """Internet-facing: NAT gateways and load balancers."""
    private: str
    """Routable from peered networks: control-plane interfaces and the file system."""
    node: str
    """Nodes and pods, out of the secondary block."""


def plan_subnets(cidr: str, pod_cidr: str, zone_ids: Sequence[str]) -> tuple[ZoneSubnets, ...]:
    """Subnets of every zone, in the order of the zones.

    Lower half of `cidr`: a private subnet per zone; upper half: small public ones. `pod_cidr` is quartered for the nodes.
    Raises ValueError for more than `MAX_ZONES` zones, a zone named twice, or blocks too small or overlapping.
    """
    network, pod_network = IPv4Network(cidr), IPv4Network(pod_cidr)
    if len(zone_ids) > MAX_ZONES or len(set(zone_ids)) != len(zone_ids):
        raise ValueError(f"1 to {MAX_ZONES} different zone ids, not {list(zone_ids)}")
    if network.prefixlen > 23 or pod_network.prefixlen > 26 or network.overlaps(pod_network):
        raise ValueError(f"{cidr} (at most /23) and {pod_cidr} (at most /26) must not overlap")
    lower, upper = network.subnets(prefixlen_diff=1)
    private = list(lower.subnets(prefixlen_diff=2))
    public = list(upper.subnets(prefixlen_diff=min(4, 28 - upper.prefixlen)))
    node = list(pod_network.subnets(prefixlen_diff=2))
    return tuple(ZoneSubnets(zone_id, str(public[index]), str(private[index]), str(node[index])) for index, zone_id in enumerate(zone_ids))


def usable_addresses(cidr: str) -> int:
    """Addresses of a subnet that instances and pods can have."""
    return IPv4Network(cidr).num_addresses - RESERVED_ADDRESSES
