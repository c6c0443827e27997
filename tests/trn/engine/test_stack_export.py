"""Which state of which stack an export is: what was confirmed is known again, and an older or another one is never taken for it."""

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from simulator.engine.disk import StateFolder
from simulator.engine.state import State
from tests.support import ROOT
from tests.trn.change.owned import EMPTY, resource, state
from trn.change.identity import id_of
from trn.engine.stack_export import UNKNOWN, StateStamp, is_older, is_same_stack, moment, read_export
from trn.engine.stack_state import parse_state
from trn.practice.state import exported

CLUSTER = "train"


def of(export: dict[str, Any]) -> StateStamp:
    """Which state it is."""
    return read_export(export).id


def within(confirmed: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether consent to a run on one state is consent to it on the other."""
    one, other = (id_of(parse_state(each, CLUSTER), "dev") for each in (confirmed, now))
    return other.within(one)


def changed(export: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The same export, with other members of its last resource."""
    made = deepcopy(export)
    made["deployment"]["resources"][-1] |= members
    return made


def without(export: dict[str, Any], *keys: str) -> dict[str, Any]:
    """As a CLI that writes less has it: no such members of the deployment, no times of resources."""
    deployment = {key: value for key, value in export["deployment"].items() if key not in keys}
    deployment["resources"] = [{key: value for key, value in each.items() if key != "created"} for each in deployment["resources"]]
    return {**export, "deployment": deployment}


def with_root(export: dict[str, Any], **members: Any) -> dict[str, Any]:
    """The same export, with other members of the stack itself."""
    made = deepcopy(export)
    made["deployment"]["resources"][0] |= members
    return made


def importing(export: dict[str, Any]) -> dict[str, Any]:
    """While `pulumi import` takes something over."""
    made = deepcopy(export)
    made["deployment"]["pending_operations"] = [{"resource": resource("aws:ec2/vpc:Vpc", "", {}), "type": "importing"}]
    return made


UP = state(CLUSTER, "eni-1")


def test_two_exports_without_a_run_in_between_are_one_state():
    """The order in which the engine lists resources says nothing; a run that changed nothing writes a new time only."""
    again = deepcopy(UP)
    again["deployment"]["resources"].reverse()
    assert of(again) == of(UP)
    later = of(state(CLUSTER, "eni-1", saved="2026-01-01T02:00:00Z"))
    assert later.digest == of(UP).digest
    assert later != of(UP)


@pytest.mark.parametrize(
    "other",
    [
        state(CLUSTER, "eni-1", "eni-2"),
        state(CLUSTER),
        changed(UP, id="eni-9"),
        changed(UP, delete=True),
        changed(UP, pendingReplacement=True),
        changed(UP, type="aws:ec2/other:Another"),
        state(CLUSTER, "eni-1", pending="aws:ec2/vpc:Vpc"),
    ],
    ids=["one more", "one less", "another id", "waits for its deletion", "was deleted for its successor", "another type", "under way"],
)
def test_whatever_comes_goes_or_begins_makes_another_state(other: dict[str, Any]):
    """Each alone."""
    assert is_same_stack(of(UP), of(other))
    assert of(other).digest != of(UP).digest


@pytest.mark.parametrize(
    "other",
    [
        state(CLUSTER, "eni-1", salt="v1:other"),
        with_root(UP, created="2026-01-05T00:00:00Z"),
        with_root(UP, urn="urn:pulumi:dev::fork::pulumi:pulumi:Stack::fork-dev"),
    ],
    ids=["made by another `stack init`", "destroyed and made again", "another project"],
)
def test_another_stack_with_the_same_content_is_another_one(other: dict[str, Any]):
    """A backend of one's own, a fork, a stack that was destroyed in between: nothing of it is confirmed, newer or older."""
    assert not is_same_stack(of(UP), of(other))
    assert not within(UP, other)
    assert is_older(of(UP), of(other)) is None


def test_what_only_one_of_them_knows_decides_nothing_and_nothing_known_is_no_match():
    """A state of release 0.1.0's rehearsal has no times and no secrets: its root is still the same one."""
    bare = of(without(UP, "manifest", "secrets_providers"))
    assert (bare.secrets, bare.created, bare.saved) == ("", "", None)
    assert (is_same_stack(bare, of(UP)), bare.digest) == (True, of(UP).digest)
    assert not is_same_stack(of(EMPTY), of(EMPTY))
    assert not is_same_stack(UNKNOWN, of(UP))


@pytest.mark.parametrize(
    ("now", "is_covered"),
    [
        (UP, True),
        (state(CLUSTER), True),
        (changed(UP, delete=True), True),
        (state(CLUSTER, "eni-1", "eni-2"), False),
        (changed(UP, id="eni-9"), False),
        (state(CLUSTER, "eni-1", pending="aws:ec2/vpc:Vpc"), False),
        (importing(UP), False),
    ],
    ids=["equal", "one less", "waits for its deletion", "one more", "replaced", "one is being made", "one is being imported"],
)
def test_what_is_there_now_is_covered_where_it_is_no_more_than_was_confirmed(now: dict[str, Any], is_covered: bool):
    """Fewer: a destroy goes on after a try that failed. One more, or another in its place: asked again."""
    assert within(UP, now) is is_covered


def test_an_object_of_the_same_id_under_another_name_was_not_confirmed():
    """Names are ids of many types: a log group and a node group may both be `train`."""
    other = deepcopy(UP)
    other["deployment"]["resources"].append(resource("aws:cloudwatch/logGroup:LogGroup", CLUSTER, {}))
    assert not within(UP, other)


def test_what_a_killed_destroy_was_deleting_is_covered():
    """The operation is of an object that was confirmed."""
    now = deepcopy(UP)
    now["deployment"]["pending_operations"] = [{"resource": now["deployment"]["resources"][-1], "type": "deleting"}]
    assert within(UP, now)


@pytest.mark.parametrize(("external", "kind"), [(True, "aws:ec2/other:Other"), (False, "pulumi:providers:aws")])
def test_what_the_stack_does_not_own_is_not_held(external: bool, kind: str):
    """What was read is others', and a provider is of the engine alone."""
    more = deepcopy(UP)
    more["deployment"]["resources"].append(resource(kind, "x", {}) | {"external": external})
    assert within(UP, more)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("2026-01-01T01:00:00.5Z", "2026-01-01T01:00:00.51Z"),
        ("2026-01-01T01:00:00Z", "2026-01-01T01:00:00.000000001Z"),
        ("2026-01-01T03:00:00+02:00", "2026-01-01T01:00:01Z"),
        ("2026-01-01T00:30:00-01:00", "2026-01-01T01:31:00Z"),
    ],
)
def test_of_two_states_the_older_one_is_known(earlier: str, later: str):
    """The engine writes local time, without trailing zeros: as texts these have no order."""
    one, other = of(state(CLUSTER, saved=earlier)), of(state(CLUSTER, saved=later))
    assert (is_older(one, other), is_older(other, one), is_older(one, one)) == (True, False, False)


