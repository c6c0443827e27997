"""Small Pulumi programs for tests of the recorder and the scheduler, and recordings made by hand."""

from collections.abc import Callable, Iterable
from typing import Any

import pulumi
import pulumi_aws as aws

from simulator.recorder.recorder import record
from simulator.recording import Recording, Registration

PARENT = "urn:pulumi:test::trn::pulumi:pulumi:Stack::trn-test"


def run(program: Callable[[], None], *, preview: bool = False, seed: int = 0) -> Recording:
    """Record a program without configuration."""
    return record(program, project="trn", stack="test", configuration={}, preview=preview, seed=seed)


def provider() -> aws.Provider:
    """An explicit provider, as the recorder demands."""
    return aws.Provider("aws", region="us-west-2")


def vpc_with_subnet() -> None:
    """Two resources, one of which needs the other."""
    options = pulumi.ResourceOptions(provider=provider())
    vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=options)
    subnet = aws.ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block="10.0.0.0/24", availability_zone_id="usw2-az1", opts=options)
    pulumi.export("subnet", subnet.id)


def by_hand(*items: tuple[str, str, Iterable[str]]) -> Recording:
    """A recording of (name, type, names it depends on), all custom and below the stack, with inputs that no rule minds."""
    recording = Recording("trn", "test")
    recording.registrations[PARENT] = Registration(PARENT, "pulumi:pulumi:Stack", "trn-test", False, False, "", {})
    for index, (name, resource_type, needs) in enumerate(items):
        urn = urn_of(name)
        dependencies = frozenset(urn_of(need) for need in needs)
        inputs = _harmless(resource_type, index, name)
        recording.registrations[urn] = Registration(urn, resource_type, name, True, False, PARENT, inputs, dependencies, id=name)
    return recording


def _harmless(resource_type: str, index: int, name: str) -> dict[str, Any]:
    return {
        "Vpc": {"cidrBlock": "10.0.0.0/16", "tags": {"Name": name}},
        "Subnet": {"vpcId": "vpc", "cidrBlock": f"10.0.{index}.0/24", "availabilityZoneId": "usw2-az1"},
        "NatGateway": {"subnetId": "subnet", "allocationId": f"eipalloc-{name}"},
        "LustreFileSystem": {"subnetIds": ["subnet"], "storageCapacity": 1200},
    }.get(resource_type.rsplit(":", 1)[-1], {})


def urn_of(name: str) -> str:
    """URN of a hand-made registration."""
    return f"urn:pulumi:test::trn::x::{name}"
