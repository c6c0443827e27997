"""Ways out of a network that others keep: where the default route of a subnet leads. Pure.

Sources: VPC user guide, route tables and NAT gateways; EC2 user guide, using-eni; read 2026-11.
"""

from facts.external.asked import AskedOfNetwork
from facts.external.network import NetworkDescription

_OTHER_WAYS = ("tgw-", "vgw-", "eni-", "vpce-", "pcx-", "lgw-", "cagw-", "arn:", "i-")
"""Targets of a default route whose further way the VPC does not show: a transit gateway, a firewall, an instance."""


def has_way_out(network: NetworkDescription, subnet_id: str) -> bool:
    """Whether the subnet's default route leads out of the VPC. What is beyond a transit gateway or a firewall counts as a way out."""
    route = network.default_route(subnet_id)
    if route is None or not route.active:
        return False
    if route.target.startswith("nat-"):
        return not _nat_state(network, route.target)
    return route.target.startswith(("igw-", *_OTHER_WAYS))


def has_internet_gateway(network: NetworkDescription, subnet_id: str) -> bool:
    """Whether the subnet is public: its default route leads to an internet gateway that is there."""
    route = network.default_route(subnet_id)
    return route is not None and route.active and route.target.startswith("igw-")


def is_known_to_reach_the_internet(network: NetworkDescription, target: str) -> bool:
    """Whether what a default route leads to is seen to have the internet behind it."""
    gateway = network.nat_gateways.get(target)
    return target.startswith("igw-") or (gateway is not None and gateway.public)


def dead_end(network: NetworkDescription, asked: AskedOfNetwork, subnet_id: str) -> str:
    """Why what takes the default route of a subnet gets nowhere; empty where it does, or there is none."""
    route = network.default_route(subnet_id)
    if route is None:
        return ""
    if not route.active:
        return f"the default route leads to {route.target}, which is gone"
    if route.target.startswith("igw-"):
        return _public(network, asked, subnet_id)
    return _nat_dead_end(network, route.target) if route.target.startswith("nat-") else ""


def _public(network: NetworkDescription, asked: AskedOfNetwork, subnet_id: str) -> str:
    if subnet_id in asked.several_interfaces:
        return "the default route leads to an internet gateway, and nodes with several network interfaces get no public address"
    if not network.subnets[subnet_id].public_addresses:
        return "the default route leads to an internet gateway, and nodes get no public address"
    return ""


def _nat_dead_end(network: NetworkDescription, target: str) -> str:
    state, gateway = _nat_state(network, target), network.nat_gateways.get(target)
    if state:
        return f"the default route leads to {target}, which is {state}"
    if gateway is None or not gateway.public or gateway.subnet not in network.subnets:
        return ""
    out = network.default_route(gateway.subnet)
    if out is None or not out.active or not out.target.startswith(("igw-", *_OTHER_WAYS)):
        return f"the default route leads to {target}, and its subnet {gateway.subnet} has no route to an internet gateway"
    return ""


def _nat_state(network: NetworkDescription, target: str) -> str:
    """What is wrong with a NAT gateway; empty where nothing is, or where its owner does not show it to a participant."""
    gateway = network.nat_gateways.get(target)
    if gateway is not None:
        return "" if gateway.state == "available" else gateway.state
    return "" if network.owner else "not in the VPC"
