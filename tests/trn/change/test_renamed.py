"""`trn:name` or `trn:region` edited while the stack is up: the state says what is there, and every command that changes something refuses."""

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from simulator.aws_endpoint import endpoint
from tests.support import ROOT, copy_project
from tests.trn.aws.cloud import ACCOUNT
from tests.trn.change.owned import FakePulumi, resource, stack_of, state, subject
from tests.trn.change.test_ownership import CLUSTER, COMMANDS, NAMED, World
from tests.trn.given import Given
from trn.app import app
from trn.aws.api import BotoApi
from trn.change.ownership import Consent
from trn.cli.errors import CommandError
from trn.jobs.data.source import SourceFile

UP = "trainium-dev"
JOB = str(ROOT / "training" / "recipes" / "bert" / "job.yaml")
SCRIPT = str(ROOT / "docs" / "samples" / "scripts" / "neuron.py")
CHANGING: dict[str, list[str]] = {
    "destroy": ["dev", "--yes", "--name", "renamed"],
    "drain": ["dev", "--yes", "--name", "renamed"],
    "sweep": ["dev", "--delete", "--yes", "--name", "renamed"],
    "recover": ["dev", "--yes"],
    "scale": ["dev", "trn1-32xl", "0", "--yes", "--name", "renamed"],
    "roll": ["dev", "trn1-32xl", "--when-idle", "--yes", "--name", "renamed"],
    "upgrade": ["dev", "--to", "1.36", "--yes", "--name", "renamed"],
    "submit": ["dev", JOB, "--name", "renamed"],
    "run": ["dev", SCRIPT, "--yes", "--name", "renamed"],
    "precompile": ["dev", JOB, "--name", "renamed"],
    "cancel": ["dev", "bert", "--yes", "--name", "renamed"],
    "verify": ["dev", "--name", "renamed"],
    "shell": ["dev", "--name", "renamed"],
    "data stage": ["dev", "https://example.com/a", "/fsx/data/a", "--yes", "--name", "renamed"],
    "data prepare": ["dev", str(ROOT / "tests/trn/jobs/data/text-job.yaml"), "--yes", "--name", "renamed"],
    "data import-weights": ["dev", "s3://b/model/", "/fsx/models/m", "--yes", "--name", "renamed"],
    "data export-weights": ["dev", "/fsx/checkpoints/c", "/fsx/models/m", "--yes", "--name", "renamed"],
    "data export": ["dev", "/fsx/s3/out", "--yes", "--name", "renamed"],
    "image push": ["dev", "FOLDER", "--yes"],
    "check": ["dev", "--pick", "trn1-32xl", "--yes", "--name", "renamed"],
    "capacity buy": ["dev", "cb-0123456789abcdef0", "--yes", "--limit-usd", "1", "--account", ACCOUNT],
}
"""Every command that changes a cluster or its account, with all that can be said in advance."""


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> tuple[World, FakePulumi]:
    """The shipped stack, up, and its file edited since."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(file.read_text().replace(f"trn:name: {UP}", "trn:name: renamed"))
    assert "trn:name: renamed" in file.read_text()
    world, pulumi = World(given), stack_of(UP)
    given.api, given.cluster, given.engine, given.has_tools = world.cloud.api, world.kubernetes, pulumi, True
    return world, pulumi


def changes(world: World) -> list[str]:
    """Requests that change something."""
    reading = ("Describe", "List", "Get", "Search", "BatchGet", "Lookup")
    return [name for name in world.cloud.wire.count() if not name.split(".")[1].startswith(reading)]


@pytest.mark.parametrize("command", CHANGING)
def test_a_renamed_stack_is_refused_by_every_command_that_changes_something(
    up: tuple[World, FakePulumi], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Both names are shown. Nothing is changed, and no lock of the new name is taken."""
    world, pulumi = up
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    monkeypatch.setattr("trn.jobs.data.source.files_of", lambda *given: [SourceFile("a", "https://example.com/a", 1)])
    given = [str(tmp_path / "files") if word == "FOLDER" else word for word in CHANGING[command]]
    result = CliRunner().invoke(app, [*command.split(), *given])
    assert result.exit_code == 1, result.stderr
    assert "does not hold the cluster `renamed` of the stack file" in result.stderr
    assert f"cluster arn:aws:eks:us-west-2:{ACCOUNT}:cluster/{UP}" in result.stderr
    assert f"set `trn:name` back to `{UP}`" in result.stderr
    assert (changes(world), pulumi.ran, world.kubernetes.log) == ([], [], [])


