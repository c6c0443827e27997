"""`trn rehearse calendar`: what it prints and writes, and when it fails."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tests.support import copy_project
from trn.app import app

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
    assert (data["job"]["doneSeconds"], data["job"]["lostSeconds"], data["places"][0]["paidNodeSeconds"]) == (30 * 3600, 0, 96 * 3600)
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


GUARD = {"enabled": True, "emails": ["team@example.com"], "idleHours": 6}
FRIDAY_EVENING = "114"
"""Hours of a job that starts on Monday at midnight."""


def weekend(project: Path, *options: str, alarm: float | None = None, **guard: Any) -> Any:
    """The shipped stack with a guard, and a job that ends on Friday evening."""
    path = project / "Pulumi.dev.yaml"
    text = yaml.safe_load(path.read_text())
    text["config"]["trn:addons"]["idleGuard"] = {**GUARD, **guard}
    if alarm:
        text["config"]["trn:budget"] = {"alarm": {"limitUsdPerMonth": alarm, "emails": ["team@example.com"]}}
    path.write_text(yaml.safe_dump(text))
    return CliRunner().invoke(app, ["rehearse", "calendar", "dev", "--hours", FRIDAY_EVENING, *options], catch_exceptions=False)


def test_a_weekend_without_jobs_is_found_and_ended(project: Path):
    """The job ends on Friday at 18:05; for six hours no pod asks for the nodes."""
    result = weekend(project, "--json", "days.json", action="scale-to-zero")
    assert result.exit_code == 0, result.output
    assert "Fri 01-15 18:05  job        is done: 114 hours of work" in result.output
    assert (
        "Sat 01-16 00:00  trn1-32xl  the idle guard sends a message: 2 nodes, not used for 6.0 hours, 258.00 USD since then"
        in result.output
    )
    assert "Sat 01-16 00:00  trn1-32xl  the idle guard sets it to 0: its nodes are drained" in result.output
    assert "USD saved" in result.output
    (group,) = json.loads((project / "days.json").read_text())["places"]
    assert group["savedUsd"] == pytest.approx(48 * 2 * 21.5, abs=5)


def test_a_guard_that_only_tells_says_so_every_day(project: Path):
    """Its nodes bill over the weekend."""
    result = weekend(project)
    assert result.output.count("the idle guard sends a message") == 2
    assert "sets it to 0" not in result.output


def test_a_guard_says_why_it_keeps_a_group(project: Path):
    """Its smallest size is the stack file's."""
    path = project / "Pulumi.dev.yaml"
    text = yaml.safe_load(path.read_text())
    text["config"]["trn:nodeGroups"]["trn1-32xl"]["minSize"] = 1
    path.write_text(yaml.safe_dump(text))
    result = weekend(project, action="scale-to-zero")
    assert "it is kept: its smallest size is 1" in result.output
    assert "sets it to 0" not in result.output


def test_a_budgets_message_comes_when_the_money_is_spent(project: Path):
    """Billing data is a day old, and a budget is updated every 8 to 12 hours."""
    result = weekend(project, alarm=2000)
    passed = [line for line in result.output.splitlines() if "budget " in line]
    assert passed[0].startswith("Tue 01-12 12:")
    assert "the costs pass 80 % of 2,000 USD" in passed[0]
    assert any("AWS Budgets has sent its message of 80 % of 2,000 USD by now, at 3," in line for line in passed)
