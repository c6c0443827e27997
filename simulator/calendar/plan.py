"""What the days are made from: where nodes may be, the job, and the calls that the recorded schedules make."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from facts import cron
from facts.capacity_blocks import Window
from simulator.account import kinds
from simulator.recording import Recording, Registration
from simulator.size_schedules import sizing_of


@dataclass(frozen=True)
class Place:
    """A node group, or a pool of Karpenter's, as large as it gets."""

    name: str
    nodes: int
    usd_per_hour: float | None
    """One node; None where the price is not known."""
    block: Window | None = None
    """The capacity block that its nodes come from, which is paid in advance."""
    is_pool: bool = False


@dataclass(frozen=True)
class Work:
    """The job: it runs wherever there are nodes, one place at a time, and goes on from its newest checkpoint."""

    hours: float
    """What it has to do."""
    grace: timedelta = timedelta(minutes=5)
    """How long its pods take to save a checkpoint after SIGTERM."""
    interval: timedelta = timedelta(minutes=30)
    """From one checkpoint to the next while it runs."""


@dataclass(frozen=True)
class Firing:
    """One call of a schedule."""

    moment: datetime
    group: str
    size: int


def firings(recording: Recording, start: datetime, end: datetime) -> list[Firing]:
    """Calls of all recorded schedules from `start` on and before `end`, in the order of time."""
    found = [firing for item in recording.of_type(kinds.SCHEDULE) for firing in _firings(item, start, end)]
    return sorted(found, key=lambda firing: (firing.moment, firing.group))


def sizes_before(recording: Recording, start: datetime) -> dict[str, int]:
    """Sizes that schedules have given to groups by a moment; groups whose schedules have not fired for a month are not in it."""
    return {firing.group: firing.size for firing in firings(recording, start - timedelta(days=32), start)}


def _firings(schedule: Registration, start: datetime, end: datetime) -> Iterator[Firing]:
    asked = sizing_of(schedule)
    if asked is None:
        return
    for moment in _moments(schedule, start, end):
        yield Firing(moment.astimezone(UTC), asked.group, asked.size)


def _moments(schedule: Registration, start: datetime, end: datetime) -> Iterator[datetime]:
    kind, _, rest = str(schedule.inputs["scheduleExpression"]).partition("(")
    if kind == "at":
        moment = datetime.fromisoformat(rest.rstrip(")")).replace(tzinfo=UTC)
        if start <= moment < end:
            yield moment
        return
    yield from cron.moments(cron.from_eventbridge(f"{kind}({rest}"), str(schedule.inputs["scheduleExpressionTimezone"]), start, end)
