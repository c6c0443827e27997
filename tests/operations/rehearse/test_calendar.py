"""`trn rehearse calendar`: what it prints and writes, and when it fails."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from operations.cli import app
from tests.support import copy_project

TIMES = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
ON_BLOCK = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": "cr-0123456789abcdef0", "capacityBlock": TIMES}
NIGHT = {"schedule": {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI", "timeZone": "Europe/Berlin"}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project's own top level, to work in."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calendar(project: Path, *options: str, **keys: Any) -> Any:
    """The command on the shipped stack, its training group changed."""
    path = project / "Pulumi.dev.yaml"
    text = yaml.safe_load(path.read_text())
    text["config"]["trn:nodeGroups"]["trn1-32xl"] |= keys
    path.write_text(yaml.safe_dump(text))
    return CliRunner().invoke(app, ["rehearse", "calendar", "dev", *options], catch_exceptions=False)


def test_a_block_is_shown_from_its_start_to_its_end(project: Path):
    """With the job, the hours that were paid and used, and what is paid at all times."""
    result = calendar(project, "--hours", "30", "--json", "days.json", **ON_BLOCK)
    assert result.exit_code == 0, result.output
    assert "Tue 12-01 11:30  trn1-32xl  a schedule sets it to 2" in result.output
    assert "job      done Wed 12-02 17:" in result.output
    assert "of the block's 96 node hours, paid in advance" in result.output
    assert "EKS control plane 0.10" in result.output
    data = json.loads((project / "days.json").read_text())
    assert (data["job"]["doneHours"], data["job"]["lostHours"], data["places"][0]["paidNodeHours"]) == (30, 0, 96)
    assert data["places"][0]["savedUsd"] is None


def test_lost_work_fails(project: Path):
    """A checkpoint of 40 minutes, where there are 30."""
    result = calendar(project, "--grace", "40", **ON_BLOCK)
    assert result.exit_code == 1
    assert "had 30 minutes for a checkpoint that takes 40" in result.output


def test_a_week_of_nights_says_what_it_saves(project: Path):
    """130 of 336 node hours, at the list price of a trn1.32xlarge."""
    result = calendar(project, "--hours", "20", **NIGHT)
    assert result.exit_code == 0, result.output
    assert "130.2 of 336 node hours" in result.output
    assert "USD saved" in result.output
    assert "an hour also while groups are empty: 2 x m5.xlarge" in result.output


def test_days_limit_what_is_shown(project: Path):
    """The first of them only."""
    result = calendar(project, "--days", "1", **NIGHT)
    assert "2027-01-11 00:00 to 2027-01-12 00:00 UTC" in result.output
    assert "Tue 01-12" not in result.output


def test_a_stack_without_times_has_nothing_to_show(project: Path):
    """And learns how to give it some."""
    result = CliRunner().invoke(app, ["rehearse", "calendar", "dev"])
    assert result.exit_code != 0
    assert "no node group has times" in str(result.exception) + result.output
