"""Stack files as the real CLI reads them, beside our own reader."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.engine.cli import needs_cli
from tests.stacks.odd_yaml import READ, REFUSED, REFUSED_BY_PULUMI
from trn.engine.stack_file import read_stack_file

pytestmark = [pytest.mark.engine, needs_cli]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one stack in a backend of its own."""
    root = tmp_path_factory.mktemp("stack-files")
    (root / "state").mkdir()
    (root / "Pulumi.yaml").write_text("name: trn\nruntime: python\n")
    pulumi(root, "stack", "init", "odd")
    return root


def pulumi(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The CLI, without an account and without a network."""
    environment = {
        **os.environ,
        "PULUMI_BACKEND_URL": f"file://{root / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_HOME": str(root / "home"),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    return subprocess.run(["pulumi", *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False)


def write(root: Path, config: str) -> None:
    """The stack file, with what Pulumi itself keeps in it."""
    file = root / "Pulumi.odd.yaml"
    own = [line for line in file.read_text().splitlines() if line.startswith("encryptionsalt:")]
    file.write_text("\n".join([*own, config]))


def test_both_readers_give_the_same_values(project: Path):
    """What a rehearsal reads is what `pulumi up` will read."""
    values = [text.replace("|\n  ", "|\n    ").replace("\n  lines", "\n    lines") for text in READ]
    write(project, "config:\n" + "\n".join(f"  trn:k{number}: {text}" for number, text in enumerate(values)))
    done = pulumi(project, "config", "--json", "--stack", "odd")
    assert done.returncode == 0, done.stderr
    theirs = {key: entry.get("objectValue", entry["value"]) for key, entry in json.loads(done.stdout).items()}
    ours = read_stack_file("odd", project).as_pulumi
    assert {key: json.loads(text) if isinstance(theirs[key], list | dict) else text for key, text in ours.items()} == theirs


@pytest.mark.parametrize("text", REFUSED_BY_PULUMI)
def test_what_pulumi_refuses_is_refused(text: str, project: Path):
    """A file that rehearses and then stops `pulumi up` is of no use."""
    assert text in REFUSED
    write(project, text)
    assert pulumi(project, "config", "--json", "--stack", "odd").returncode != 0
