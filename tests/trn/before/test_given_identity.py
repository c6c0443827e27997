"""Roles below a path, and a workspace of metrics that others keep: made, named, killed, swept and judged."""

import json
import random
from functools import cache
from typing import Any

import pytest

from facts.external.description import Description, assumed
from facts.external.workspace import Workspace, endpoint, problems
from simulator.account.putting import put_existing
from simulator.account.world import World
from simulator.aws_endpoint.inventory import Inventory
from simulator.engine import crash
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.external import asked_of, paid_by_others
from stacks.settings import Settings
from tests.stacks.external_networks import WORKSPACE, sharing
from tests.support import ROOT, dev_configuration, merged, record_stack
from tests.trn.aws.cloud import Cloud
from tests.trn.ending.story import Story, drawn_kill, told
from trn.before.cost.bill import bill_of
from trn.before.iam.documents import deployer_permissions, operator_permissions, statements
from trn.engine.assumed_account import account_for
from trn.engine.external_reading import absent, described_existing
from trn.engine.stack_file import StackFile

CLUSTER, REGION, PATH = "trainium-dev", "us-west-2", "/teams/training/"


def configuration() -> dict[str, Any]:
    """The shipped stack with roles below a path, Karpenter, and Prometheus that writes to a workspace of others."""
    addons = {
        "prometheus": {"enabled": True},
        "grafana": {"enabled": True},
        "managedPrometheus": {"enabled": True, "workspaceArn": WORKSPACE},
        "karpenter": {"enabled": True, "neuronPools": {"p": {"instanceType": "trn1.32xlarge", "maxNodes": 1}}},
        "clusterAutoscaler": {"enabled": False},
    }
    return merged(dev_configuration(), iam={"path": PATH}, coreNodes={"autoscaled": False}, addons=addons)


@cache
def recorded() -> Recording:
    """What it makes."""
    return record_stack(configuration(), stack="dev")


def settings() -> Settings:
    """The same as settings."""
    return parse_settings(configuration(), "dev", rehearsal=True)


def test_every_role_is_below_the_path_and_every_arn_says_so():
    """One role elsewhere is refused by the account's policy after half of the stack is paid for."""
    roles = recorded().of_type("aws:iam/role:Role")
    assert len(roles) > 6
    assert {item.inputs["path"] for item in roles} == {PATH}
    arns = {item.outputs["arn"] for item in roles}
    assert all(f":role{PATH}{CLUSTER}-{REGION}-" in arn for arn in arns)
    named = {
        text
        for item in recorded().resources()
        for text in json.dumps(item.inputs).replace('\\"', '"').split('"')
        if ":role/" in text and CLUSTER in text
    }
    assert named
    assert {text for text in named if f":role{PATH}" not in text} == set()


def everything() -> dict[str, Any]:
    """A stack that is given all that it can be given."""
    key = "arn:aws:kms:us-west-2:123456789012:key/1b1e1b1e-0000-4000-8000-00000000b10e"
    role = "arn:aws:iam::123456789012:role/company"
    changes = {
        "controlPlane": {"encryptionKeyArn": key},
        "iam": {
            "permissionsBoundary": "arn:aws:iam::123456789012:policy/boundary",
            "roles": {"control-plane": f"{role}/eks", "node": f"{role}/nodes"},
        },
        "training": {"imageRepository": "company/training"},
        "addons": {
            "prometheus": {"enabled": True},
            "managedPrometheus": {"enabled": True, "workspaceArn": WORKSPACE},
            "fluentBit": {"enabled": True, "s3Bucket": "company-logs"},
        },
    }
    return sharing(clients=True, **changes)


def test_a_bill_names_what_others_pay_for():
    """A figure that leaves out a file system must say so."""
    stack_file = StackFile(ROOT, "trn", "dev", {f"trn:{key}": value for key, value in everything().items()})
    (note,) = [note for note in bill_of(stack_file).notes if note.startswith("not in the sums")]
    named = ("vpc-0123456789abcdef0", "fs-0123456789abcdef0", "ws-0123abcd-0123-0123-0123-0123456789ab")
    more = ("key/1b1e1b1e-0000-4000-8000-00000000b10e", "s3://company-logs", "repository company/training")
    assert note == f"not in the sums, since the stack uses and does not make it: {', '.join((*named, *more))}"
    assert paid_by_others(parse_settings(dev_configuration(), "dev", rehearsal=True)) == ()


