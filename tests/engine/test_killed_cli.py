"""The CLI is killed while something is being made: what the engine knows afterwards, what mends it, and what does not."""

import json
import re
from pathlib import Path

import pytest

from tests.engine.cli import Engine, kind_of, needs_cli, resource_count

pytestmark = [pytest.mark.engine, needs_cli]

CLUSTER = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:components:ControlPlane$eks:index:Cluster$aws:eks/cluster:Cluster::control-plane-eksCluster"
VOLCANO = "urn:pulumi:dev::trn::trn:stacks:TrainiumCluster$trn:addons:Volcano$kubernetes:helm.sh/v3:Release::volcano"


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Killed while the control plane, a child of the remote component, was being made. Not to be changed."""
    engine = Engine.new(tmp_path_factory.mktemp("killed") / "dev")
    with engine.running("up", until=lambda: engine.is_making("aws.eks.Cluster/*.json"), time_scale=0.05) as trn:
        engine.kill_cli(trn)
    assert trn.returncode == 128 + 9
    return engine


@pytest.fixture
def cancelled(killed: Engine, tmp_path: Path) -> Engine:
    """The same, with the dead run's lock taken away."""
    engine = killed.copy(tmp_path / "engine")
    engine.run("cancel", "--yes", "dev")
    return engine


def import_pending(engine: Engine) -> None:
    """Import what was being made, by the URNs that the pending operations hold and the ids that the cloud has."""
    ids = {item.urn: item.id for item in engine.world.values()}
    names: dict[str, str] = {}
    wanted = []
    for urn, resource in engine.pending().items():
        provider = resource["provider"].rsplit("::", 1)[0]
        for needed in (resource["parent"], provider):
            names.setdefault(needed, f"name{len(names)}")
        wanted.append(
            {
                "type": resource["type"],
                "name": urn.rsplit("::", 1)[-1],
                "id": ids[urn],
                "parent": names[resource["parent"]],
                "provider": names[provider],
            }
        )
    file = engine.root / "import.json"
    file.write_text(json.dumps({"nameTable": {name: urn for urn, name in names.items()}, "resources": wanted}))
    engine.run("import", "--file", str(file), "--yes", "--skip-preview", "--generate-code=false", "--protect=false")
    engine.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates")


def test_the_stack_is_locked_until_the_dead_run_is_cancelled(killed: Engine, tmp_path: Path):
    """And then warns of what was under way, and meets it."""
    engine = killed.copy(tmp_path / "engine")
    assert "the stack is currently locked by 1 lock(s)" in engine.up(fails=True)
    assert CLUSTER in engine.pending()
    assert CLUSTER not in engine.resources()
    engine.run("cancel", "--yes", "dev")
    text = engine.up(fails=True)
    assert f"{CLUSTER}, interrupted while creating" in text
    assert re.search("Cluster already exists with name: trainium-dev|conflicts with another subnet", text)


def test_importing_what_was_under_way_mends_it(cancelled: Engine):
    """The imported ones show no difference, nothing is made twice, and all goes."""
    under_way = set(cancelled.pending())
    assert CLUSTER in under_way
    made = {item.urn for item in cancelled.world.values()}
    import_pending(cancelled)
    assert cancelled.pending() == {}
    assert under_way < set(cancelled.resources())
    cancelled.up()
    assert {call.urn for call in cancelled.calls("Create", "Update", "Delete")}.isdisjoint(made)
    assert len(cancelled.world) == resource_count()
    assert cancelled.planned() == {}
    cancelled.destroy_all()


def test_import_pending_creates_imports_nothing(cancelled: Engine):
    """Its name promises more: the engine forgets the create, asks no provider, and ends well."""
    pair = ("--import-pending-creates", CLUSTER, "--import-pending-creates", "trainium-dev")
    cancelled.run("refresh", "--yes", "--skip-preview", *pair)
    assert CLUSTER not in cancelled.pending()
    assert CLUSTER not in cancelled.resources()
    assert CLUSTER not in {call.urn for call in cancelled.calls("Read")}


def test_a_destroy_leaves_what_was_under_way(cancelled: Engine):
    """It ends well, and the control plane stays and bills: why the creates are to be mended first."""
    under_way = set(cancelled.pending())
    cancelled.run("destroy", "--yes", "--skip-preview")
    assert {item.urn for item in cancelled.world.values()} == under_way


def test_a_release_that_was_being_installed_is_mended_the_same_way(engine: Engine):
    """A Helm release is imported by namespace and name."""
    engine.run("destroy", "--yes", "--skip-preview", "--target", VOLCANO, "--target-dependents")
    assert not any(kind_of(item.urn) == "Queue" for item in engine.world.values())
    with engine.running("up", until=lambda: engine.is_making("kubernetes.helm.sh.v3.Release/*volcano*.json"), time_scale=0.2) as trn:
        engine.kill_cli(trn)
    engine.run("cancel", "--yes", "dev")
    assert set(engine.pending()) == {VOLCANO}
    import_pending(engine)
    assert sorted(engine.planned()) == ["create"]
    engine.up()
    assert {kind_of(call.urn) for call in engine.calls("Create")} == {"Queue"}
    engine.destroy_all()
