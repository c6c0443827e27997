"""The drawing of a calendar in 80 columns, and the calendar as data."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal

from facts.document import Document, Part
from trn.before.capacity.calendar import Calendar, Held, RunningJob
from trn.cli.findings import Finding

LABEL, BAR = 22, 56
"""Columns of the names, and of the bars."""
BEFORE = timedelta(hours=6)
"""How much of what is over is shown."""


class ReservationPart(Part, frozen=True):
    """A capacity block or reservation."""

    id: str
    is_block: bool
    instance_type: str
    instances: int
    zone_id: str
    state: str
    """EC2's word."""
    starts_at: datetime | None
    ends_at: datetime | None
    """Null for one without an end."""
    emptied_at: datetime | None
    """When its nodes are gone."""
    sections: tuple[str, ...]
    """Of the stack file, that name it."""
    other_cluster: str | None


class JobPart(Part, frozen=True):
    """A job on nodes that do not stay."""

    name: str
    group: str | None
    pool: str | None
    running: bool
    starts_at: datetime | None
    ends_at: datetime | None


class CalendarReport(Document, frozen=True):
    """What `trn capacity calendar` shows."""

    schema_: Literal["trn-capacity-calendar"] = "trn-capacity-calendar"
    stack: str
    now: datetime
    reservations: tuple[ReservationPart, ...]
    jobs: tuple[JobPart, ...]
    jobs_unknown: str | None
    """Why the jobs are not known; null where they are."""
    findings: tuple[Finding, ...]


def lines(told: Calendar) -> Iterator[str]:
    """Times in UTC; `=` a block or reservation, `#` a job, `>` goes on, `!` a job on nodes that are gone by then."""
    if not told.held and not told.jobs:
        yield "no capacity block, no reservation and no job"
        return
    begin, end = _frame(told)
    first, last = f"{begin:%Y-%m-%d %H:%M}", f"{end:%Y-%m-%d %H:%M}"
    yield f"{'UTC':<{LABEL}}  {first}{last:>{BAR - len(first)}}"
    yield f"{'now':<{LABEL}}  {_mark(told.now, begin, end)}"
    drawn: set[str] = set()
    for one in told.held:
        yield f"{one.reservation.id:<{LABEL}}  {_bar(one.reservation.starts, one.reservation.ends, begin, end, '=')}"
        yield f"  {_what(one)}"
        for job in told.jobs:
            if job.path in one.paths:
                drawn.add(job.name)
                yield _job_line(job, one.emptied, begin, end)
    for job in told.jobs:
        if job.name not in drawn:
            yield _job_line(job, None, begin, end)
    if told.unseen:
        yield f"jobs are not known: {told.unseen}"


def _job_line(job: RunningJob, emptied: datetime | None, begin: datetime, end: datetime) -> str:
    bar = _bar(job.starts, job.ends, begin, end, "#")
    if emptied is not None:
        at = _column(emptied, begin, end)
        bar = bar[:at] + bar[at:].replace("#", "!").replace(">", "!")
    return f"  {job.name[: LABEL - 2]:<{LABEL - 2}}  {bar}".rstrip()


def _what(one: Held) -> str:
    reservation = one.reservation
    on = f"for {', '.join(one.paths)}" if one.paths else f"of cluster {one.other}" if one.other else "in no section of the stack file"
    return f"{reservation.total_count} x {reservation.instance_type}, {reservation.zone_id}, {reservation.state}, {on}"


def _frame(told: Calendar) -> tuple[datetime, datetime]:
    """First and last moment that are drawn."""
    begin = told.now - BEFORE
    ends = [moment for one in told.held for moment in (one.reservation.ends, one.reservation.starts) if moment is not None]
    ends += [job.ends for job in told.jobs if job.ends is not None]
    return begin, max([*ends, told.now + timedelta(days=1)])


def _column(moment: datetime, begin: datetime, end: datetime) -> int:
    share = (moment - begin) / (end - begin)
    return min(BAR - 1, max(0, round(share * (BAR - 1))))


def _mark(moment: datetime, begin: datetime, end: datetime) -> str:
    return f"{'':{_column(moment, begin, end)}}|" if _column(moment, begin, end) else "|"


def _bar(starts: datetime | None, ends: datetime | None, begin: datetime, end: datetime, sign: str) -> str:
    first = 0 if starts is None else _column(starts, begin, end)
    last = BAR - 1 if ends is None else _column(ends, begin, end)
    body = sign * max(1, last - first + 1)
    return f"{'.' * first}{body[:-1] + '>' if ends is None else body}".ljust(BAR, ".")


def report_of(told: Calendar, stack: str) -> CalendarReport:
    """For `--json`."""
    return CalendarReport(
        stack=stack,
        now=told.now,
        reservations=tuple(
            ReservationPart(
                id=one.reservation.id,
                is_block=one.reservation.is_block,
                instance_type=one.reservation.instance_type,
                instances=one.reservation.total_count,
                zone_id=one.reservation.zone_id,
                state=one.reservation.state,
                starts_at=one.reservation.starts,
                ends_at=one.reservation.ends,
                emptied_at=one.emptied,
                sections=tuple(one.paths),
                other_cluster=one.other or None,
            )
            for one in told.held
        ),
        jobs=tuple(
            JobPart(
                name=job.name,
                group=job.group or None,
                pool=job.pool or None,
                running=job.is_running,
                starts_at=job.starts,
                ends_at=job.ends,
            )
            for job in told.jobs
        ),
        jobs_unknown=told.unseen or None,
        findings=tuple(told.findings),
    )
