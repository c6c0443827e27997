"""Schedules that set the sizes of node groups, as the program registers them."""

import json
from functools import cache
from typing import Any

import pytest

from simulator.recording import Recording, Registration
from tests.stacks.samples import recorded
from tests.support import dev_configuration, merged, record_stack

BLOCK, NIGHT = "capacity block with times", "empty at night"


def of_type(recording: Recording, suffix: str) -> dict[str, Registration]:
    """Resources whose type ends so, by logical name."""
    return {item.name: item for item in recording.resources() if item.type.endswith(suffix)}


def schedules(name: str) -> dict[str, Registration]:
    """Schedules of one sample."""
    return of_type(recorded(name), ":Schedule")


def asked(schedule: Registration) -> dict[str, Any]:
    """The request that a schedule makes."""
    return json.loads(schedule.inputs["target"]["input"])


def test_a_block_fills_its_group_at_the_start_and_empties_it_before_the_end():
    """An hour before: the default of `checkpointMinutes`."""
    there = schedules(BLOCK)
    expressions = {key: item.inputs["scheduleExpression"] for key, item in there.items()}
    assert expressions == {"schedules-more-up": "at(2026-12-01T11:30:00)", "schedules-more-down": "at(2026-12-03T10:30:00)"}
    assert {item.inputs["scheduleExpressionTimezone"] for item in there.values()} == {"UTC"}


def test_a_schedule_says_the_size_the_limits_and_the_group():
    """Members have a capital: CreateSchedule refuses EKS's own spelling."""
    sizes = {"MinSize": 0, "MaxSize": 1}
    assert asked(schedules(BLOCK)["schedules-more-up"]) == {
        "ClusterName": dev_configuration()["name"], "NodegroupName": "more", "ScalingConfig": {**sizes, "DesiredSize": 1},
    }  # fmt: skip
    assert asked(schedules(BLOCK)["schedules-more-down"])["ScalingConfig"] == {**sizes, "DesiredSize": 0}


def test_hours_of_the_week_keep_their_time_zone():
    """Daylight saving is for EventBridge to follow."""
    there = schedules(NIGHT)
    expressions = {key: item.inputs["scheduleExpression"] for key, item in there.items()}
    assert expressions == {"schedules-more-down": "cron(0 20 ? * MON-FRI *)", "schedules-more-up": "cron(0 7 ? * MON-FRI *)"}
    assert {item.inputs["scheduleExpressionTimezone"] for item in there.values()} == {"Europe/Berlin"}


def test_a_group_on_a_block_is_made_empty_and_one_with_a_schedule_full():
    """Before the block begins EC2 launches nothing into it, and the group would end as CREATE_FAILED."""
    sizes = {name: of_type(recorded(name), ":NodeGroup")["more"].inputs["scalingConfig"] for name in (BLOCK, NIGHT)}
    assert {name: int(size["desiredSize"]) for name, size in sizes.items()} == {BLOCK: 0, NIGHT: 1}


@pytest.mark.parametrize("name", [BLOCK, NIGHT])
def test_a_later_run_leaves_the_size_to_the_schedules(name: str):
    """An `up` at night would otherwise start the nodes again, or stop those of a running block. The limits too: with a changed one the
    provider sends the size of its last run."""
    groups = of_type(recorded(name), ":NodeGroup")
    assert groups["more"].options["ignoreChanges"] == ["scalingConfig"]
    assert "ignoreChanges" not in groups["trn1-32xl"].options or not groups["trn1-32xl"].options["ignoreChanges"]


def test_the_role_may_size_these_groups_and_nothing_else():
    """And only schedules of the cluster's own group may take it on."""
    roles = of_type(recorded(BLOCK), ":Role")
    trust = json.loads(roles["schedules"].inputs["assumeRolePolicy"])["Statement"]
    assert [statement["Principal"] for statement in trust] == [{"Service": "scheduler.amazonaws.com"}]
    (source,) = (statement["Condition"]["ArnLike"]["aws:SourceArn"] for statement in trust)
    (group,) = of_type(recorded(BLOCK), ":ScheduleGroup").values()
    assert source == f"arn:aws:scheduler:us-west-2:*:schedule-group/{group.inputs['name']}"
    (document,) = (
        json.loads(item.inputs["policy"]) for item in of_type(recorded(BLOCK), ":RolePolicy").values() if "schedules" in item.name
    )
    (statement,) = document["Statement"]
    assert statement["Action"] == "eks:UpdateNodegroupConfig"
    assert statement["Resource"] == [f"arn:aws:eks:us-west-2:*:nodegroup/{group.inputs['name']}/more/*"]


def test_a_call_that_comes_late_is_tried_for_half_an_hour():
    """EKS refuses a change while another goes on; hours later the moment is over."""
    policies = [item.inputs["target"]["retryPolicy"] for item in schedules(BLOCK).values()]
    assert policies == [{"maximumEventAgeInSeconds": 1800, "maximumRetryAttempts": 20}] * 2


def test_a_group_that_is_never_made_keeps_no_other_from_being_emptied():
    """Without capacity a group fails after 33 minutes; the schedules of the other wait for their own group alone."""
    night = {"downAt": "0 20 * * *"}
    second = {"instanceType": "trn1.32xlarge", "size": 1, "releaseVersion": "1.35.4-20260505", "schedule": night}
    made = record_stack(merged(dev_configuration(), nodeGroups={"trn1-32xl": {"schedule": night}, "second": second}))
    groups = {item.urn: item.name for item in of_type(made, ":NodeGroup").values()}
    waits = {key: [groups[urn] for urn in item.dependencies if urn in groups] for key, item in of_type(made, ":Schedule").items()}
    assert waits == {"schedules-trn1-32xl-down": ["trn1-32xl"], "schedules-second-down": ["second"]}


@cache
def _friday() -> Recording:
    changes = {"nodeGroups": {"trn1-32xl": {"schedule": {"downAt": "0 20 * * FRI"}}}}
    return record_stack(merged(dev_configuration(), **changes))


def test_a_schedule_without_a_way_up_has_one_direction():
    """The group then waits for `trn scale`."""
    assert list(of_type(_friday(), ":Schedule")) == ["schedules-trn1-32xl-down"]


def test_a_stack_without_times_has_no_schedules_and_no_role_for_them():
    """Nothing is made that nothing uses."""
    assert not of_type(recorded("shipped"), ":ScheduleGroup")
    assert "schedules" not in of_type(recorded("shipped"), ":Role")
