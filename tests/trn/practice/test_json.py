"""What every command writes for `--json`: one shape, as docs/report.schema.json has it."""

import shutil
from pathlib import Path

import pytest

from tests.documents import checked, published
from tests.support import ROOT
from tests.trn.cli.test_placement import COMMANDS
from tests.trn.practice.commands import UP, trn
from tests.trn.practice.test_data import link
from trn.practice.access import Practice
from trn.table import ENTRIES, OUTSIDE, InPractice

JOB = "practice job dev bert"
"""Begun before the commands that look for one."""
RUN = {
    "init": "--practice init night --region us-west-2 --instance-type trn1.32xlarge --count 0 --yes",
    "check": "--practice check dev",
    "cost": "cost dev",
    "cost compare": "cost dev --compare dev",
    "plan": "--practice plan dev",
    "upgrade": "--practice upgrade dev --to 1.36 --check",
    "iam": "iam dev --operator --deployer",
    "status": "--practice status dev",
    "verify": "--practice verify dev",
    "kubeconfig": "--practice kubeconfig dev",
    "top": "--practice top dev",
    "logs": f"{JOB}; --practice logs dev bert",
    "scale": "--practice scale dev trn1-32xl 0 --yes",
    "roll": f"{JOB}; --practice roll dev trn1-32xl --checkpoint --yes",
    "roll compare": "--practice roll dev trn1-32xl",
    "drain": f"{JOB}; --practice drain dev --yes",
    "recover": "--practice recover dev --yes",
    "destroy": f"{JOB}; --practice destroy dev --yes",
    "sweep": "--practice sweep dev --delete --yes",
    "sweep list": "--practice sweep dev",
    "bundle": "--practice bundle dev",
    "addons": "addons dev",
    "images": "images dev --mirror registry.example:5000/team",
    "precompile": "--practice precompile dev job.yaml --arg=--max_steps=10",
    "submit": "--practice submit dev job.yaml",
    "run": "--practice run dev src/train.py --yes",
    "lint": "lint job.yaml",
    "jobs": f"{JOB}; --practice jobs dev",
    "why": f"{JOB}; --practice why dev bert",
    "watch": "watch --log train.log",
    "cancel": f"{JOB}; --practice cancel dev bert --yes",
    "image build": "image build dev src --dry-run",
    "data export": "--practice data export dev /fsx/data/checkpoints --yes",
    "data status": "--practice data status dev",
    "capacity find": "--practice capacity find dev --hours 60 --regions us-west-2",
    "capacity buy": "--practice capacity buy dev cb-0123456789abcdef0 --dry-run",
    "capacity calendar": "--practice capacity calendar dev",
    "practice up": UP,
    "practice job": JOB,
    "practice event": "practice event dev load-balancer",
    "practice down": "practice down dev --quiet",
    "rehearse": "rehearse dev --quiet",
    "rehearse rules": "rehearse rules",
    "rehearse crash": "rehearse crash dev --quiet --change nodeGroups.trn1-32xl.maxSize=9",
    "rehearse chaos": "rehearse chaos --runs 1 --quiet",
    "rehearse change": "rehearse change dev --set nodeGroups.trn1-32xl.maxSize=9",
    "rehearse upgrade": "rehearse upgrade dev --to 1.36 --accept volcano",
    "rehearse calendar": "rehearse calendar blocks",
}
"""A line for each document, by the words of its command; those before `;` come first."""
ELSEWHERE = {
    "shell": "running/test_shell.py",
    "check pick": "before/test_check_pick.py",
    "import": "before/test_import.py",
    "image push": "jobs/image/test_image_commands.py",
    "image build push": "jobs/image/test_image_commands.py",
    "data stage": "jobs/data/test_stage.py",
    "data stage plan": "jobs/data/test_stage.py",
    **dict.fromkeys(
        ("data import-weights", "data import-weights plan", "data export-weights", "data export-weights plan"), "jobs/data/test_weights.py"
    ),
    "data prepare": "jobs/data/test_prepare.py",
    "data prepare plan": "jobs/data/test_prepare.py",
    "data prepare here": "jobs/data/test_prepare.py",
}
"""What practice has no registry, bucket or container for, with the tests that check its document."""


ASKING_LESS = {
    "plan": "a plan without a difference stops no job, and asks for none",
    "roll compare": "a comparison is rehearsed",
    "watch": "a log is a file",
    "image build": "without --push it stays on this machine",
    "recover": "the API server has the records of releases that were cut off",
    "data status": "the API server has the pod of a copy, not a task of the file system",
}
"""Lines of these that ask fewer than their command may."""


def name_of(words: str) -> str:
    """Of a document, by the words of its command."""
    return f"trn-{words.replace(' ', '-')}"


@pytest.mark.parametrize("words", RUN)
def test_a_command_writes_its_document(up: Path, words: str, monkeypatch: pytest.MonkeyPatch):
    """Under its own name, as the published schema has it, whatever the command's exit code; and asks nobody whom its row does not name."""
    for place, source in (("job.yaml", "jobs/bert.yaml"), ("Pulumi.blocks.yaml", "capacity-block.yaml")):
        shutil.copy(ROOT / "docs/samples" / source, place)
    Path("src").mkdir()
    Path("src/train.py").write_text("")
    Path("train.log").write_text('{"trn": "step", "step": 1, "time": 1300, "rank": 0, "loss": 1}\n')
    if words.startswith("data "):
        link()
    *before, line = RUN[words].split("; ")
    for each in before:
        assert trn(each)[0] == 0
    asked = noted(monkeypatch)
    _, out, err = trn(f"{line} --json -")
    assert out, err
    assert checked(out)["schema"] == name_of(words)
    entry = next(ENTRIES[place] for place in (words, words.rpartition(" ")[0]) if place in ENTRIES)
    assert asked <= set(entry.asks) or entry.in_practice is InPractice.OWN
    assert asked == set(entry.asks) or words in ASKING_LESS or entry.in_practice is InPractice.OWN


def noted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What commands ask from now on."""
    asked = set[str]()
    for outside, name in zip(OUTSIDE, ("aws", "kubernetes", "pulumi"), strict=True):
        own = getattr(Practice, name)
        monkeypatch.setattr(Practice, name, lambda *given, own=own, outside=outside: (asked.add(outside), own(*given))[1])
    return asked


def test_every_document_is_checked_and_every_command_writes_one():
    """A command whose JSON has no model, or a model that no test holds against the schema, fails here."""
    known = {*RUN, *ELSEWHERE}
    assert set(published()["discriminator"]["mapping"]) == {name_of(words) for words in known}
    writing = {
        name.removeprefix("trn ") for name, command in COMMANDS.items() if any(param.name == "json_file" for param in command.params)
    }
    assert writing <= known
    for words, file in ELSEWHERE.items():
        assert f'"{name_of(words)}"' in (ROOT / "tests/trn" / file).read_text()
