"""The deployer's documents allow every call that making, reading, changing, tagging and deleting the recorded resources takes."""

import fnmatch
from collections.abc import Mapping
from typing import Any

import pytest

from facts.names import CLUSTER_TAG
from simulator.outputs import ACCOUNT
from simulator.recording import Recording
from tests.stacks.samples import SAMPLES, recorded
from trn.before.iam.calls import Asked, alike, calls
from trn.before.iam.documents import deployer_permissions, documents, statements


def allows(found: list[dict[str, Any]], asked: Asked) -> bool:
    """IAM's evaluation of what the documents use: patterns, StringEquals, Bool, Null."""
    context = dict(asked.context)
    for statement in found:
        listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        if asked.action in statement["Action"] and any(fnmatch.fnmatchcase(asked.resource, one) for one in listed):
            condition: Mapping[str, Mapping[str, str]] = statement.get("Condition", {})
            assert condition.keys() <= {"StringEquals", "Bool", "Null"}
            wanted = {**condition.get("StringEquals", {}), **condition.get("Bool", {})}
            if all(context.get(key) == value for key, value in wanted.items()) and all(key in context for key in condition.get("Null", {})):
                return True
    return False


def names_of(recording: Recording) -> tuple[str, str]:
    """Cluster and region."""
    region = next(item.inputs["region"] for item in recording.registrations.values() if item.type == "pulumi:providers:aws")
    return recording.of_type("aws:eks/cluster:Cluster")[0].inputs["name"], region


def asked_of(sample: str) -> list[Asked]:
    """Every call of a sample."""
    return calls(recorded(sample), *names_of(recorded(sample)), ACCOUNT)


def refused(recording: Recording, *, without: str = "") -> list[str]:
    """Calls that the documents do not allow, each with its resource; `without`: of a document that lacks the names with this text."""
    cluster, region = names_of(recording)
    items = [item for item in recording.resources() if item.type.startswith("aws:")]
    known = [item for item in items if not without or without not in str(item.inputs.get("name", ""))]
    (path,) = {item.inputs.get("path") or "/" for item in recording.of_type("aws:iam/role:Role")}
    made = statements(deployer_permissions(known), cluster, region, path)
    found = [statement for document in documents(made) for statement in document["Statement"]]
    return sorted({f"{one.action} on {one.resource}" for one in calls(recording, cluster, region, ACCOUNT) if not allows(found, one)})


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


def contexts(asked: list[Asked], action: str, kind: str) -> set[tuple[bool, bool]]:
    """Whether the request's and the resource's tags are known, in all calls of an action on a kind of resource."""
    found = [{key.split("/")[0] for key, _ in one.context} for one in asked if one.action == action and f":{kind}/" in one.resource]
    return {("aws:RequestTag" in keys, "aws:ResourceTag" in keys) for keys in found}


@pytest.mark.parametrize("action", ["EnableKeyRotation", "DescribeKey", "CreateAlias", "CreateGrant"])
def test_a_new_key_is_used_before_its_tag_is_known(action: str):
    """KMS judges by tags that are up to five minutes old."""
    asked = [one for one in asked_of("shipped") if one.action == f"kms:{action}"]
    assert (False, False) in contexts(asked, f"kms:{action}", "key")


def test_keys_are_changed_by_their_tag_and_granted_to_services_only():
    """What a new key needs at once is not narrowed by its tag; nothing that harms a key is among it."""
    recording = recorded("shipped")
    found = statements(deployer_permissions(recording.resources()), *names_of(recording))
    key, region = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/1", (("aws:RequestedRegion", "us-west-2"),)
    for action in ("CreateGrant", "PutKeyPolicy", "ScheduleKeyDeletion", "DisableKeyRotation", "TagResource"):
        assert not allows(found, Asked(f"kms:{action}", key, region)), action
    assert allows(found, Asked("kms:CreateGrant", key, (*region, ("kms:GrantIsForAWSResource", "true"))))


def test_every_call_of_every_kind_is_walked():
    """A walk that leaves out a service or an operation would find nothing wrong with it."""
    asked = {one.action for sample in SAMPLES for one in asked_of(sample)}
    assert {one.split(":")[0] for one in asked} >= {
        "ec2",
        "eks",
        "kms",
        "iam",
        "fsx",
        "logs",
        "sqs",
        "events",
        "batch",
        "aps",
        "autoscaling",
        "budgets",
        "sns",
    }
    for verb in ("Create", "Describe", "Modify", "Tag", "Untag", "Delete", "Authorize", "Revoke", "Pass"):
        assert any(one.split(":")[1].startswith(verb) for one in asked), verb


def test_resources_that_differ_in_their_id_alone_are_asked_about_once():
    """IAM's simulator takes few requests a second; names, kinds and tags are what an answer may depend on."""
    asked = asked_of("everything")
    few = alike(asked)
    assert len(few) < len(asked)
    assert {one.action for one in few} == {one.action for one in asked}
    named = {one.resource for one in asked if one.resource.split(":")[2:3] in (["iam"], ["logs"], ["sqs"], ["events"], ["eks"])}
    assert named <= {one.resource for one in few}


def test_the_tag_of_the_cluster_is_on_all_that_is_made():
    """The scopes rest on it."""
    cluster = names_of(recorded("shipped"))[0]
    made = [one for one in asked_of("shipped") if one.action == "ec2:CreateTags"]
    assert made
    assert all(dict(one.context)[f"aws:RequestTag/{CLUSTER_TAG}"] == cluster for one in made)
