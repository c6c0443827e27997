"""What a stack asks of a network that it is put into, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from facts.external.subnet_tags import SubnetTag

CONTROL_PLANE_ADDRESSES = 16
"""Free addresses that EKS recommends in each subnet of a control plane; an update refuses below 5 or 6 (EKS user guide, network-reqs)."""

LOAD_BALANCER_ADDRESSES = 8
"""Free addresses that a load balancer asks of each of its subnets (ELB user guide, application load balancers, subnets)."""


@dataclass(frozen=True)
class AskedOfNetwork:
    """Subnets by zone id, services, and addresses."""

    region: str
    vpc_id: str
    control_plane: Mapping[str, str]
    """Subnet by zone id."""
    nodes: Mapping[str, str]
    load_balancers: Mapping[str, str] = field(default_factory=dict)
    internal_load_balancers: Mapping[str, str] = field(default_factory=dict)
    is_isolated: bool = False
    """Whether the configuration says that nothing leads to the internet."""
    services: Mapping[str, str] = field(default_factory=dict)
    """Services that nodes and pods call, by the names of their endpoints, to who calls them."""
    addresses: Mapping[str, int] = field(default_factory=dict)
    """Addresses that the stack takes at its largest, by subnet."""
    several_interfaces: frozenset[str] = frozenset()
    """Subnets with nodes of more than one network interface, which get no public address."""
    tags: tuple[SubnetTag, ...] = ()
    """Tags that controllers look for on the subnets."""
    sets_tags: bool = False
    """Whether the stack puts these tags on."""
    is_up: bool = False
    """Whether the cluster is there already: its addresses are taken and its tags set."""

    def places(self) -> list[tuple[str, str, str]]:
        """(Key path, zone id, subnet) of each subnet that the configuration names."""
        roles = {
            "controlPlane": self.control_plane,
            "nodes": self.nodes,
            "loadBalancers": self.load_balancers,
            "internalLoadBalancers": self.internal_load_balancers,
        }
        found = [
            (f"network.existing.{role}.{zone_id}", zone_id, subnet)
            for role, by_zone in roles.items()
            for zone_id, subnet in by_zone.items()
        ]
        # Without a section of its own the control plane has the nodes' subnets, under the nodes' keys.
        return found if self.control_plane != self.nodes else [place for place in found if ".controlPlane." not in place[0]]
