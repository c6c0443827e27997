"""IAM documents of the add-ons: within IAM's limits, within the cluster, in the region's partition."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from facts.iam import Document
from facts.policies import idle_guard, scaling, schedules, storage, watching

INLINE_LIMIT = 10_240
"""Characters of all inline policies of a role, white space apart (IAM quotas)."""
CHINA = "cn-north-1"


def documents(partition: str, region: str) -> dict[str, list[Document]]:
    """The documents of each role."""
    return {
        "cluster-autoscaler": [scaling.cluster_autoscaler_policy("demo")],
        "query": [watching.query_policy(f"arn:{partition}:aps:{region}:123456789012:workspace/ws-1")],
        "remote-write": [watching.remote_write_policy(f"arn:{partition}:aps:{region}:123456789012:workspace/ws-1")],
        "fluent-bit": [watching.log_shipper_policy(partition, region, "/aws/eks/demo/pods", "pod-logs")],
        "cloudwatch-agent": [watching.container_insights_policy(partition, region, "demo")],
        "efs-csi": [storage.efs_csi_policy(partition, region)],
        "mountpoint-s3": [storage.mountpoint_s3_policy(partition, ["corpus"], writable=True)],
        "idle-guard": [
            idle_guard.idle_guard_policy(partition, region, "demo", f"arn:{partition}:sns:{region}:*:demo-idle-guard", ["train"])
        ],
        "schedules": [schedules.schedule_policy(partition, region, "demo", ["train"])],
        "node-recovery": [watching.node_recovery_policy("demo")],
        "karpenter": list(scaling.karpenter_policies(partition, region, "demo", "demo-node", "demo-karpenter").values()),
    }


AWS = documents("aws", "us-west-2")


def statements(role: str) -> Iterator[dict[str, Any]]:
    """All statements of a role."""
    for document in AWS[role]:
        yield from document["Statement"]


def listed(value: Any) -> list[str]:
    """One or several, as a list."""
    return [value] if isinstance(value, str) else list(value)


@pytest.mark.parametrize("role", AWS)
def test_a_role_takes_all_its_documents(role: str):
    """IAM refuses the last of them, after the cluster has been made."""
    assert sum(len(re.sub(r"\s", "", json.dumps(document))) for document in AWS[role]) <= INLINE_LIMIT


@pytest.mark.parametrize("role", AWS)
def test_every_action_is_spelt_as_one(role: str):
    """A wildcard in an action gives what the next release of the service adds."""
    actions = [action for statement in statements(role) for action in listed(statement["Action"])]
    assert [action for action in actions if not re.fullmatch(r"[a-z0-9-]+:[A-Z][A-Za-z0-9]+", action)] == []


@pytest.mark.parametrize("role", AWS)
def test_what_changes_anything_is_bound_to_a_resource_or_a_condition(role: str):
    """Reads may look at everything; whatever makes, changes or ends may not."""
    reads = re.compile(r":(Describe|Get|List|BatchGet|Query)")
    free = [
        action
        for statement in statements(role)
        if statement["Resource"] == "*" and "Condition" not in statement
        for action in listed(statement["Action"])
        if not reads.search(action)
    ]
    assert free == []


def test_every_arn_is_of_the_regions_partition():
    """An ARN of another partition matches nothing, and everything is denied."""
    arns = re.findall(r"arn:[a-z-]+:", json.dumps(documents("aws-cn", CHINA)))
    assert arns
    assert set(arns) == {"arn:aws-cn:"}


def test_karpenter_ends_only_what_it_made_for_this_cluster():
    """The condition is all that keeps it from other clusters' instances."""
    (ending,) = [statement for statement in statements("karpenter") if "ec2:TerminateInstances" in listed(statement["Action"])]
    assert ending["Condition"] == {
        "StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/demo": "owned"},
        "StringLike": {"aws:ResourceTag/karpenter.sh/nodepool": "*"},
    }


def test_karpenter_passes_one_role_and_to_ec2_only():
    """Passing any role to any service would make it administrator."""
    (passing,) = [statement for statement in statements("karpenter") if statement["Action"] == "iam:PassRole"]
    assert passing["Resource"] == "arn:aws:iam::*:role/demo-node"
    assert passing["Condition"]["StringEquals"]["iam:PassedToService"] == ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]


def test_the_autoscaler_sizes_groups_of_its_own_cluster_only():
    """Upstream's example may resize every group of the account."""
    (sizing,) = [statement for statement in statements("cluster-autoscaler") if "autoscaling:SetDesiredCapacity" in statement["Action"]]
    assert sizing["Condition"] == {"StringEquals": {"autoscaling:ResourceTag/kubernetes.io/cluster/demo": "owned"}}


@pytest.mark.parametrize("role", ["idle-guard", "schedules"])
def test_what_sizes_groups_sizes_those_of_this_cluster_that_are_named(role: str):
    """Each node of another group, or of a colleague's cluster, may have a job on it."""
    (sizing,) = [statement for statement in statements(role) if "eks:UpdateNodegroupConfig" in listed(statement["Action"])]
    assert listed(sizing["Resource"]) == ["arn:aws:eks:us-west-2:*:nodegroup/demo/train/*"]


def test_a_guard_that_only_sends_messages_may_size_nothing():
    """With the action `message`, a mistake in its code costs no job."""
    topic = "arn:aws:sns:us-west-2:*:demo-idle-guard"
    (only,) = idle_guard.idle_guard_policy("aws", "us-west-2", "demo", topic, [])["Statement"]
    assert (only["Action"], only["Resource"]) == ("sns:Publish", topic)
