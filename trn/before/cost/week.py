"""What schedules save in an ordinary week, and what goes on billing while a group has no nodes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from facts import cron
from simulator.cost_figures import Amount, figure
from stacks.group_times import Schedule
from stacks.settings import Settings

WEEK, WEEK_H = timedelta(weeks=1), 168
ORDINARY = datetime(2027, 1, 11, tzinfo=UTC)
"""A Monday; no clock is changed in its week."""
SHOWN = 4


def hours_up(schedule: Schedule) -> float:
    """Hours of an ordinary week in which the group has nodes; 0 for one that only goes down."""
    if schedule.up_at is None:
        return 0.0
    before, end = ORDINARY - 5 * WEEK, ORDINARY + WEEK
    calls = [(moment, False) for moment in cron.moments(schedule.down_at, schedule.time_zone, before, end)]
    calls += [(moment, True) for moment in cron.moments(schedule.up_at, schedule.time_zone, before, end)]
    is_up, since, hours = False, ORDINARY, 0.0
    for moment, goes_up in sorted(calls):
        if moment > ORDINARY and is_up:
            hours += (moment - max(since, ORDINARY)).total_seconds() / 3600
        is_up, since = goes_up, moment
    return round(hours + ((end - max(since, ORDINARY)).total_seconds() / 3600 if is_up else 0.0), 2)


class Priced(Protocol):
    """One line of a bill."""

    @property
    def name(self) -> str:
        """The resource's."""
        ...

    @property
    def now(self) -> Amount:
        """While the group has its nodes."""
        ...

    @property
    def idle(self) -> Amount:
        """While it has none."""
        ...


def weekly_hours(settings: Settings) -> dict[str, float]:
    """Hours of an ordinary week with nodes, by group, of those with a schedule."""
    return {name: hours_up(group.schedule) for name, group in settings.node_groups.items() if group.schedule is not None}


def week_notes(hours: Mapping[str, float], lines: Sequence[Priced]) -> Iterator[str]:
    """One sentence for each group with a schedule, and one for what is paid all the week."""
    for name, up in hours.items():
        now, idle = (figure(amounts) for amounts in zip(*((line.now, line.idle) for line in lines if line.name == name), strict=True))
        if now.without:
            yield f"{name} has nodes {up:g} of {WEEK_H} hours a week; their price is not known"
            continue
        usd = now.usd_per_hour - idle.usd_per_hour
        sums = f"{usd * up:,.2f} USD a week, {usd * (WEEK_H - up):,.2f} USD saved"
        yield f"{name} has nodes {up:g} of {WEEK_H} hours a week, at {usd:.2f} USD an hour: {sums}"
    if hours:
        idle = figure(line.idle for line in lines)
        kept = sorted((line for line in lines if line.idle.usd_per_hour), key=lambda line: -(line.idle.usd_per_hour or 0))
        named = ", ".join(f"{line.idle.what} {line.idle.usd_per_hour:.2f}" for line in kept[:SHOWN])
        yield f"while groups are empty {idle.usd_per_hour:.2f} USD an hour go on, {idle.usd_per_hour * WEEK_H:,.2f} a week: {named}"
