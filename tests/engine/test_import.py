"""A cluster that others made is imported by the real CLI with the file of `trn import`, and the engine then plans what the command said."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.account.disk import AccountFolder
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from tests.engine.cli import Engine, needs_cli
from tests.trn.before.other_makers import BLUEPRINT, EKSCTL, REGION, blueprint_account, eksctl_account
from tests.trn.given import Given, NoStack
from trn.app import app
from trn.aws.api import BotoApi
from trn.change.clients import using

pytestmark = [pytest.mark.engine, needs_cli]
OPTIONS = ("--yes", "--skip-preview", "--generate-code=false", "--protect=false")


def taken_over(state: AccountState, cluster: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Engine, dict[str, Any]]:
    """A stack `dev` whose account is this one, after `trn import` and `pulumi import`; with what the command said."""
    engine = Engine.new(root)
    engine.stack_file.unlink()
    AccountFolder(engine.folder.account).save(state)
    monkeypatch.chdir(engine.project)
    words = ["import", "dev", "--cluster", cluster, "--region", REGION, "--json", "-"]
    with using(Given(lambda region: BotoApi(region, endpoint.wire(World(state)).session()), engine=NoStack())):
        said = CliRunner().invoke(app, words, catch_exceptions=False)
    assert said.exit_code == 0, said.output
    engine.run("import", "--file", str(engine.project / "import-dev.json"), *OPTIONS)
    return engine, json.loads(said.stdout)


def outside(engine: Engine, planned: dict[str, list[str]], operation: str) -> set[str]:
    """URNs of a plan that stand for objects outside the engine."""
    known = {item.urn for item in engine.recording.resources()}
    return set(planned.get(operation, ())) & known


@pytest.mark.parametrize(("made", "cluster"), [(blueprint_account, BLUEPRINT), (eksctl_account, EKSCTL)], ids=["blueprint", "eksctl"])
def test_the_engine_plans_what_the_command_said(made: Any, cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing is replaced; what is created and changed is the same to the last resource."""
    engine, said = taken_over(made(), cluster, tmp_path / "engine", monkeypatch)
    held = {urn: item["id"] for urn, item in engine.resources().items() if item.get("id") and "pulumi:providers" not in urn}
    assert held == {each["urn"]: each["id"] for each in said["maps"]}
    planned = engine.planned()
    for operation in ("create", "update", "replace"):
        assert outside(engine, planned, operation) == {each["urn"] for each in said["plan"][operation]}, operation
    assert "delete" not in planned


def test_the_cluster_goes_on_under_the_stack_and_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The control plane is the same object, its old groups stay until they are deleted, and a destroy leaves all that is others'."""
    engine, _ = taken_over(blueprint_account(), BLUEPRINT, tmp_path / "engine", monkeypatch)
    theirs = {key for key, item in engine.world.items() if key[0] == "aws:eks/nodeGroup:NodeGroup"}
    engine.up()
    plane = engine.world["aws:eks/cluster:Cluster", BLUEPRINT]
    assert plane.inputs["accessConfig"]["authenticationMode"] == "API"
    assert plane.urn.startswith("urn:pulumi:others::")
    groups = {key for key in engine.world if key[0] == "aws:eks/nodeGroup:NodeGroup"}
    assert theirs < groups
    # As the command says: the old groups, and what else is attached to the role.
    for key in theirs:
        engine.lose(engine.world[key])
    (further,) = [item for item in engine.world.values() if item.id.endswith("/AmazonEKSVPCResourceController")]
    engine.lose(further)
    engine.run("destroy", "--yes", "--skip-preview")
    left = {item.urn.split("::")[0] for item in engine.world.values()}
    assert left <= {"urn:pulumi:others"}
    assert ("aws:eks/cluster:Cluster", BLUEPRINT) not in engine.world
