"""Addresses of the pods' network: a range that EKS clusters use for pods, so that the API server takes them as endpoints.

Loopback addresses would be simpler, but an EndpointSlice with one is refused (`may not be in the loopback range`,
kubernetes/kubernetes:pkg/apis/core/validation/validation.go, ValidateNonSpecialIP), and so no service would have an endpoint.
"""

from collections.abc import Collection
from ipaddress import IPv4Address, ip_network

NETWORK = ip_network("100.64.0.0/16")
GATEWAY = str(NETWORK.network_address + 1)


class NoAddress(Exception):
    """Every address of the network is taken."""


def next_address(last: str | None, taken: Collection[str]) -> str:
    """The address after the one given last, so that one is not given again soon; it is never in use. Raises NoAddress."""
    first, end = int(NETWORK.network_address) + 2, int(NETWORK.broadcast_address)
    start = int(IPv4Address(last)) + 1 if last else first
    for number in [*range(start, end), *range(first, start)]:
        if (address := str(IPv4Address(number))) not in taken:
            return address
    raise NoAddress(f"all addresses of {NETWORK} are taken")
