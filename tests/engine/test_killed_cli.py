"""The CLI is killed while something is being made: what the engine knows afterwards, what fixes it, and what does not."""

import re
from pathlib import Path

import pytest

from tests.engine.cli import Engine, kind_of, needs_cli
from tests.engine.recovering import recover

pytestmark = [pytest.mark.engine, needs_cli]

CLUSTER = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:ControlPlane$eks:index:Cluster$aws:eks/cluster:Cluster::control-plane-eksCluster"
LUSTRE = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:Lustre$aws:fsx/lustreFileSystem:LustreFileSystem::lustre"
VOLCANO = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:addons:Volcano$kubernetes:helm.sh/v3:Release::volcano"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Killed while the control plane, a child of the remote component, and the file system were being made. Not to be changed."""
    engine = Engine.lean(tmp_path_factory.mktemp("killed") / "dev")

    # When all else is done: in a busier moment what a destroy can do would hang on it. Both take long enough for a busy machine.
    with engine.running("up", until=lambda: engine.is_waiting_for(CLUSTER, LUSTRE), time_scale=0.1) as trn:
        engine.kill_cli(trn, CLUSTER, LUSTRE)
    assert trn.returncode == 128 + 9
    return engine


@pytest.fixture
def cancelled(killed: Engine, tmp_path: Path) -> Engine:
    """The same, with the dead run's lock taken away."""
    engine = killed.copy(tmp_path / "engine")
    engine.run("cancel", "--yes", "dev")
    return engine


def test_the_stack_is_locked_until_the_dead_run_is_cancelled(killed: Engine, tmp_path: Path):
    """And then warns of what was under way, and meets it."""
    engine = killed.copy(tmp_path / "engine")
    assert "the stack is currently locked by 1 lock(s)" in engine.up(fails=True)
    assert set(engine.pending()) == {CLUSTER, LUSTRE}
    assert CLUSTER not in engine.resources()
    engine.run("cancel", "--yes", "dev")
    text = engine.up(fails=True)
    assert f"{CLUSTER}, interrupted while creating" in text
    assert re.search("Cluster already exists with name: trainium-dev|conflicts with another subnet", text)


def test_recovering_what_was_under_way_fixes_it(cancelled: Engine):
    """The imported ones show no difference, nothing is made twice, and all goes."""
    under_way = set(cancelled.pending())
    made = {item.urn for item in cancelled.world.values()}
    plan = recover(cancelled)
    assert {item.pending.urn for item in plan.imports} == under_way
    assert cancelled.pending() == {}
    assert under_way < set(cancelled.resources())
    cancelled.up()
    assert {call.urn for call in cancelled.calls("Create", "Update", "Delete")}.isdisjoint(made)
    assert len(cancelled.world) == len(cancelled.recording.resources())
    assert cancelled.planned() == {}
    cancelled.destroy_all()


def test_a_file_that_was_being_written_is_deleted(killed: Engine, tmp_path: Path):
    """Backend on disk: attributes are written beside the state, and an empty file of them hides it."""
    engine = killed.copy(tmp_path / "engine")
    attributes = engine.stored.with_suffix(".json.attrs")
    attributes.write_text("")
    assert "failed to load checkpoint: EOF" in engine.run("cancel", "--yes", "dev", fails=True)
    attributes.unlink()
    engine.run("cancel", "--yes", "dev")
    assert set(engine.pending()) == {CLUSTER, LUSTRE}


def test_import_pending_creates_imports_nothing(cancelled: Engine):
    """Its name promises more: the engine forgets the create, asks no provider, and ends well."""
    pair = ("--import-pending-creates", CLUSTER, "--import-pending-creates", "trainium-dev")
    cancelled.run("refresh", "--yes", "--skip-preview", *pair)
    assert CLUSTER not in cancelled.pending()
    assert CLUSTER not in cancelled.resources()
    assert CLUSTER not in {call.urn for call in cancelled.calls("Read")}


def test_a_destroy_leaves_what_was_under_way(cancelled: Engine):
    """The control plane stays and bills, and holds its subnets: why the creates are to be fixed first."""
    under_way = set(cancelled.pending())
    text = cancelled.run("destroy", "--yes", "--skip-preview", fails=True)
    assert "held by the control plane" in text
    assert {item.urn for item in cancelled.world.values()} >= under_way
    assert set(cancelled.pending()) == under_way


def test_a_release_that_was_being_installed_is_fixed_the_same_way(engine: Engine):
    """A Helm release is imported by namespace and name."""
    engine.run("destroy", "--yes", "--skip-preview", "--target", VOLCANO, "--target-dependents")
    assert not any(kind_of(item.urn) == "Queue" for item in engine.world.values())
    with engine.running("up", until=lambda: engine.is_making("kubernetes.helm.sh.v3.Release/*volcano*.json"), time_scale=0.2) as trn:
        engine.kill_cli(trn, VOLCANO)
    engine.run("cancel", "--yes", "dev")
    assert set(engine.pending()) == {VOLCANO}
    recover(engine)
    assert sorted(engine.planned()) == ["create"]
    engine.up()
    assert {kind_of(call.urn) for call in engine.calls("Create")} == {"Queue"}
    engine.destroy_all()
