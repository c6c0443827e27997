"""What `trn rehearse change` prints of node groups: those whose nodes change, and no others."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from operations.cli import app
from tests.support import copy_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's own top level, to work in."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(*settings: str) -> str:
    """Standard output of a change of some keys."""
    arguments = [text for setting in settings for text in ("--set", setting)]
    return CliRunner().invoke(app, ["rehearse", "change", *arguments], catch_exceptions=False).stdout


def test_nodes_that_stay_are_no_line(project: Path):
    """A group whose labels change keeps its nodes; one that grows is listed with the number of nodes."""
    out = change("nodeGroups.trn1-32xl.labels={team: nlp}", "nodeGroups.trn1n-32xl.size=1")
    lines = [line for line in out.splitlines() if line.startswith("nodes")]
    assert [line.split()[1:5] for line in lines] == [["trn1n-32xl:", "1", "node", "added"]]
    groups = json.loads((project / "build/rehearsal/change.json").read_text())["nodes"]
    assert {(group["group"], group["kind"]) for group in groups} == {("trn1-32xl", "stays"), ("trn1n-32xl", "added")}
