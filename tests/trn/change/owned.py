"""A stack that owns a cluster: what `pulumi stack export` prints of it, and a Pulumi that answers with that."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from facts.names import LOCK_TAG, cluster_tags, lock_name
from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, STACK, Cloud, tag_list
from tests.trn.given import Given
from trn.aws.lock import Holder
from trn.aws.network import cluster_vpcs
from trn.aws.owner_tags import Owner
from trn.change.ownership import StackCluster

REGION = "us-west-2"
ROOT_URN = "urn:pulumi:dev::trn::pulumi:pulumi:Stack::trn-dev"
_TIMES = {"created": CREATED_AT, "modified": CREATED_AT}
NO_SUCH_STACK = "error: no stack named 'dev' found"


def subject(cluster: str) -> StackCluster:
    """The cluster of the shipped project's stack dev."""
    return StackCluster("trn", "dev", cluster)


def resource(kind: str, which: str, outputs: Mapping[str, Any], *, stack: str = "dev", project: str = "trn") -> dict[str, Any]:
    """One resource of a state."""
    urn = f"urn:pulumi:{stack}::{project}::{kind}::{which}"
    return {"urn": urn, "type": kind, "custom": True, "id": which, "outputs": dict(outputs), **_TIMES}


def cluster_arn(cluster: str, *, account: str = ACCOUNT, region: str = REGION) -> str:
    """The ARN that EKS gives."""
    return f"arn:aws:eks:{region}:{account}:cluster/{cluster}"


def state(
    cluster: str, *more: str, vpc: str = "vpc-a", stack: str = STACK, arn: str = "", created_at: str = CREATED_AT,
    with_cluster: bool = True, pending: str = "", saved: str = "2026-01-01T01:00:00Z", salt: str = "v1:722q",
) -> dict[str, Any]:  # fmt: skip
    """The export of a stack with a VPC and, unless told otherwise, its cluster. `more`: ids of other things; `pending`: a type;
    `saved`: when it was written; `salt`: of the stack's secrets."""
    tags = cluster_tags(cluster, stack) if stack else {"trn:cluster": cluster}
    _, project, name = (stack or STACK).split("/")
    made = [
        resource("aws:ec2/vpc:Vpc", vpc, {"arn": f"arn:aws:ec2:{REGION}:{ACCOUNT}:vpc/{vpc}", "tagsAll": tags}, stack=name, project=project)
    ]
    if with_cluster:
        outputs = {"arn": arn or cluster_arn(cluster), "createdAt": created_at, "name": cluster, "tagsAll": tags}
        made.append(resource("aws:eks/cluster:Cluster", cluster, outputs, stack=name, project=project))
    made += [resource("aws:ec2/other:Other", which, {}, stack=name, project=project) for which in more]
    under_way = [{"resource": {"urn": f"urn:pulumi:{name}::{project}::{pending}::x", "type": pending, "inputs": {}}, "type": "creating"}]
    urn = f"urn:pulumi:{name}::{project}::pulumi:pulumi:Stack::{project}-{name}"
    root = {"urn": urn, "type": "pulumi:pulumi:Stack", "custom": False, **_TIMES}
    whose = {
        "manifest": {"time": saved, "magic": "", "version": ""},
        "secrets_providers": {"type": "passphrase", "state": {"salt": salt}},
    }
    return {"version": 3, "deployment": {**whose, "resources": [root, *made], "pending_operations": under_way if pending else []}}


EMPTY: dict[str, Any] = {"version": 3, "deployment": {"manifest": {}, "metadata": {}}}
"""What the CLI prints of a stack in which nothing was ever made, or nothing is left (CLI 3.260)."""


class FakePulumi:
    """Holds one stack, or none; keeps what it was asked to do."""

    def __init__(self, export: dict[str, Any] | None, run: Callable[[tuple[str, ...]], tuple[int, str]] | None = None) -> None:
        self.export, self.ran = export, list[tuple[str, ...]]()
        self.on_run = run or (lambda command: (0, ""))
        self.locked = False

    def run(self, command: tuple[str, ...], environment: Mapping[str, str], /) -> tuple[int, str]:
        """Do it."""
        self.ran.append(command)
        return self.on_run(command)

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """Answer."""
        if self.export is None:
            return 255, NO_SUCH_STACK
        if command[1] == "refresh":
            return (255, "error: the stack is currently locked by 1 lock(s)") if self.locked else (0, "")
        if command[1] == "preview":
            return 0, '{"steps": []}'
        return 0, json.dumps(self.export)


def locks_of(cloud: Cloud) -> set[str]:
    """Ids of the locks in the account."""
    return set(locks_among(cloud.of("template")))


def locks_among(templates: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The launch templates that are locks."""
    return {which: entry for which, entry in templates.items() if entry["LaunchTemplateName"].startswith(lock_name(""))}


def break_locks(templates: dict[str, dict[str, Any]]) -> None:
    """Another run takes every lock."""
    for which, entry in locks_among(templates).items():
        del templates[which]
        templates[f"{which}-another"] = {**entry, "LaunchTemplateId": f"{which}-another", "CreatedBy": "another"}


def put_lock(cloud: Cloud, cluster: str, holder: Holder) -> str:
    """Another run holds the cluster: the id of its lock."""
    which, entry = lock_entry(cluster, holder)
    cloud.put("template", which, entry)
    return which


def lock_entry(cluster: str, holder: Holder) -> tuple[str, dict[str, Any]]:
    """The id of a run's lock, and what the account has of it."""
    which = f"lt-{holder.token}"
    entry = {"LaunchTemplateId": which, "LaunchTemplateName": lock_name(cluster), "CreateTime": holder.since, "CreatedBy": holder.who}
    return which, {**entry, "Tags": tag_list({LOCK_TAG: cluster, **holder.tags})}


def owner_of(cloud: Cloud, cluster: str, stack: str = STACK) -> Owner:
    """The cluster as its stack owns it, with the VPCs that carry its tag."""
    return Owner(cluster, ACCOUNT, REGION, stack, frozenset(cluster_vpcs(cloud.api, cluster)))


def standing_resources(cloud: Cloud) -> list[dict[str, Any]]:
    """Everything of the program that is in the account, as a state holds it."""
    return [
        {
            "urn": item.registration.urn,
            "type": item.registration.type,
            "id": item.registration.id,
            "outputs": dict(item.registration.outputs),
        }
        for item in cloud.world.state
    ]


def stack_of(cluster: str, cloud: Cloud | None = None) -> FakePulumi:
    """A stack that holds the cluster: that of a standing `cloud`, else the one of `leftovers`."""
    return FakePulumi({"version": 3, "deployment": {"resources": standing_resources(cloud)}} if cloud else state(cluster))


def hold(given: Given, cluster: str, cloud: Cloud | None = None) -> FakePulumi:
    """The stack dev holds the cluster, wherever a command asks Pulumi."""
    made = stack_of(cluster, cloud)
    given.engine = made
    return made
