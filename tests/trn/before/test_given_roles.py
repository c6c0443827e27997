"""Roles that others keep: none is made in their place, each is compared with the one that would have been made, and none is touched."""

import json
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from facts.external.role import Role, WantedRole, lacking, untrusted
from facts.iam import Document, document, ec2_trust, pod_identity_trust
from facts.permanent import PermanentChanged, refuse_change
from facts.policies.schedules import schedule_trust
from simulator.account.putting import put_existing
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording, exists_in_cloud
from simulator.rehearsal import Circumstances
from stacks.config import parse_settings
from stacks.external import asked_of, existing_ids
from stacks.problems import ConfigurationError
from stacks.settings import kept_role
from tests.support import ROOT, dev_configuration, merged, record_stack
from tests.trn.aws.cloud import ACCOUNT, Cloud
from tests.trn.aws.healthy import HealthyAccount
from tests.trn.before.test_check import subject_of
from tests.trn.ending.story import Story, drawn_kill, told
from trn.aws.owner_tags import Owner
from trn.aws.places import look, place_of
from trn.before.check.roles import roles
from trn.before.check.subject import Subject
from trn.before.iam.documents import deployer_permissions, statements
from trn.change.sweep_plan import DATA_NAMES, Keeping, plan_sweep
from trn.cli.errors import CompleteError
from trn.engine.assumed_account import account_for, assumed_description, put_missing
from trn.engine.external_reading import as_yaml, described_existing, read_description, refuse_unfit
from trn.engine.program import settings_of
from trn.engine.stack_file import StackFile
from trn.engine.stack_state import parse_state
from trn.practice.state import exported

CLUSTER, REGION = "trainium-dev", "us-west-2"
POD = pod_identity_trust("train", "kube-system", "aws-node")
POD_STATEMENT = POD["Statement"][0]
START = "arn:aws:iam::123456789012:role/company"
GIVEN = {
    "control-plane": f"{START}/plane",
    "node": f"{START}/nodes",
    "vpc-cni": f"{START}/cni",
    "ebs-csi": f"{START}/ebs",
    "karpenter-node": f"{START}/spare",
}


def configuration() -> dict[str, Any]:
    """The shipped stack with Karpenter, and with roles of others for the control plane, nodes and two add-ons."""
    karpenter = {"enabled": True, "neuronPools": {"p": {"instanceType": "trn1.32xlarge", "maxNodes": 1}}}
    addons = {"karpenter": karpenter, "clusterAutoscaler": {"enabled": False}}
    return merged(dev_configuration(), iam={"roles": GIVEN}, coreNodes={"autoscaled": False}, addons=addons)


@cache
def recorded() -> Recording:
    """What it makes."""
    return record_stack(configuration(), stack="dev")


def test_no_role_policy_or_attachment_is_made_in_their_place():
    """Everything that would use the stack's own uses these."""
    made = recorded()
    names = {item.inputs["name"] for item in made.resources() if item.type == "aws:iam/role:Role"}
    assert not any(name.endswith(("-control-plane", "-node", "-vpc-cni", "-ebs-csi")) for name in names)
    assert {item.inputs["roleArn"] for item in made.of_type("aws:eks/cluster:Cluster")} == {GIVEN["control-plane"]}
    held = {
        item.inputs["role"]
        for kind in ("rolePolicy:RolePolicy", "rolePolicyAttachment:RolePolicyAttachment")
        for item in made.of_type(f"aws:iam/{kind}")
    }
    assert held <= names
    assert {item.inputs["nodeRoleArn"] for item in made.of_type("aws:eks/nodeGroup:NodeGroup")} == {GIVEN["node"]}
    used = [
        str(item.inputs)
        for item in made.resources()
        if item.type in ("aws:eks/addon:Addon", "aws:eks/podIdentityAssociation:PodIdentityAssociation")
    ]
    assert all(any(GIVEN[purpose] in text for text in used) for purpose in ("vpc-cni", "ebs-csi"))
    assert GIVEN["karpenter-node"] in {item.inputs["principalArn"] for item in made.of_type("aws:eks/accessEntry:AccessEntry")}


def test_the_control_planes_role_is_read_and_is_no_resource_of_the_stack():
    """It is in the state, as what was only read; the state's ids are what a sweep keeps and a destroy takes."""
    (read,) = [item for item in recorded() if item.external]
    assert (read.custom, read.id, read.outputs["arn"]) == (False, "plane", GIVEN["control-plane"])
    assert read not in recorded().resources()
    assert not exists_in_cloud(read)
    engine = Engine(World(account_for(parse_settings(configuration(), "dev", rehearsal=True))), State())
    assert engine.up(recorded()).ended_well
    shown = exported(engine.state)
    (entry,) = [each for each in shown["deployment"]["resources"] if each.get("external")]
    assert (entry["custom"], entry["id"]) == (True, "plane")
    held = parse_state(shown, CLUSTER).ids
    assert not held & {"plane", GIVEN["control-plane"]}
    assert CLUSTER in held


