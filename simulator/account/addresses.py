"""How many addresses of a subnet are taken, and how many are left."""

from collections.abc import Hashable, Mapping

from facts.cidr import usable_addresses
from simulator.account import kinds, places, view
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.recording import Registration

_OF_NODES = "nodes of "


def of_group(state: AccountState, group: Registration) -> int:
    """Addresses that the nodes of a group take in each of its subnets, at most.

    The CNI fills each interface in use with addresses, and one more in advance (aws/amazon-vpc-cni-k8s README, WARM_ENI_TARGET); a group
    spreads over its subnets.
    """
    instance = view.instance_type_of(state, group)
    if instance is None:
        return view.desired_size(group)
    listed = view.listed(view.template_of(state, group).get("networkInterfaces"))
    serving = max(1, sum(1 for item in listed if item.get("interfaceType") != "efa-only"))
    warm = 1 if instance.interfaces_per_card > 1 else 0
    per_subnet = -(-view.desired_size(group) // max(1, len(group.inputs["subnetIds"])))
    return per_subnet * (serving + warm) * instance.ipv4_per_interface


def of_nodes(state: AccountState, subnet_id: str, *, beside: str = "") -> int:
    """Addresses of a subnet that nodes take; `beside`: id of a group that is left out."""
    return state.ledger(kinds.NODE_GROUP, _by_subnet, rests_on=(kinds.LAUNCH_TEMPLATE,)).total(subnet_id, beside=beside)


def _by_subnet(state: AccountState, existing: CloudObject) -> Mapping[Hashable, int]:
    group = existing.registration
    return {} if existing.status == "failed" else dict.fromkeys(group.inputs["subnetIds"], of_group(state, group))


def room(subnet: Registration) -> int:
    """Addresses of a subnet: those that were free when it was described, where others keep it; else all that AWS does not keep."""
    return int(subnet.outputs.get(places.FREE, usable_addresses(subnet.inputs["cidrBlock"])))


def free(state: AccountState, subnet: Registration) -> int:
    """Addresses that are left beside all nodes and other interfaces; never below zero."""
    others = sum(1 for item in view.interfaces(state.whole) if item.subnet_id == subnet.id and not item.what.startswith(_OF_NODES))
    return max(0, room(subnet) - of_nodes(state, subnet.id) - others)
