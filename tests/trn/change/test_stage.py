"""Pulumi on the stage does what the CLI does, and is stopped and refused as it is."""

import json
from collections.abc import Callable
from pathlib import Path
from signal import SIGINT
from typing import Any

import pytest

from addons import volcano
from simulator.account import kinds
from tests.trn.change.pulumi import LOCKED
from tests.trn.change.stage import JOB, STACK, Died, Stage

UP = ("pulumi", "up", "--yes", "--stack", STACK)
DESTROY = ("pulumi", "destroy", "--yes", "--stack", STACK)
PREVIEW = ("pulumi", "preview", "--json", "--stack", STACK)
EXPORT = ("pulumi", "stack", "export", "--stack", STACK)


def edited() -> Stage:
    """Its stack file asks for larger disks."""
    stage = Stage()
    stage.edit("size: 2\n", "size: 2\n      rootVolumeGib: 300\n")
    return stage


def emptied() -> Stage:
    """Without its job, that would keep a destroy from its end."""
    stage = Stage()
    stage.colleague().delete(volcano.JOBS, JOB, "training")
    return stage


def planned(stage: Stage) -> set[str]:
    """Types that a preview would change."""
    code, printed = stage.ask(PREVIEW)
    assert code == 0
    return {step["urn"].rsplit("::", 2)[-2].rsplit("$", 1)[-1] for step in json.loads(printed)["steps"]}


def under_way(stage: Stage) -> list[Any]:
    """Operations of which the state knows no end."""
    return json.loads(stage.ask(EXPORT)[1])["deployment"]["pending_operations"]


def test_a_run_does_what_a_preview_says_and_is_one_change():
    """With targets, these alone; the stack file of the stage is what is wanted."""
    stage = edited()
    with stage.project():
        assert planned(stage) == {kinds.NODE_GROUP, kinds.LAUNCH_TEMPLATE}
        targets = [step["urn"] for step in json.loads(stage.ask(PREVIEW)[1])["steps"] if kinds.LAUNCH_TEMPLATE in step["urn"]]
        assert stage.run((*UP, "--target", targets[0]), {})[0] == 0
        assert planned(stage) == {kinds.NODE_GROUP}
        assert (stage.run(UP, {})[0], planned(stage)) == (0, set())
    assert [call.key for _, call in stage.changes] == ["pulumi up", "pulumi up"]


def test_an_edit_in_the_midst_is_what_the_next_run_reads():
    """And it is still there after the run of a command."""
    stage = Stage()
    with stage.project():
        assert planned(stage) == set()
        stage.edit("size: 2\n", "size: 1\n")
        assert planned(stage) == {kinds.NODE_GROUP}
    assert "size: 1\n" in stage.stack_file
    assert stage.everything()["file"] != Stage().everything()["file"]


@pytest.mark.parametrize(("command", "make"), [(UP, edited), (DESTROY, emptied)])
def test_a_run_that_is_killed_leaves_half_of_it_and_a_lock(command: tuple[str, ...], make: Callable[[], Stage]):
    """What was under way has no end that the state knows of; the next run ends it once the lock is removed."""
    whole, stage = make(), make()
    with whole.project():
        assert whole.run(command, {})[0] == 0
    before = stage.everything()
    stage.kill(1)
    with stage.project():
        with pytest.raises(Died):
            stage.run(command, {})
        with pytest.raises(Died):
            stage.ask(EXPORT)
        stage.is_dead, stage.stop_at = False, 0
        assert under_way(stage)
        assert stage.everything() not in (before, whole.everything())
        assert stage.run(command, {}) == (255, LOCKED)
        assert stage.ask(("pulumi", "refresh", "--target", "urn:a"))[0] == 255
        stage.is_locked = False
        assert stage.run(("pulumi", "refresh", "--yes", "--stack", STACK), {})[0] == 0
        assert stage.run(command, {})[0] == 0
    assert stage.everything() == whole.everything()


def test_a_run_that_is_cancelled_saves_what_was_under_way():
    """As the CLI does after Ctrl-C."""
    stage = emptied()
    count = len(stage.engine.state.held)
    stage.kill(1, SIGINT)
    with stage.project():
        with pytest.raises(KeyboardInterrupt):
            stage.run(DESTROY, {})
        assert (under_way(stage), stage.is_locked) == ([], False)
        assert 0 < len(stage.engine.state.held) < count
        assert stage.run(DESTROY, {})[0] == 0
    assert not stage.engine.state.held


def test_a_run_that_fails_has_done_nothing_or_all():
    """Only the state says which."""
    broken, lost, before = edited(), edited(), edited().everything()
    broken.fault(1, "broken")
    lost.fault(1, "lost")
    with broken.project():
        assert broken.run(UP, {})[0] == 255
    with lost.project():
        assert (lost.run(UP, {})[0], planned(lost)) == (255, set())
    assert broken.everything() == before


def test_what_the_account_has_can_be_imported_and_what_it_has_not_is_refreshed_away(tmp_path: Path):
    """`pulumi import --file`, and `pulumi refresh`."""
    stage = Stage()
    held = next(each.registration for each in stage.engine.state.held.values() if each.registration.type == kinds.NODE_GROUP)
    del stage.engine.state.held[held.urn]
    file = tmp_path / "import.json"
    file.write_text(json.dumps({"resources": [{"type": held.type, "name": held.name, "id": held.id}]}))
    with stage.project():
        assert kinds.NODE_GROUP in planned(stage)
        assert stage.run(("pulumi", "import", "--file", str(file), "--stack", STACK), {})[0] == 0
        assert planned(stage) == set()
        stage.engine.world.state.remove(stage.found(held.type, held.id).registration)
        assert stage.run(("pulumi", "refresh", "--yes", "--stack", STACK), {})[0] == 0
    assert held.urn not in stage.engine.state.held