def test_a_control_plane_is_refused_with_a_role_that_lacks_its_policy():
    """EKS looks when the cluster is made."""
    state = account_for(parse_settings(configuration(), "dev", rehearsal=True))
    state.others["role"]["plane"]["attached"] = []
    run = Engine(World(state), State()).up(recorded())
    assert not run.ended_well


@pytest.mark.parametrize(
    ("first", "then", "fix"),
    [
        (
            {},
            {"control-plane": f"arn:aws:iam::123456789012:role/{CLUSTER}-{REGION}-control-plane"},
            "without `iam.path` and `iam.roles.control-plane`",
        ),
        ({"control-plane": GIVEN["control-plane"]}, {}, f"Set `iam.roles.control-plane: {GIVEN['control-plane']}`"),
        (
            {"control-plane": GIVEN["control-plane"]},
            {"control-plane": GIVEN["node"]},
            f"Set `iam.roles.control-plane: {GIVEN['control-plane']}`",
        ),
    ],
    ids=["its own", "the stack's", "another"],
)
def test_a_running_cluster_keeps_its_role_whoever_keeps_that(first: dict[str, str], then: dict[str, str], fix: str):
    """Given the role that the stack made itself, `pulumi up` would delete it below the cluster."""
    made, wanted = (
        {
            "clusterName": "c",
            "region": "r",
            "role": kept_role(parse_settings(merged(dev_configuration(), iam={"roles": roles}), "dev", rehearsal=True)),
        }
        for roles in (first, then)
    )
    with pytest.raises(PermanentChanged, match=re.escape(fix)):
        refuse_change(made, wanted)


def test_a_name_beside_a_given_role_is_refused():
    """It would name nothing."""
    given = merged(dev_configuration(), iam={"roles": {"control-plane": GIVEN["control-plane"]}}, controlPlane={"roleName": "mine"})
    with pytest.raises(ConfigurationError) as refused:
        parse_settings(given, "dev", rehearsal=True)
    assert [problem.path for problem in refused.value.problems] == ["controlPlane.roleName"]


def test_schedules_run_with_a_given_role_that_trusts_them():
    """A group that is empty at night, rehearsed without a description: the role is there, and trusts the scheduler."""
    arn = f"{START}/times"
    night = {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI"}
    given = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"schedule": night}}, iam={"roles": {"schedules": arn}})
    stack = record_stack(given, stack="dev")
    assert {item.inputs["target"]["roleArn"] for item in stack.of_type("aws:scheduler/schedule:Schedule")} == {arn}
    assert not [item for item in stack.resources() if str(item.inputs.get("name")).endswith("-schedules") and ":Role" in item.type]
    assumed_account = Circumstances(existing=assumed_description(parse_settings(given, "dev", rehearsal=True))).account()
    assert Engine(World(assumed_account), State()).up(stack).ended_well
    lacking_account = Circumstances().account()
    assert not Engine(World(lacking_account), State()).up(stack).ended_well


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("arn:aws:scheduler:us-west-2:123456789012:schedule-group/trainium-dev", []),
        ("arn:aws:scheduler:*:123456789012:schedule-group/*", []),
        ("arn:aws:scheduler:us-west-2:123456789012:schedule-group/other", ["sts:AssumeRole"]),
        ("arn:aws:scheduler:us-west-2:999999999999:schedule-group/trainium-dev", ["sts:AssumeRole"]),
    ],
)
def test_a_trust_of_schedules_names_their_group(source: str, lost: list[str]):
    """The stack's own has `*` for the account, which it does not know; a company's has the account."""
    wanted = WantedRole(schedule_trust("aws", "us-west-2", "trainium-dev"), (), ())
    trust = {"Statement": [{**wanted.trust["Statement"][0], "Condition": {"ArnEquals": {"aws:SourceArn": source}}}]}
    said = lacking(Role(arn=f"{START}/times", trust=trust), wanted)
    assert said == [f"does not let scheduler.amazonaws.com do {each} for this cluster" for each in lost]


def test_karpenter_passes_the_given_role_and_no_other():
    """The node class names it by its name, the policy by its path as well."""
    classes = recorded().of_type("kubernetes:karpenter.k8s.aws/v1:EC2NodeClass")
    assert {item.inputs["spec"]["role"] for item in classes} == {"spare"}
    policies = [
        item.inputs["policy"] for item in recorded().of_type("aws:iam/rolePolicy:RolePolicy") if "iam:PassRole" in item.inputs["policy"]
    ]
    assert len(policies) == 1
    assert "arn:aws:iam::*:role/company/spare" in policies[0]