@pytest.mark.parametrize("seed", range(2))
def test_wherever_a_stack_with_everything_given_is_killed_all_of_it_stays(seed: int):
    """One account with the network, file system, workspace, roles, boundary and bucket of others, and colleagues in the network."""
    given, drawn = parse_settings(everything(), "dev", rehearsal=True), random.Random(seed)
    stack = record_stack(everything(), stack="dev")
    story = Story(stack, CLUSTER, REGION, existing=assumed(asked_of(given)), given=given)
    kill = drawn_kill(drawn, stack, "create" if seed % 2 else "delete")
    assert told(story, kill, seed) == []
    assert {"eks", "nodes"} < story.world.state.others["role"].keys()
    assert story.world.state.others["bucket"].keys() == {"company-logs"}


def test_every_kill_of_the_crash_matrix_converges_with_everything_given():
    """`trn rehearse crash` takes what is given as it is needed."""
    given, stack = parse_settings(everything(), "dev", rehearsal=True), record_stack(everything(), stack="dev")
    cases = crash.cases(stack)
    assert not [case for case in cases if case.urn.endswith("-given")]
    assert crash.run_cases(stack, cases[::101], seed=0, account=account_for(given)) == []


def test_documents_of_iam_follow_the_path():
    """A right to roles elsewhere is one too many, and one that is missing stops the deployer."""
    deployer = statements(deployer_permissions(recorded().resources()), CLUSTER, REGION, PATH)
    operator = statements(operator_permissions(), CLUSTER, REGION, PATH)
    for document in (deployer, operator):
        named = [arn for item in document for arn in ([item["Resource"]] if isinstance(item["Resource"], str) else item["Resource"])]
        ours = [arn for arn in named if ":role/" in arn and CLUSTER in arn]
        assert ours
        assert all(f":role{PATH}{CLUSTER}" in arn for arn in ours)
        assert not any("//" in arn or "{" in arn for arn in named)
    assert not any("aps:CreateWorkspace" in item["Action"] for item in deployer)


@pytest.mark.parametrize("seed", range(2))
def test_wherever_it_is_killed_its_roles_are_found_and_the_workspace_stays(seed: int):
    """A sweep knows roles by their names and tags, and leaves what has no tag of the cluster."""
    drawn = random.Random(seed)
    kill = drawn_kill(drawn, recorded(), "create" if seed % 2 else "delete")
    assert told(Story(recorded(), CLUSTER, REGION, existing=assumed(asked_of(settings()))), kill, seed) == []


def test_iam_shows_the_path_of_a_role():
    """`trn recover` and the console find it there."""
    engine = Engine(World(), State())
    put_existing(engine.world.state, assumed(asked_of(settings())))
    assert engine.up(recorded()).ended_well
    paths = {entry["Path"] for entry in Inventory(engine.world, REGION).entries("role").values()}
    assert paths == {PATH}


def test_prometheus_writes_to_the_workspace_and_nothing_is_made():
    """With a right to this one alone, by the address that AWS gives it."""
    assert recorded().of_type("aws:amp/workspace:Workspace") == []
    (policy,) = [item for item in recorded().of_type("aws:iam/rolePolicy:RolePolicy") if item.inputs["name"] == "remote-write"]
    assert WORKSPACE in policy.inputs["policy"]
    (release,) = [item for item in recorded().of_type("kubernetes:helm.sh/v3:Release") if "kube-prometheus" in item.inputs["chart"]]
    assert f"{endpoint(WORKSPACE)}api/v1/remote_write" in json.dumps(release.inputs["values"])
    assert endpoint(WORKSPACE) == "https://aps-workspaces.us-west-2.amazonaws.com/workspaces/ws-0123abcd-0123-0123-0123-0123456789ab/"


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        (Workspace(arn=WORKSPACE.replace("ab", "cd")), "not the workspace described"),
        (Workspace(arn=WORKSPACE, state="DELETING"), "a workspace that is DELETING"),
    ],
)
def test_a_workspace_that_takes_no_metrics_is_refused(found: Workspace, wrong: str):
    """Prometheus would drop what it cannot write after two hours."""
    asked = asked_of(settings()).workspace
    assert asked is not None
    (problem,) = problems(found, asked)
    assert (problem.wrong, bool(problem.hint)) == (wrong, True)


def test_a_workspace_comes_back_from_the_account_it_was_put_into():
    """One that the caller's account does not list may be another account's: writing there takes a role of that account."""
    cloud, asked = Cloud(), asked_of(settings())
    assert [path for path, _, _ in absent(described_existing(cloud.api, asked), asked)] == ["addons.managedPrometheus.workspaceArn"]
    there = Description(workspace=Workspace(arn=WORKSPACE, state="UPDATING"))
    put_existing(cloud.world.state, there)
    assert described_existing(cloud.api, asked) == there
