"""The rehearsed days as lines and as data: what happened when, how far the job came, what it cost and what goes on billing."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from facts.document import Document, Part
from simulator.calendar.run import Days, Stay
from simulator.costs import CostItem


class DaysEntry(Part, frozen=True):
    """Something that happens."""

    at: datetime
    subject: str
    what: str
    bad: bool


class DaysPlace(Part, frozen=True):
    """A node group or pool in these days."""

    name: str
    node_seconds: int
    """Of all its nodes together."""
    paid_node_seconds: int
    usd: float | None
    """Null where the price is not known."""
    saved_usd: float | None
    """Against nodes that run all the time; null on a block, and where no price is known."""


class DaysJob(Part, frozen=True):
    """How far the job came."""

    done_seconds: int
    lost_seconds: int
    stops: int
    ended: datetime | None
    """Null where it did not come to its end."""


class DaysReport(Document, frozen=True):
    """The days that `trn rehearse calendar` goes through."""

    schema_: Literal["trn-rehearse-calendar"] = "trn-rehearse-calendar"
    start: datetime
    end: datetime
    entries: tuple[DaysEntry, ...]
    places: tuple[DaysPlace, ...]
    job: DaysJob
    always_usd_per_hour: float
    """What goes on while all Neuron groups are empty, blocks aside."""


def report_of(days: Days, lines: list[CostItem]) -> DaysReport:
    """For `--json`."""
    job = days.job
    return DaysReport(
        start=days.start,
        end=days.end,
        entries=tuple(DaysEntry(at=entry.moment, subject=entry.subject, what=entry.what, bad=entry.is_bad) for entry in days.entries),
        places=tuple(
            DaysPlace(
                name=stay.place.name,
                node_seconds=round(stay.node_hours * 3600),
                paid_node_seconds=round(paid_hours(days, stay) * 3600),
                usd=usd(days, stay),
                saved_usd=saved(days, stay),
            )
            for stay in days.stays.values()
        ),
        job=DaysJob(done_seconds=round(job.done_hours * 3600), lost_seconds=round(job.lost_hours * 3600), stops=job.stops, ended=job.ended),
        always_usd_per_hour=round(always(lines), 6),
    )


def full_hours(days: Days, stay: Stay) -> float:
    """Node hours of the place if its nodes ran all the days."""
    return stay.place.nodes * (days.end - days.start).total_seconds() / 3600


def paid_hours(days: Days, stay: Stay) -> float:
    """Node hours that are paid: of a block all of it, whether its instances run or not."""
    block = stay.place.block
    return stay.node_hours if block is None else stay.place.nodes * block.length.total_seconds() / 3600


def usd(days: Days, stay: Stay) -> float | None:
    """What its nodes cost in these days; None where their price is not known."""
    price = stay.place.usd_per_hour
    return None if price is None else round(price * paid_hours(days, stay), 2)


def saved(days: Days, stay: Stay) -> float | None:
    """What the schedule saves against nodes that run all the time; None on a block, and where no price is known."""
    price = stay.place.usd_per_hour
    return None if price is None or stay.place.block is not None else round(price * (full_hours(days, stay) - stay.node_hours), 2)


def always(lines: list[CostItem]) -> float:
    """What is paid by the hour while all Neuron groups are empty, blocks aside."""
    return sum(line.idle.usd_per_hour or 0.0 for line in lines if "capacity block" not in line.what)


def lines_of(days: Days, costs: list[CostItem], stack: str) -> Iterator[tuple[str, bool]]:
    """Lines to print, each with whether it is bad news."""
    yield f"stack {stack}, {days.start:%Y-%m-%d %H:%M} to {days.end:%Y-%m-%d %H:%M} UTC: a simulated cloud, no account was touched", False
    yield "", False
    width = max((len(entry.subject) for entry in days.entries), default=0)
    for entry in days.entries:
        yield f"{entry.moment:%a %m-%d %H:%M}  {entry.subject:<{width}}  {entry.what}", entry.is_bad
    if not days.entries:
        yield "nothing happens: no schedule fires and no block begins in these days", False
    yield "", False
    job = days.job
    state = f"done {job.ended:%a %m-%d %H:%M}" if job.ended is not None else f"{job.done_hours:.1f} hours done"
    lost = f", {job.lost_hours:.1f} hours lost" if job.lost_hours else ", nothing lost"
    yield f"job      {state}, stopped {'once' if job.stops == 1 else f'{job.stops} times'}{lost}", bool(job.lost_hours)
    for stay in days.stays.values():
        yield f"nodes    {stay.place.name}: {_money(days, stay)}", False
    kept = ", ".join(f"{line.idle.what} {line.idle.usd_per_hour:.2f}" for line in _kept(costs))
    yield f"always   {always(costs):.2f} USD an hour also while groups are empty: {kept}", False


def _money(days: Days, stay: Stay) -> str:
    hours = f"{stay.node_hours:.1f} of {full_hours(days, stay):.0f} node hours"
    cost = usd(days, stay)
    if stay.place.block is not None:
        paid = f"{stay.node_hours:.1f} of the block's {paid_hours(days, stay):.0f} node hours"
        return f"{paid}, paid in advance" + ("" if cost is None else f" (about {cost:,.2f} USD)")
    if cost is None:
        return f"{hours}; their price is not known"
    return f"{hours}, {cost:,.2f} USD; {saved(days, stay):,.2f} USD saved"


def _kept(costs: list[CostItem]) -> list[CostItem]:
    kept = [line for line in costs if line.idle.usd_per_hour and "capacity block" not in line.what]
    return sorted(kept, key=lambda line: -(line.idle.usd_per_hour or 0))[:5]