def test_the_deployer_may_pass_them_and_change_none():
    """A right to a role of the company's is none that a stack needs."""
    found = statements(deployer_permissions(recorded().resources()), CLUSTER, REGION)
    rights = {
        action
        for item in found
        for resource in ([item["Resource"]] if isinstance(item["Resource"], str) else item["Resource"])
        if ":role/company/" in resource
        for action in item["Action"]
    }
    assert rights == {"iam:PassRole", "iam:GetRolePolicy"}


@pytest.mark.parametrize("seed", range(2))
def test_wherever_the_stack_is_killed_they_stay(seed: int):
    """They have no tag of the cluster, and a name that does not begin with it."""
    given = parse_settings(configuration(), "dev", rehearsal=True)
    story, drawn = Story(recorded(), CLUSTER, REGION, given=given), random.Random(seed)
    kill = drawn_kill(drawn, recorded(), "create" if seed else "delete")
    assert told(story, kill, seed) == []


def test_what_the_stack_made_once_and_was_given_since_is_not_swept():
    """Taken out of the state and named in the file: it has the cluster's tags and names, and is another team's all the same."""
    own = merged(dev_configuration(), addons={"prometheus": {"enabled": True}, "managedPrometheus": {"enabled": True}})
    engine = Engine(World(), State())
    assert engine.up(record_stack(own, stack="dev")).ended_well
    cloud = Cloud(world=engine.world)
    (workspace,) = [item.registration for item in engine.world.state if item.registration.type == "aws:amp/workspace:Workspace"]
    (key,) = [item.registration for item in engine.world.state if item.registration.type == "aws:kms/key:Key"]
    role = f"arn:aws:iam::123456789012:role/{CLUSTER}-{REGION}-node"
    swept = {workspace.id, key.id, role.rpartition("/")[2]}
    owner = Owner(CLUSTER, ACCOUNT, REGION, "organization/trn/dev")
    # The cluster has gone: while it is there, all of this belongs to it.
    found = [item for item in look(cloud.api, place_of(cloud.api, CLUSTER)) if item.kind != "EKS cluster"]
    assert swept <= {item.id for item in plan_sweep(found, Keeping(owner, data=DATA_NAMES)).deletions}
    arns = {"workspaceArn": workspace.outputs["arn"], "keyArn": key.outputs["arn"]}
    given = merged(
        own,
        iam={"roles": {"node": role}},
        controlPlane={"encryptionKeyArn": arns["keyArn"]},
        addons={"managedPrometheus": {"workspaceArn": arns["workspaceArn"]}},
    )
    kept = replace(owner, given_ids=existing_ids(parse_settings(given, "dev", rehearsal=True)))
    plan = plan_sweep(found, Keeping(kept, data=DATA_NAMES))
    assert swept & {item.id for item in plan.deletions} == set()
    assert {why for item, why in plan.kept if item.id in swept} == {"the stack file says that others keep it"}


def test_the_account_keeps_them_over_up_and_destroy():
    """As they were, to the last letter."""
    stack = settings_of(StackFile(ROOT, "trn", "dev", {f"trn:{key}": value for key, value in configuration().items()}))
    state = account_for(stack)
    before = {name: dict(entry) for name, entry in state.others["role"].items()}
    assert set(before) == {"plane", "nodes", "cni", "ebs", "spare"}
    engine = Engine(World(state), State())
    assert engine.up(recorded()).ended_well
    assert engine.destroy().ended_well
    assert (state.others["role"], state.leftovers()) == (before, [])


def subject(aws: HealthyAccount) -> Subject:
    """The stack on an account."""
    sections = configuration()
    return subject_of(aws, **{key: sections[key] for key in ("iam", "coreNodes", "addons")})


def test_each_is_compared_with_the_role_that_would_have_been_made():
    """There, trusted, with the managed policies, and allowed what the stack's own document allows."""
    aws = HealthyAccount()
    checked = subject(aws)
    assert all(f"{arn} is not there" in finding.what for arn, finding in zip(GIVEN.values(), roles(checked), strict=True))
    put_missing(aws.world.state, checked.settings)
    assert [finding.verdict for finding in roles(checked)] == ["pass"] * len(GIVEN)
    aws.around.denied_roles[GIVEN["ebs-csi"]] = {"ec2:AttachVolume"}
    there = aws.world.state.others["role"]
    there["nodes"]["attached"] = []
    there["cni"]["AssumeRolePolicyDocument"] = there["cni"]["AssumeRolePolicyDocument"].replace("pods.eks", "lambda")
    there["spare"]["Arn"] = f"{START}/other/spare"
    there["plane"]["AssumeRolePolicyDocument"] = json.dumps(ec2_trust("amazonaws.com"))
    plane, node, cni, ebs, spare = (finding.what for finding in roles(checked))
    assert "does not let eks.amazonaws.com do sts:AssumeRole" in plane
    assert "lacks the managed policies AmazonEC2ContainerRegistryPullOnly, AmazonEKSWorkerNodeMinimalPolicy" in node
    assert "does not let pods.eks.amazonaws.com do sts:AssumeRole, sts:TagSession for this cluster" in cni
    assert "does not allow ec2:AttachVolume" in ebs
    assert f"is not there: the role of this name is {START}/other/spare" in spare


