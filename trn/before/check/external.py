"""Checks of what others keep: whether the stack can come up with it."""

from collections.abc import Iterator

from facts.external import judge, judge_file_system, workspace
from facts.names import CLUSTER_TAG, STACK_TAG
from facts.permanent import given_away
from facts.problems import Problem
from facts.regions import partition
from facts.typed import typed
from stacks.external import asked_of_file_system, asked_of_network, asked_of_workspace, log_bucket
from trn.aws.api import tags_of
from trn.aws.eks import described
from trn.aws.external_network import described_network
from trn.aws.external_services import bucket_region, described_file_system, described_workspace, file_system_entry
from trn.before.check.subject import Subject
from trn.before.check.surroundings import state_ids
from trn.cli.findings import Finding, failed, passed, warned
from trn.engine.external_reading import no_workspace

NETWORK, FILE_SYSTEM, WORKSPACE, BUCKET = "existing network", "existing file system", "existing workspace", "existing bucket"
_BUCKET_KEY = "`addons.fluentBit.s3Bucket`"


def network(subject: Subject) -> Iterator[Finding]:
    """Routes, endpoints, names, addresses and tags of the VPC that the stack uses; nothing where it makes its own."""
    if subject.settings.network.existing is None:
        return
    asked = asked_of_network(subject.settings, is_up=described(subject.api, subject.cluster) is not None)
    assert asked is not None
    found = described_network(subject.api, asked.vpc_id)
    if found is None:
        hint = "`network.existing.vpcId`: `aws ec2 describe-vpcs` lists those of the region"
        yield failed(NETWORK, f"there is no VPC {asked.vpc_id} in {subject.region}", hint)
        return
    problems = judge.problems(found, asked)
    yield from _failures(NETWORK, problems)
    for note in judge.notes(found, asked):
        what, _, do = note.partition(": ")
        yield warned(NETWORK, what if do else note, do or "see docs/existing.md")
    if not problems:
        yield passed(
            NETWORK, f"{asked.vpc_id} has what the stack needs: ways out, names, and free addresses in {len(asked.addresses)} subnets"
        )


def file_system(subject: Subject) -> Iterator[Finding]:
    """State, names, version, routes and ports of the file system that the stack mounts; nothing where it makes its own."""
    asked = asked_of_file_system(subject.settings)
    if asked is None:
        return
    found = described_file_system(subject.api, asked.id, asked.client_group)
    if found is None:
        hint = f"`{judge_file_system.PATH}.fileSystemId`: `aws fsx describe-file-systems` lists those of the region"
        yield failed(FILE_SYSTEM, f"there is no file system {asked.id} in {subject.region}", hint)
        return
    if _is_own(subject, asked.id):
        part = given_away(asked.id)
        yield failed(FILE_SYSTEM, part.wrong, f"{part.fix}; {part.otherwise}")
        return
    problems = judge_file_system.problems(found, described_network(subject.api, asked.vpc_id), asked)
    yield from _failures(FILE_SYSTEM, problems)
    for note in judge_file_system.notes(found, asked):
        yield warned(FILE_SYSTEM, note, "see docs/existing.md")
    if not problems:
        yield passed(FILE_SYSTEM, f"{asked.id} is {found.state}, and lets in the nodes of {len(asked.nodes)} subnets")


def _is_own(subject: Subject, file_system_id: str) -> bool:
    """Whether the stack made it: its state holds it, or no state is known and it has the stack's tags. One that was given away keeps these."""
    held = state_ids(subject)
    if held is not None:
        return file_system_id in held
    tags, stack = tags_of(file_system_entry(subject.api, file_system_id) or {}), subject.stack_file
    is_of_stack = tags.get(STACK_TAG, "").split("/")[1:] == [stack.project, stack.stack]
    return tags.get(CLUSTER_TAG) == subject.cluster and is_of_stack


def metrics_workspace(subject: Subject) -> Iterator[Finding]:
    """The workspace of Amazon Managed Prometheus that others keep; nothing where the stack makes its own."""
    asked = asked_of_workspace(subject.settings)
    if asked is None:
        return
    found = described_workspace(subject.api, asked.arn)
    if found is None:
        yield failed(
            WORKSPACE, no_workspace(asked.arn), f"`{workspace.PATH}`: `aws amp list-workspaces` lists those of the caller's account"
        )
        return
    problems = list(workspace.problems(found, asked))
    yield from _failures(WORKSPACE, problems)
    if not problems:
        yield passed(WORKSPACE, f"{asked.id} is {found.state}")


def bucket(subject: Subject) -> Iterator[Finding]:
    """The bucket that Fluent Bit writes to is there, and in the stack's region, which is all that its output asks; nothing where none is named."""
    name = log_bucket(subject.settings)
    if name is None:
        return
    place = bucket_region(subject.api, name)
    if place == "absent":
        where = f"there is no bucket {name} in partition {partition(subject.region)}"
        yield failed(BUCKET, where, f"{_BUCKET_KEY}: `aws s3 ls` lists those of the account; one of another partition cannot be used")
    elif place == "denied":
        what = f"could not check: the caller may not ask where bucket {name} is"
        yield failed(
            BUCKET,
            what,
            f"{_BUCKET_KEY}: its owner allows s3:GetBucketLocation in the bucket's policy, and `{typed('trn iam')}` prints the right",
        )
    elif place != subject.region:
        hint = f"{_BUCKET_KEY}: name one in {subject.region}; Fluent Bit asks this region's endpoint"
        yield failed(BUCKET, f"bucket {name} is in {place}, the stack in {subject.region}", hint)
    else:
        yield passed(BUCKET, f"{name} is in {place}; whether its policy lets Fluent Bit write is not asked")


def _failures(name: str, problems: list[Problem]) -> Iterator[Finding]:
    for problem in problems:
        yield failed(name, f"{problem.wrong}: {problem.value}", f"`{problem.path}`: {problem.hint}")
