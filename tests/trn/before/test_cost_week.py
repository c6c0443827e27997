"""What `trn cost` says of groups without nodes at night: hours, what they save, and what goes on billing."""

from dataclasses import replace

import pytest

from simulator.cost_figures import Amount
from stacks.group_times import Schedule
from tests.support import ROOT
from trn.before.cost.bill import bill_of
from trn.before.cost.week import hours_up, week_notes
from trn.engine.stack_file import read_stack_file


def schedule(down_at: str, up_at: str | None, time_zone: str = "UTC") -> Schedule:
    """One of a stack file."""
    return Schedule(down_at=down_at, up_at=up_at, time_zone=time_zone)


@pytest.mark.parametrize(
    ("down_at", "up_at", "zone", "hours"),
    [
        ("0 20 * * MON-FRI", "0 7 * * MON-FRI", "UTC", 65),
        ("0 20 * * MON-FRI", "0 7 * * MON-FRI", "America/Los_Angeles", 65),
        ("0 20 * * FRI", "0 7 * * MON", "Europe/Berlin", 109),
        ("0 22 * * *", "0 6 * * *", "Asia/Tokyo", 112),
        ("0 6 * * SUN", "0 18 * * SUN", "UTC", 156),
        ("0 20 * * FRI", None, "UTC", 0),
    ],
)
def test_hours_of_a_week(down_at: str, up_at: str | None, zone: str, hours: float):
    """Those of the days, whatever the zone; a group that only goes down is counted as empty."""
    assert hours_up(schedule(down_at, up_at, zone)) == hours


def test_the_bill_says_what_a_week_costs_saves_and_keeps():
    """The hour's price with and without the nodes, over the hours."""
    stack_file = read_stack_file("dev", ROOT)
    groups = stack_file.pairs["trn:nodeGroups"]
    night = {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI"}
    changed = {**groups, "trn1-32xl": {**groups["trn1-32xl"], "schedule": night}}
    bill = bill_of(replace(stack_file, pairs={**stack_file.pairs, "trn:nodeGroups": changed}))
    group, always = bill.notes[-2:]
    assert group.startswith("trn1-32xl has nodes 65 of 168 hours a week, at 43.02 USD an hour: 2,796.")
    assert group.endswith("USD saved")
    assert always.startswith("while groups are empty 0.80 USD an hour go on, 133.66 a week: 2 x m5.xlarge 0.38, FSx for Lustre")
    assert "EKS control plane 0.10" in always


class _Line:
    name, now, idle = "g", Amount("2 x trn2.48xlarge (spot)", None), Amount("", 0.0)


def test_a_price_that_is_not_known_is_not_made_up():
    """Nothing is said to be saved."""
    assert next(week_notes({"g": 65}, [_Line()])) == "g has nodes 65 of 168 hours a week; their price is not known"


def test_without_a_schedule_nothing_is_said():
    """Every bill has notes enough."""
    assert list(week_notes({}, [_Line()])) == []
