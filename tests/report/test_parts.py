"""Which part of the cluster a resource belongs to: by its type, and where that serves others, by what uses it."""

import pytest

from report.parts import PARTS, Linked, linked, part_of_type, parts_of
from tests.report.builders import CLUSTER, NODE_GROUP, VPC
from tests.support import ROOT
from trn.engine.program import record_stack
from trn.engine.stack_file import read_stack_file

ROLE, POLICY, GROUP, RULE = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy", "aws:ec2/securityGroup:SecurityGroup", "aws:vpc/x:Rule"


def item(name: str, kind: str, *depends_on: str, parent: str = "") -> Linked:
    """A resource whose name is its URN."""
    return Linked(name, kind, parent, frozenset(depends_on))


@pytest.mark.parametrize(
    ("token", "part"),
    [
        (VPC, "network"),
        ("aws:ec2/launchTemplate:LaunchTemplate", "nodes"),
        (CLUSTER, "control plane"),
        ("aws:eks/addon:Addon", "add-ons"),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "storage"),
        ("kubernetes:core/v1:Namespace", "add-ons"),
        (GROUP, None),
        (ROLE, None),
    ],
)
def test_a_type_says_what_it_is_or_nothing(token: str, part: str | None):
    """A role may belong to anything."""
    assert part_of_type(token) == part


def test_a_role_and_its_policy_belong_to_what_uses_the_role():
    """The policy is used by nothing: it goes with its role."""
    found = parts_of([item("train", NODE_GROUP, "role"), item("role", ROLE), item("policy", POLICY, "role")])
    assert (found["role"], found["policy"]) == ("nodes", "nodes")


def test_what_uses_a_resource_counts_more_than_what_refers_to_it():
    """The rules of the file system's group name the nodes' group, which is used by the nodes."""
    rules = [item(f"rule-{index}", RULE, "nodes", "files", parent="lustre") for index in range(5)]
    lustre = item("fs", "aws:fsx/lustreFileSystem:LustreFileSystem", "files", parent="lustre")
    found = parts_of([item("train", NODE_GROUP, "nodes"), item("nodes", GROUP), item("files", GROUP, parent="lustre"), lustre, *rules])
    assert found["nodes"] == "nodes"
    assert {found["files"], *(found[rule.urn] for rule in rules)} == {"storage"}


def test_lying_in_the_network_makes_nothing_a_part_of_it():
    """Every security group names its VPC."""
    found = parts_of([item("vpc", VPC), item("group", GROUP, "vpc"), item("rule", RULE, "group")])
    assert (found["group"], found["rule"]) == ("add-ons", "add-ons")


def test_the_dev_stack_has_every_part_and_none_is_a_heap():
    """Five headings over a hundred and forty rows help where each is about what it says."""
    recording = record_stack(read_stack_file("dev", ROOT))
    found = parts_of(linked(registration) for registration in recording)
    names = {part: {item.name for item in recording.resources() if found[item.urn] == part} for part in PARTS}
    assert {"network", "network-usw2-az4", "network-s3"} <= names["network"]
    assert {"control-plane-eksCluster", "control-plane-role", "control-plane-logs", "control-plane-secrets"} <= names["control plane"]
    assert {"trn1-32xl", "node-role", "nodes", "nodes-from-self", "node-role-nodeadm"} <= names["nodes"]
    assert {"lustre", "lustre-from-node-988"} <= names["storage"]
    assert all(found[item.urn] == "add-ons" for item in recording.resources() if item.type.startswith("kubernetes:"))
    assert sum(len(part) for part in names.values()) <= len(recording.resources())
