"""What a scenario sets, in words, and whether the stack can meet it: a limit on what the stack never asks for would rehearse fair weather."""

import difflib
from collections.abc import Iterator, Mapping

from simulator.account import kinds, places
from simulator.account.allowances import Allowances
from simulator.account.state import AccountState
from simulator.faults_syntax import FaultSyntaxError
from simulator.recording import Recording


def words(name: str, says: str, allowances: Allowances, faults: list[str]) -> list[str]:
    """One line for the scenario, and one for each kind of thing that it sets."""
    quotas = [
        *(f"{family} {limit} vCPU" for family, limit in allowances.vcpu_quotas.items()),
        *(f"{family} {limit} vCPU of spot" for family, limit in allowances.spot_vcpu_quotas.items()),
    ]
    free = [f"{count} x {instance_type} free in {zone}" for (instance_type, zone), count in allowances.capacity.items()]
    parts = (("quotas", quotas), ("capacity", free), ("faults", faults))
    return [f"{name}: {says}", *(f"{what}: {', '.join(found)}" for what, found in parts if found)]


def need_requests(capacity: Mapping[tuple[str, str], int], recording: Recording, before: AccountState) -> None:
    """Raises FaultSyntaxError for capacity of a type in a zone in which no group or pool of the stack asks for it.

    `before`: the account before the stack, with the subnets of a network that others keep.
    """
    asked = sorted(set(_asked(recording, before)))
    for instance_type, zone in capacity:
        if (instance_type, zone) in asked:
            continue
        shown = [f"{each} in {place}" for each, place in asked]
        near = difflib.get_close_matches(f"{instance_type} in {zone}", shown, n=3) or shown[:3]
        raise FaultSyntaxError(
            f"the scenario limits {instance_type} in {zone}, and nothing of this stack asks for it there",
            f"the stack asks for {', '.join(near)}" if near else "the stack asks for no Neuron instance",
        )


def _asked(recording: Recording, before: AccountState) -> Iterator[tuple[str, str]]:
    """Instance type and zone of everything that asks EC2 for instances that are free: a reservation, or a block, has its own."""
    made = {item.id: item for item in recording.of_type(kinds.SUBNET)}
    templates = {item.id: item.inputs for item in recording.of_type(kinds.LAUNCH_TEMPLATE)}
    for group in recording.of_type(kinds.NODE_GROUP):
        template = templates.get(group.inputs["launchTemplate"]["id"], {})
        if template.get("capacityReservationSpecification") or group.inputs.get("capacityType") == "CAPACITY_BLOCK":
            continue
        for subnet_id in group.inputs["subnetIds"]:
            subnet = made.get(subnet_id) or places.subnet(before, subnet_id)
            if subnet is not None:
                yield str(group.inputs["instanceTypes"][0]), str(subnet.inputs["availabilityZoneId"])
    for pool in recording.of_type(kinds.NODE_POOL):
        wanted = {item["key"]: item["values"] for item in pool.inputs["spec"]["template"]["spec"]["requirements"]}
        if wanted.get("karpenter.sh/capacity-type") == ["reserved"]:
            continue
        for instance_type in wanted.get("node.kubernetes.io/instance-type", ()):
            yield instance_type, wanted["topology.k8s.aws/zone-id"][0]
