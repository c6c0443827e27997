"""What a scenario sets, in words, and whether the stack can meet it: a limit on what the stack never asks for would rehearse fair weather."""

import difflib
from collections.abc import Iterator, Mapping

from simulator.account import kinds
from simulator.account.allowances import Allowances
from simulator.faults_syntax import FaultSyntaxError
from simulator.recording import Recording, Registration


def words(name: str, says: str, allowances: Allowances, faults: list[str]) -> list[str]:
    """One line for the scenario, and one for each kind of thing that it sets."""
    quotas = [
        *(f"{family} {limit} vCPU" for family, limit in allowances.vcpu_quotas.items()),
        *(f"{family} {limit} vCPU of spot" for family, limit in allowances.spot_vcpu_quotas.items()),
    ]
    free = [f"{count} x {instance_type} free in {zone}" for (instance_type, zone), count in allowances.capacity.items()]
    parts = (("quotas", quotas), ("capacity", free), ("faults", faults))
    return [f"{name}: {says}", *(f"{what}: {', '.join(found)}" for what, found in parts if found)]


def need_requests(capacity: Mapping[tuple[str, str], int], recording: Recording) -> None:
    """Raises FaultSyntaxError for capacity of a type in a zone in which no group or pool of the stack asks for it."""
    asked = sorted(set(_asked(recording)))
    for instance_type, zone in capacity:
        if (instance_type, zone) in asked:
            continue
        shown = [f"{each} in {place}" for each, place in asked]
        near = difflib.get_close_matches(f"{instance_type} in {zone}", shown, n=3) or shown[:3]
        raise FaultSyntaxError(
            f"the scenario limits {instance_type} in {zone}, and nothing of this stack asks for it there",
            f"the stack asks for {', '.join(near)}" if near else "the stack asks for no Neuron instance",
        )


def _asked(recording: Recording) -> Iterator[tuple[str, str]]:
    """Instance type and zone of everything that asks EC2 for instances."""
    zones = {item.id: str(item.inputs["availabilityZoneId"]) for item in recording.of_type(kinds.SUBNET)}
    for group in recording.of_type(kinds.NODE_GROUP):
        for subnet in group.inputs["subnetIds"]:
            yield _type_of(recording, group), zones[subnet]
    for pool in recording.of_type(kinds.NODE_POOL):
        wanted = {item["key"]: item["values"] for item in pool.inputs["spec"]["template"]["spec"]["requirements"]}
        for instance_type in wanted.get("node.kubernetes.io/instance-type", ()):
            yield instance_type, wanted["topology.k8s.aws/zone-id"][0]


def _type_of(recording: Recording, group: Registration) -> str:
    """A group from a capacity block has its type in the launch template."""
    if group.inputs.get("instanceTypes"):
        return str(group.inputs["instanceTypes"][0])
    template_id = group.inputs["launchTemplate"]["id"]
    return next(str(item.inputs["instanceType"]) for item in recording.of_type(kinds.LAUNCH_TEMPLATE) if item.id == template_id)
