"""The shell completes what a person would have to look up: stacks, node groups, faults, scenarios, jobs; and errors print nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import copy_project
from tests.trn.practice.commands import bring_up, trn
from trn import completers
from trn.app import app

GROUPS = ["trn1-32xl", "trn1n-32xl"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one stack more."""
    copy_project(tmp_path)
    (tmp_path / "Pulumi.night.yaml").write_text("config:\n  trn:nodeGroups:\n    small: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(line: str) -> list[str]:
    """What bash is offered for the last word of a line."""
    words = line.split(" ")
    environment = {"_TRN_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(("trn", *words)), "COMP_CWORD": str(len(words))}
    result = CliRunner().invoke(app, [], env=environment, prog_name="trn")
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("check ", ["dev", "night"]),
        ("check n", ["night"]),
        ("check dev --stack n", ["night"]),
        ("rehearse change dev --to ", ["dev", "night"]),
        ("cost dev --compare n", ["night"]),
        ("practice up ", ["dev", "night"]),
        ("rehearse crash n", ["night"]),
        ("scale dev ", GROUPS),
        ("scale night ", ["small"]),
        ("scale trn1n", ["trn1n-32xl"]),
        ("scale --stack night ", ["small"]),
        ("shell dev --node-group trn1n", ["trn1n-32xl"]),
        ("rehearse dev --scenario no-q", ["no-quota"]),
        ("rehearse dev --fault no-cap", ["no-capacity"]),
        ("practice up dev --fault no-capacity@trn1n", ["no-capacity@trn1n-32xl"]),
        ("practice event dev kar", ["karpenter-node"]),
        ("rehearse cra", ["crash"]),
        ("init ", []),
    ],
)
def test_names_are_offered(project: Path, line: str, offered: list[str]):
    """Those of the stack on the line; a stack first, and what may stand in its place."""
    assert completed(line) == offered


def test_what_cannot_be_read_is_no_answer(project: Path):
    """A file with a mistake, and no credentials: the line that is typed stays as it is."""
    (project / "Pulumi.dev.yaml").write_text("config:\n\t- x\n")
    assert completed("scale dev ") == []
    assert completed("logs dev ") == []


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A practice account with a job in it, only read."""
    folder = bring_up(tmp_path_factory.mktemp("up"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("trn.practice.engines.shutil.which", lambda _name: None)
        assert trn("practice job dev bert")[0] == 0
        yield folder


@pytest.mark.parametrize("command", ["logs", "why", "cancel", "watch", "top", "data status"])
def test_jobs_are_those_in_the_cluster(up: Path, command: str):
    """Here of a practice account, as with a cluster on AWS."""
    assert completed(f"--practice {command} dev b") == ["bert"]


def test_a_cluster_that_does_not_answer_is_not_waited_for(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever pressed the key is waiting."""
    monkeypatch.setattr(completers, "PATIENCE_S", 0.05)
    monkeypatch.setattr(completers, "_jobs", lambda _context: [str(number) for number in iter(int, 1)])
    assert completed("logs dev ") == []
