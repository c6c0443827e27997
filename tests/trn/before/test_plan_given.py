"""`trn plan` where a stack moves from things of its own to those that others keep, and back: what is lost is a red line."""

import json
from typing import Any

import pytest

from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from stacks.config import parse_settings
from tests.stacks.external_networks import WORKSPACE, configuration, sharing
from tests.support import dev_configuration, merged, record_stack
from trn.engine.assumed_account import account_for
from trn.engine.effects import Effect, effects, refused
from trn.engine.planned import planned
from trn.practice.state import exported, previewed

OWN_NETWORK, OTHERS_NETWORK, OTHERS_FILES = dev_configuration(), configuration(), sharing()
OTHER_FILES = merged(OTHERS_FILES, storage={"lustre": {"existing": {"fileSystemId": "fs-0fedcba9876543210"}}})
NODE_ROLE = merged(OWN_NETWORK, iam={"roles": {"node": "arn:aws:iam::123456789012:role/nodes"}})
DRIVER_ROLE = merged(OWN_NETWORK, iam={"roles": {"fsx-csi": "arn:aws:iam::123456789012:role/driver"}})
REPOSITORY = merged(OWN_NETWORK, training={"imageRepository": "teams/training"})
OWN_METRICS, GIVEN_METRICS = (
    merged(OWN_NETWORK, addons={"prometheus": {"enabled": True}, "managedPrometheus": {"enabled": True, **which}})
    for which in ({}, {"workspaceArn": WORKSPACE})
)
LOST, MOUNTED, GROUPS = "its data is lost", "pods that mount it must end first", "all 2 nodes go at once, jobs on them stop"


def plan_of(old: dict[str, Any], new: dict[str, Any]) -> list[Effect]:
    """What the engine says of a stack that is up, in an account with what others keep."""
    settings = [parse_settings(each, "test", rehearsal=True) for each in (old, new)]
    engine = Engine(World(account_for(*settings)), State(), 0)
    assert engine.up(record_stack(old)).errors == []
    program = record_stack(new)
    return effects(planned(json.dumps(exported(engine.state)), json.dumps(previewed(engine.state, engine.world, program)), program))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(OTHERS_NETWORK, OTHERS_FILES, {"data": (LOST, MOUNTED)}, id="own file system to given"),
        pytest.param(OTHERS_FILES, OTHERS_NETWORK, {"data": (MOUNTED,)}, id="given file system to own"),
        pytest.param(OTHERS_FILES, OTHER_FILES, {"data": (MOUNTED,)}, id="given file system to another"),
        pytest.param(OWN_NETWORK, NODE_ROLE, {"restarts": (GROUPS,)}, id="own node role to given"),
        pytest.param(NODE_ROLE, OWN_NETWORK, {"restarts": (GROUPS,)}, id="given node role to own"),
        pytest.param(OWN_NETWORK, DRIVER_ROLE, {}, id="own driver role to given"),
        pytest.param(DRIVER_ROLE, OWN_NETWORK, {}, id="given driver role to own"),
        pytest.param(OWN_NETWORK, REPOSITORY, {}, id="own image repository to given"),
        pytest.param(REPOSITORY, OWN_NETWORK, {}, id="given image repository to own"),
        pytest.param(OWN_METRICS, GIVEN_METRICS, {"data": ("its metrics go with it",)}, id="own workspace to given"),
        pytest.param(GIVEN_METRICS, OWN_METRICS, {}, id="given workspace to own"),
        pytest.param(
            OWN_NETWORK, OTHERS_NETWORK, {"final": ("EKS keeps a control plane in the VPC",), "data": (LOST,), "restarts": (GROUPS,)},
            id="own network to given",
        ),
        pytest.param(
            OTHERS_NETWORK, OWN_NETWORK, {"final": ("EKS keeps a control plane in the VPC",), "data": (LOST,), "restarts": (GROUPS,)},
            id="given network to own",
        ),
    ],
)  # fmt: skip
def test_what_is_lost_is_red(old: dict[str, Any], new: dict[str, Any], expected: dict[str, tuple[str, ...]]):
    """What others keep is never among the losses, what the stack made is, and the policy holds each by its name."""
    found = [effect for effect in plan_of(old, new) if effect.classes != {"safe"}]
    assert {name for effect in found for name in effect.classes} == set(expected)
    for name, texts in expected.items():
        said = "; ".join(text for effect in found if name in effect.classes for text in effect.texts)
        assert [text for text in texts if text not in said] == []
        assert name in refused({each for effect in found for each in effect.classes}, [other for other in expected if other != name])


def test_nothing_of_others_is_deleted_or_replaced():
    """Not the file system, the workspace, the network or the role."""
    for old, new in ((OTHERS_FILES, OTHERS_NETWORK), (GIVEN_METRICS, OWN_METRICS), (NODE_ROLE, OWN_NETWORK)):
        gone = [effect.type for effect in plan_of(old, new) if effect.operation in ("delete", "replace")]
        assert not [each for each in gone if each.startswith(("aws:fsx/", "aws:amp/", "aws:iam/", "aws:ec2/vpc", "aws:ec2/subnet"))], gone
