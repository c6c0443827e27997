"""Cron expressions: what is taken, what EventBridge gets, and when they fire."""

from datetime import UTC, datetime, timedelta

import pytest

from facts import cron


@pytest.mark.parametrize(
    "text", ["0 20 * * MON-FRI", "*/15 8-18 * * *", "0 8 1 * *", "0 0 1,15 JAN-MAR *", "30 6 * * SAT,SUN", "0 3/6 * * *"]
)
def test_what_is_taken_passes(text: str):
    """All of these mean the same in cron and in EventBridge."""
    assert cron.CRON.fits(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "0 20 * *", "0 20 * * *  ", "60 20 * * *", "0 24 * * *", "0 20 0 * *", "0 20 32 * *", "0 20 * 13 *", "0 20 * * 1-5", "0 20 1 * MON",
        "0 20 * * mon", "0 20 * * FRI-MON", "*/0 20 * * *", "0 20 ? * MON *", "@daily", "0 20 * FOO *", "5-2 * * * *", "0 20 L * *", "0 20 30 FEB *",
        "0 20 31 APR,JUN *",
    ],
)  # fmt: skip
def test_what_two_readers_take_differently_does_not(text: str):
    """Sunday is 0 in cron and 1 in EventBridge, which also takes one kind of day only."""
    assert not cron.CRON.fits(text)


def test_eventbridge_gets_six_fields_with_one_kind_of_day():
    """It refuses `*` in both fields of a day (EventBridge Scheduler user guide, schedule-types)."""
    texts = ("0 20 * * MON-FRI", "0 8 1 * *", "0 8 * * *")
    assert [cron.eventbridge(text) for text in texts] == ["cron(0 20 ? * MON-FRI *)", "cron(0 8 1 * ? *)", "cron(0 8 * * ? *)"]


def fired(text: str, zone: str, start: str, days: int) -> list[str]:
    """Moments within some days from a day in UTC on, in UTC."""
    first = datetime.fromisoformat(start).replace(tzinfo=UTC)
    return [f"{moment.astimezone(UTC):%a %H:%M}" for moment in cron.moments(text, zone, first, first + timedelta(days=days))]


def test_weekdays_are_those_of_the_zone():
    """20:00 in Los Angeles is the next day in UTC."""
    assert fired("0 20 * * FRI", "America/Los_Angeles", "2026-11-23", 7) == ["Sat 04:00"]
    assert fired("0 20 * * MON-FRI", "UTC", "2026-11-23", 7) == [f"{day} 20:00" for day in ("Mon", "Tue", "Wed", "Thu", "Fri")]


def test_the_start_counts_and_the_end_does_not():
    """Weeks that follow one another share no moment and leave none out."""
    assert fired("0 0 * * *", "UTC", "2026-11-23", 2) == ["Mon 00:00", "Tue 00:00"]


def test_an_hour_that_daylight_saving_leaves_out_does_not_fire():
    """2:30 on 2026-03-29 is on no clock in Berlin; the day before and after it is."""
    assert fired("30 2 * * *", "Europe/Berlin", "2026-03-28", 3) == ["Sat 01:30", "Mon 00:30"]


def test_an_hour_that_daylight_saving_repeats_fires_once():
    """2:30 on 2026-10-25 is on the clocks of Berlin twice."""
    assert fired("30 2 * * *", "Europe/Berlin", "2026-10-25", 1) == ["Sun 00:30"]


def test_two_expressions_coincide_where_one_moment_is_in_both():
    """Which of two schedules comes last at one moment is not known."""
    assert cron.coincide("0 7 * * MON", "0 7-9 1 * *")
    assert not cron.coincide("0 7 * * MON", "0 7 * * TUE-SUN")
    assert not cron.coincide("0 7 * * *", "30 7 * * *")
    assert cron.coincide("0 7 29 FEB *", "0 7 * * *")
    # January 1 is a Monday in some years only.
    assert all(cron.coincide("0 7 1 JAN *", f"0 7 * * {day}") for day in cron.WEEKDAYS)
