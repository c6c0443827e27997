"""The pipelines that users copy: their commands of `trn` do what they say, and nothing in them can change under us."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import ROOT, copy_project
from tests.trn.practice.commands import trn
from tests.trn.test_door import PINNED_ACTION

SAMPLES = {path.stem: path.read_text() for path in sorted((ROOT / "docs/samples/ci").glob("*.yml"))}
COMMAND = re.compile(r"\.venv/bin/trn ([^\n|>]*?)(?: 2>&1)?(?: \|\| true)?$", re.MULTILINE)


def scripts(document: Any) -> str:
    """All commands of a pipeline."""
    if isinstance(document, dict):
        return "\n".join(scripts(item) for key, item in document.items() if key != "name")
    if isinstance(document, list):
        return "\n".join(scripts(item) for item in document)
    return str(document)


@pytest.mark.parametrize("name", SAMPLES)
def test_its_commands_run_without_any_credential(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The change of a pull request is rehearsed from the stack as it is."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    shutil.copy("Pulumi.dev.yaml", "Pulumi.before.yaml")
    Path("Pulumi.dev.yaml").write_text(Path("Pulumi.dev.yaml").read_text().replace("size: 2\n", "size: 1\n", 1))
    commands = [text.replace('"$STACK"', "dev") for text in COMMAND.findall(scripts(yaml.safe_load(SAMPLES[name])))]
    assert [text.split()[0] for text in commands] == ["rehearse", "rehearse"]
    assert trn(commands[0])[0] == 0
    code, out, _ = trn(commands[1])
    # Running nodes go: the command says so by its exit code too.
    assert code == 1
    assert "loses 1 of 2 nodes" in out


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_in_it_changes_under_us(name: str):
    lines = [line.strip().removeprefix("- ") for line in SAMPLES[name].splitlines()]
    assert [line for line in lines if line.startswith("uses:") and not PINNED_ACTION.fullmatch(line)] == []
    assert [line for line in lines if line.startswith("image:") and not re.search(r":\d+\.\d+\.\d+", line)] == []