def test_roles_are_described_and_judged_by_a_rehearsal(tmp_path: Path):
    """From the account into a file and from there into a rehearsal: with what `trn check` sees of trust and managed policies."""
    stack_file = StackFile(ROOT, "trn", "dev", {f"trn:{key}": value for key, value in configuration().items()})
    given, cloud, path = settings_of(stack_file), Cloud(), tmp_path / "existing.yaml"
    with pytest.raises(CompleteError, match="5 mistakes in how stack `dev`"):
        refuse_unfit(given, described_existing(cloud.api, asked_of(given), GIVEN.values()), stack_file)
    put_missing(cloud.world.state, given)
    path.write_text(as_yaml(described_existing(cloud.api, asked_of(given), GIVEN.values())))
    found = read_description(path)
    assert {role.arn for role in found.roles} == set(GIVEN.values())
    assert refuse_unfit(given, found, stack_file) == []
    state = AccountState()
    put_existing(state, found)
    assert {entry["Arn"] for entry in state.others["role"].values()} == set(GIVEN.values())
    changed_roles = [role.model_copy(update={"attached": ()} if role.arn == GIVEN["control-plane"] else {}) for role in found.roles]
    with pytest.raises(CompleteError) as refused:
        refuse_unfit(given, found.model_copy(update={"roles": tuple(changed_roles)}), stack_file)
    assert "a role that lacks the managed policies AmazonEKSClusterPolicy, `iam.roles.control-plane`" in str(refused.value)


@pytest.mark.parametrize(
    "trust", [{}, {"Statement": 1}, {"Statement": [1, "x"]}, {"Statement": {"Effect": "Allow", "Action": 1, "Principal": 2, "Condition": 3}},
              {"Statement": {**POD_STATEMENT, "Condition": [1]}}, {"Statement": {**POD_STATEMENT, "Condition": {"StringEquals": 1}}}],
)  # fmt: skip
def test_a_trust_that_is_none_trusts_no_one(trust: dict[str, Any]):
    """A file may hold anything."""
    assert untrusted(trust, POD) == ["sts:AssumeRole", "sts:TagSession"]


def test_a_role_of_another_account_and_one_that_nothing_uses_are_said():
    """A role is used in its own account only."""
    aws = HealthyAccount()
    given = {"node": "arn:aws:iam::999999999999:role/nodes", "efs-csi": f"{START}/efs"}
    checked = subject_of(aws, iam={"roles": given})
    other, unused = roles(checked)
    assert (other.verdict, "is a role of account 999999999999" in other.what) == ("fail", True)
    assert (unused.verdict, "nothing of this stack uses" in unused.what) == ("pass", True)


def changed(**keys: Any) -> Document:
    """The trust of a pod's role with parts of its statement changed."""
    return document({**POD["Statement"][0], **keys})


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        (POD, []),
        (changed(Condition={}), []),
        (changed(Action="sts:*"), []),
        (changed(Condition={"StringLike": {"aws:RequestTag/eks-cluster-name": ["tr*", "other"]}}), []),
        (changed(Action="sts:AssumeRole"), ["sts:TagSession"]),
        (changed(Effect="Deny"), ["sts:AssumeRole", "sts:TagSession"]),
        (changed(Principal={"Service": "ec2.amazonaws.com"}), ["sts:AssumeRole", "sts:TagSession"]),
        (changed(Principal="*"), ["sts:AssumeRole", "sts:TagSession"]),
        (changed(Condition={"StringEquals": {"aws:RequestTag/eks-cluster-name": "other"}}), ["sts:AssumeRole", "sts:TagSession"]),
        (changed(Condition={"ArnEquals": {"aws:SourceArn": "x"}}), ["sts:AssumeRole", "sts:TagSession"]),
        (ec2_trust("amazonaws.com"), ["sts:AssumeRole", "sts:TagSession"]),
    ],
)
def test_a_trust_is_judged_by_service_action_and_condition(given: Document, lost: list[str]):
    """A pod whose role does not trust it gets no credentials, and its add-on is DEGRADED after 20 minutes."""
    assert untrusted(given, POD) == lost
