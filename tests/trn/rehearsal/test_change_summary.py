"""What `trn rehearse change` prints of node groups: those whose nodes change, and no others."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import copy_project
from trn.app import app


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


@pytest.mark.parametrize(
    ("setting", "dearest_at"),
    [("size=4", "start"), ("size=1", "end"), ("instanceType=trn1n.32xlarge", "between")],
    ids=["more", "fewer", "others"],
)
def test_the_cost_of_a_change_begins_at_the_rate_before_and_ends_at_the_rate_after(project: Path, setting: str, dearest_at: str):
    """What it costs meanwhile is one number, in the terminal, on the page and in change.json: what is new bills from its request on,
    what goes until it has gone."""
    out = CliRunner().invoke(app, ["rehearse", "change", "dev", "--set", f"nodeGroups.trn1-32xl.{setting}"]).output
    report = json.loads((project / "build/rehearsal/change.json").read_text())
    rates = [point["usdPerHour"] for point in report["cost"]]
    before, after = report["costBefore"]["now"]["usdPerHour"], report["costAfter"]["now"]["usdPerHour"]
    assert (rates[0], rates[-1]) == pytest.approx((before, after), abs=0.001)
    assert before != after
    whole = {"start": after, "end": before}
    if dearest_at in whole:
        assert report["usd"] == pytest.approx(whole[dearest_at] * report["seconds"] / 3600, rel=0.01)
    else:
        # The old nodes bill until they have gone, the new ones from their request on.
        assert before < report["usd"] / report["seconds"] * 3600 < after
    assert f"{report['usd']:.2f} USD during the change" in out
    assert f"<b>USD {report['usd']:,.2f}</b>" in (project / "build/rehearsal/index.html").read_text()