@pytest.mark.parametrize("text", ["", "0001-01-01T00:00:00Z", "yesterday", "2026-01-01", None, 7])
def test_what_is_no_time_puts_nothing_in_order(text: Any):
    """Go's zero time stands for none."""
    assert moment(text) is None
    unknown = deepcopy(UP)
    unknown["deployment"]["manifest"]["time"] = text
    assert is_older(of(unknown), of(UP)) is None
    assert is_older(of(UP), of(unknown)) is None


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"deployment": []},
        {"deployment": {"resources": [{}]}},
        {"deployment": {"resources": ["x"]}},
        {"deployment": {"pending_operations": [{}]}},
        {"deployment": {"pending_operations": ["x"]}},
    ],
)
def test_what_is_no_export_is_refused(document: Any):
    """Another file, another command, a CLI that is too old."""
    with pytest.raises(ValueError, match="in it"):
        read_export(document)


def test_a_real_export_says_which_it_is():
    """Written by the CLI, for release 0.1.0: times of resources were taken out of that file."""
    found = of(json.loads((ROOT / "tests/states/engine/0.1.0.json").read_text()))
    assert found.saved is not None
    assert "salt" in found.secrets
    assert found.root.endswith("::trn-dev")


def test_commands_get_it_with_the_state():
    """Of the backend and of a file alike."""
    assert parse_state(UP, CLUSTER).id == of(UP)


def test_an_export_of_practice_has_times(tmp_path: Path):
    """A later write is a newer state."""
    folder = StateFolder(tmp_path / "engine")
    folder.save(State())
    (tmp_path / "engine" / "resources").mkdir(parents=True)
    first = folder.saved_at
    found = of(exported(folder.load(), first))
    assert found.saved == moment(first)
    assert moment(first) is not None
    os.utime(tmp_path / "engine" / "resources", (4e9, 4e9))
    later = moment(folder.saved_at)
    assert later is not None
    assert found.saved is not None
    assert later > found.saved
