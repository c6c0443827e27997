"""The drawing of a calendar in 80 columns, and the calendar as data."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from trn.before.capacity.calendar import Calendar, Held, RunningJob

SCHEMA = "trn-capacity-calendar/1"
LABEL, BAR = 22, 56
"""Columns of the names, and of the bars."""
BEFORE = timedelta(hours=6)
"""How much of what is over is shown."""


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


def as_data(told: Calendar, stack: str) -> dict[str, Any]:
    """For `--json`."""
    return {
        "schema": SCHEMA,
        "stack": stack,
        "now": _text(told.now),
        "reservations": [
            {
                "id": one.reservation.id,
                "isBlock": one.reservation.is_block,
                "instanceType": one.reservation.instance_type,
                "instances": one.reservation.total_count,
                "zoneId": one.reservation.zone_id,
                "state": one.reservation.state,
                "startsAt": _text(one.reservation.starts),
                "endsAt": _text(one.reservation.ends),
                "emptiedAt": _text(one.emptied),
                "sections": list(one.paths),
                "otherCluster": one.other or None,
            }
            for one in told.held
        ],
        "jobs": [
            {
                "name": job.name,
                "group": job.group or None,
                "pool": job.pool or None,
                "running": job.is_running,
                "startsAt": _text(job.starts),
                "endsAt": _text(job.ends),
            }
            for job in told.jobs
        ],
        "jobsUnknown": told.unseen or None,
        "findings": [vars(finding) for finding in told.findings],
    }


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}"
