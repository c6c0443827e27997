"""The CLI is killed in the midst of a change: its state is the one that the rehearsal's engine has after the same kill, and is fixed the same way."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from simulator.account.world import World
from simulator.engine.clock import Operation
from simulator.engine.jobs import Doing
from simulator.engine.run import Engine as RehearsalEngine
from simulator.engine.run import Kill
from simulator.engine.state import State
from tests.engine.cli import Engine, needs_cli
from tests.engine.recovering import recover
from trn.practice.state import exported

pytestmark = [pytest.mark.engine, needs_cli]

TREE = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster"
LUSTRE = f"{TREE}$trn:components:Lustre$aws:fsx/lustreFileSystem:LustreFileSystem::lustre"
GROUP = f"{TREE}$trn:components:NodeGroup$aws:eks/nodeGroup:NodeGroup::trn1-32xl"
DOING: Mapping[Operation, Doing] = {"create": "creating", "update": "updating", "delete": "deleting"}
KILLS = [
    # Its successor is being made beside it; and it is being deleted when all else is done.
    ("storage.lustre.zoneId", "usw2-az1", LUSTRE, "create"),
    ("storage.lustre.zoneId", "usw2-az1", LUSTRE, "delete"),
    # It is being deleted to make room, after its tags; and its successor is being made.
    ("nodeGroups.trn1-32xl.instanceType", "trn1n.32xlarge", GROUP, "delete"),
    ("nodeGroups.trn1-32xl.instanceType", "trn1n.32xlarge", GROUP, "create"),
    # It rolls its nodes.
    ("nodeGroups.trn1-32xl.size", "4", GROUP, "update"),
]


@pytest.mark.parametrize(("key", "value", "victim", "operation"), KILLS)
def test_the_rehearsal_has_the_state_of_the_real_engine(engine: Engine, key: str, value: str, victim: str, operation: Operation):
    """What was replaced and not yet deleted, what was deleted to make room, what is under way; and both converge after `trn recover`."""
    before = engine.recording
    engine.configure(key, value)
    rehearsed = RehearsalEngine(World(), State())
    rehearsed.up(before)
    assert rehearsed.up(engine.recording, kill=Kill(victim, operation, 0.95)).killed

    def is_alone() -> bool:
        return engine.operations() == {(victim, DOING[operation])}

    with engine.running("up", until=is_alone, time_scale=0.05) as trn:
        engine.kill_cli(trn, when=is_alone)
    ours = exported(rehearsed.state)["deployment"]
    known = {entry["urn"] for entry in ours["resources"]}
    assert shape(entry for entry in engine.deployment()["resources"] if entry["urn"] in known) == shape(ours["resources"])
    assert engine.operations() == {(item["resource"]["urn"], item["type"]) for item in ours["pending_operations"]}

    engine.run("cancel", "--yes", "dev")
    recover(engine)
    assert engine.operations() == set()
    engine.up()
    assert engine.planned() == {}
    assert len(engine.world) == len(engine.recording.resources())
    engine.destroy_all()


def shape(entries: Iterable[Mapping[str, Any]]) -> list[tuple[str, bool, bool]]:
    """Of each resource its URN, whether it waits for its deletion, and whether its successor has yet to be made."""
    return sorted((entry["urn"], bool(entry.get("delete")), bool(entry.get("pendingReplacement"))) for entry in entries)
