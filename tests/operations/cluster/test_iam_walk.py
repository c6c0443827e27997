"""The deployer's documents allow every call that making, reading, changing, tagging and deleting the recorded resources takes."""

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from facts.resources.queries import Deletion, Lookup, Tagging
from facts.resources.table import TYPES
from operations.aws.api import IAM_PREFIXES
from operations.cluster.iam.documents import deployer_permissions, documents, statements
from simulator.aws_requests import aws_requests
from simulator.recording import Recording, Registration
from tests.stacks.samples import SAMPLES, recorded

ACCOUNT, TAG = "123456789012", "trn:cluster"
ON_CLUSTER = {
    "eks:CreateNodegroup", "eks:CreateAddon", "eks:CreateAccessEntry", "eks:CreatePodIdentityAssociation",
    "eks:ListPodIdentityAssociations", "eks:DescribeCluster", "eks:AssociateEncryptionConfig",
}  # fmt: skip
"""Actions on parts of a cluster that IAM judges on the cluster (Service Authorization Reference, Amazon EKS)."""
PASSED_TO = {
    "aws:eks/cluster:Cluster": ("roleArn", "eks.amazonaws.com"),
    "aws:eks/nodeGroup:NodeGroup": ("nodeRoleArn", "ec2.amazonaws.com"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": ("roleArn", "pods.eks.amazonaws.com"),
}


@dataclass(frozen=True)
class Asked:
    """One call as IAM judges it."""

    action: str
    resource: str
    context: tuple[tuple[str, str], ...] = ()


def allows(found: list[dict[str, Any]], asked: Asked) -> bool:
    """IAM's evaluation of what the documents use: patterns, StringEquals, Null."""
    context = dict(asked.context)
    for statement in found:
        listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        if asked.action in statement["Action"] and any(fnmatch.fnmatchcase(asked.resource, one) for one in listed):
            condition: Mapping[str, Mapping[str, str]] = statement.get("Condition", {})
            assert condition.keys() <= {"StringEquals", "Null"}
            equal = all(context.get(key) == value for key, value in condition.get("StringEquals", {}).items())
            if equal and all(key in context for key in condition.get("Null", {})):
                return True
    return False


def arns(item: Registration, cluster: str, region: str) -> list[str]:
    """The resource as IAM names it; several where all of them are judged."""
    inputs, outputs = item.inputs, item.outputs
    base = f"arn:aws:{{}}:{region}:{ACCOUNT}:"
    match item.type.split(":")[1].split("/")[-1]:
        case "rolePolicy" | "rolePolicyAttachment":
            return [f"arn:aws:iam::{ACCOUNT}:role/{inputs['role']}"]
        case "queuePolicy":
            return [base.format("sqs") + inputs["queueUrl"].rsplit("/")[-1]]
        case "eventTarget":
            return [base.format("events") + f"rule/{inputs['rule']}"]
        case "logGroup":
            return [outputs["arn"], f"{outputs['arn']}:*"]
        case "accessPolicyAssociation":
            return [base.format("eks") + f"access-entry/{cluster}/role/{ACCOUNT}/team/1a2b"]
    return [next((outputs[key] for key in ("arn", "accessEntryArn", "associationArn") if key in outputs), base.format("x") + "thing/1")]


def operations(item: Registration) -> Iterator[tuple[str, str, bool]]:
    """Service, operation, and whether the resource is there already."""
    entry = TYPES[item.type]
    for request in aws_requests(item):
        # What follows the call that makes a resource finds it there.
        yield request.service, request.operation, request is not None and request.operation != aws_requests(item)[0].operation
    service = aws_requests(item)[0].service
    yield from ((service, name, True) for name in entry.changes.calls)
    if isinstance(entry.lookup, Lookup):
        yield entry.lookup.query.service, entry.lookup.query.operation, True
        if entry.lookup.detail:
            yield entry.lookup.detail.query.service, entry.lookup.detail.query.operation, True
    if isinstance(entry.tagging, Tagging):
        names = (entry.tagging.tag, entry.tagging.untag, *([entry.tagging.read] if entry.tagging.read else []))
        yield from ((entry.tagging.service, name, True) for name in names)
    if isinstance(entry.deletion, Deletion):
        # The steps before it are a sweep's own: in a destroy the parts are resources themselves.
        yield entry.deletion.service, entry.deletion.operation, True


def questions(item: Registration, cluster: str, region: str) -> Iterator[Asked]:
    """Every call of one resource."""
    for service, operation, exists in operations(item):
        action = f"{IAM_PREFIXES.get(service, service)}:{operation}"
        context = {"aws:RequestedRegion": region, f"aws:RequestTag/{TAG}": cluster}
        # What is made in EC2 upon something, such as a rule upon its group, is judged by the tags of that.
        upon = action.startswith(("ec2:Authorize", "ec2:Associate", "ec2:CreateRoute", "ec2:Attach")) and operation != "CreateRouteTable"
        if exists or upon:
            context |= {f"aws:ResourceTag/{TAG}": cluster}
        if action.startswith("autoscaling:"):
            context |= {"aws:ResourceTag/eks:cluster-name": cluster}
        found = [f"arn:aws:eks:{region}:{ACCOUNT}:cluster/{cluster}"] if action in ON_CLUSTER else arns(item, cluster, region)
        yield from (Asked(action, arn, tuple(sorted(context.items()))) for arn in found)
    if item.type in PASSED_TO:
        key, service = PASSED_TO[item.type]
        yield Asked("iam:PassRole", item.inputs[key], (("iam:PassedToService", service),))


def refused(recording: Recording, *, without: str = "") -> list[str]:
    """Calls that the documents do not allow, each with its resource; `without`: of a document that lacks the names with this text."""
    cluster = recording.of_type("aws:eks/cluster:Cluster")[0].inputs["name"]
    region = next(item.inputs["region"] for item in recording.registrations.values() if item.type == "pulumi:providers:aws")
    items = [item for item in recording.resources() if item.type.startswith("aws:")]
    known = [item for item in items if not without or without not in str(item.inputs.get("name", ""))]
    found = [
        statement for document in documents(statements(deployer_permissions(known), cluster, region)) for statement in document["Statement"]
    ]
    asked = {question for item in items for question in questions(item, cluster, region)}
    return sorted(f"{one.action} on {one.resource}" for one in asked if not allows(found, one))


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_call_of_a_stack_is_allowed(sample: str):
    """One that is not fails in the middle of `pulumi up`, or worse, of `pulumi destroy`."""
    assert refused(recorded(sample)) == []


@pytest.mark.parametrize("name", ["/pods", "-karpenter", "/performance"])
def test_a_name_that_the_documents_lack_is_named(name: str):
    """Scopes come from the recorded names: without one of them its calls are refused."""
    refusals = refused(recorded("everything" if name != "/performance" else "DRA in place of the plug-ins"), without=name)
    assert refusals
    assert all(name in line for line in refusals)


def test_a_neighbour_with_a_longer_name_is_not_reached():
    """The documents of one cluster name nothing of another whose name begins alike."""
    recording = recorded("everything")
    cluster = recording.of_type("aws:eks/cluster:Cluster")[0].inputs["name"]
    items = [item for item in recording.resources() if item.type.startswith("aws:")]
    found = statements(deployer_permissions(items), cluster, "us-west-2")
    for arn in (
        f"arn:aws:logs:us-west-2:{ACCOUNT}:log-group:/aws/eks/{cluster}-2/pods:*", f"arn:aws:sqs:us-west-2:{ACCOUNT}:{cluster}-2-karpenter",
        f"arn:aws:iam::{ACCOUNT}:role/{cluster}-2-us-west-2-node", f"arn:aws:events:us-west-2:{ACCOUNT}:rule/{cluster}-2-karpenter-health",
    ):  # fmt: skip
        for action in ("logs:DeleteLogGroup", "sqs:DeleteQueue", "iam:DeleteRole", "events:DeleteRule"):
            assert not allows(found, Asked(action, arn, (("aws:RequestedRegion", "us-west-2"),)))
