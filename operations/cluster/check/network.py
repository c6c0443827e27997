"""Check of a network that others keep: whether the stack can come up in it."""

from collections.abc import Iterator

from facts.existing import judge
from operations.aws.control_plane import described
from operations.aws.existing_network import described_network
from operations.cluster.check.subject import Subject
from operations.findings import Finding, failed, passed, warned
from stacks.existing import asked_of_network

NAME = "existing network"


def existing(subject: Subject) -> Iterator[Finding]:
    """Routes, endpoints, names, addresses and tags of the VPC that the stack uses; nothing where it makes its own."""
    if subject.settings.network.existing is None:
        return
    asked = asked_of_network(subject.settings, is_up=described(subject.api, subject.cluster) is not None)
    assert asked is not None
    network = described_network(subject.api, asked.vpc_id)
    if network is None:
        hint = "`network.existing.vpcId`: `aws ec2 describe-vpcs` lists those of the region"
        yield failed(NAME, f"there is no VPC {asked.vpc_id} in {subject.region}", hint)
        return
    found = judge.problems(network, asked)
    for problem in found:
        yield failed(NAME, f"{problem.wrong}: {problem.value}", f"`{problem.path}`: {problem.hint}")
    for note in judge.notes(network, asked):
        what, _, do = note.partition(": ")
        yield warned(NAME, what if do else note, do or "see docs/existing.md")
    if not found:
        yield passed(
            NAME, f"{asked.vpc_id} has what the stack needs: ways out, names, and free addresses in {len(asked.addresses)} subnets"
        )