def test_the_walk_has_every_command_that_asks_whose_a_cluster_is():
    """By the options that only they have."""
    asking = {"name", "break_lock", "state"}

    def walk(group: Any, words: tuple[str, ...] = ()) -> set[str]:
        if not hasattr(group, "commands"):
            return {" ".join(words)} if asking & {parameter.name for parameter in group.params} else set()
        return {found for name, each in group.commands.items() for found in walk(each, (*words, name))}

    # `init` names a cluster that is not there yet, `plan` and `data status` change nothing, `image build` pushes as `image push` does.
    assert walk(get_command(app)) - {"init", "plan", "data status", "image build", "practice job"} <= CHANGING.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_stack_in_another_region_than_the_file_says_is_refused(monkeypatch: pytest.MonkeyPatch, given: Given, command: str):
    """EKS of the file's region has no such cluster, and that says nothing."""
    world = World(given)
    elsewhere = endpoint.wire(world.cloud.world, endpoint.Options("us-east-1"))
    monkeypatch.setattr(world.cloud, "api", BotoApi("us-east-1", elsewhere.session()))
    with pytest.raises(CommandError, match="region: Pulumi's state has us-west-2, the account us-east-1"):
        COMMANDS[command](world)
    assert world.is_untouched()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_state_that_names_no_cluster_is_nobodys(given: Given, command: str):
    """It holds something, and nothing of it says for which cluster."""
    export = state(CLUSTER)
    export["deployment"]["resources"] = [resource("aws:sns/topic:Topic", "t", {})]
    world = World(given, export, up=False)
    with pytest.raises(CommandError, match="1 resources, and none of them names a cluster"):
        COMMANDS[command](world, NAMED)  # pyright: ignore[reportCallIssue]
    assert world.is_untouched()


def component(name: str) -> dict[str, Any]:
    """The component over all resources, as a run makes it before anything else."""
    kind = "trn:cluster:TrainiumCluster"
    return {"urn": f"urn:pulumi:dev::trn::{kind}::trn", "type": kind, "custom": False, "inputs": {"clusterName": name}}


@pytest.mark.parametrize("export", ["a VPC with tags", "a component"])
def test_a_stack_that_was_killed_before_its_cluster_was_made_is_destroyed(given: Given, export: str):
    """The state holds no cluster, what it holds names the one of the file, and EKS was asked and has none."""
    held = state(CLUSTER, with_cluster=False)
    if export == "a component":
        held["deployment"]["resources"] = [component(CLUSTER), resource("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "a-1", {})]
    world = World(given, held, up=False)
    assert world.destroy(NAMED).destroyed
    held["deployment"]["resources"] = [
        component("earlier") if each.get("custom") is False else each for each in held["deployment"]["resources"]
    ]
    if export == "a component":
        world = World(given, held, up=False)
        with pytest.raises(CommandError, match="does not hold the cluster `train`"):
            world.destroy()
        assert world.is_untouched()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_destroy_of_a_state_with_a_second_cluster_is_refused(given: Given, replaced: bool):
    """Pulumi would delete both, and one of them undrained: of a program of its own, or of a change of the name that was stopped half-way."""
    export = state(CLUSTER)
    other = state("other", vpc="vpc-other")["deployment"]["resources"][-1]
    export["deployment"]["resources"].append(other | ({"delete": True} if replaced else {}))
    world = World(given, export)
    with pytest.raises(CommandError, match="other would be deleted undrained"):
        world.destroy()
    assert world.is_untouched()
    assert world.look()


def test_an_empty_state_refuses_no_name(given: Given):
    """Nothing is there that could be another's: a stack is renamed before its first `up`, or after its destroy."""
    world = World(given, {"version": 3, "deployment": {"resources": [component("earlier")]}}, up=False)
    world.about = subject("renamed")
    assert world.destroy(Consent(yes=True, name="renamed")).destroyed
