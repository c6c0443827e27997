"""One page about a rehearsal or a change that needs no other file: what it was, what a reader judges it by, the cluster, every run, the bill."""

import re
from collections.abc import Iterable, Mapping, Sequence

from facts.prices import HOURS_PER_MONTH
from report.change import ChangeRun
from report.chart import Chart
from report.inventory import Inventory
from report.parts import Linked, Part, linked, parts_of
from report.runs import Run, legend, runs_of
from report.templating import Tile, rendered
from report.trouble import trouble_of
from simulator.recording import Recording
from simulator.report.schema import Cost, Report
from simulator.report.words import duration, plural

MOST_CHIPS = 12
"""Boxes in one place of the picture that are seen before it is unfolded."""
MOST_TYPES = 4
"""Instance types that are named."""


def page_html(report: Report, recording: Recording, change: ChangeRun | None = None) -> str:
    """The whole page; of a change, `recording` is the cluster as it is after it."""
    # A change is what its reader came for: its runs are before those of the cluster that it is tried on.
    runs = [*(change.runs if change is not None else ()), *runs_of(report)]
    parts, inventory = _parts(report, recording), Inventory(recording)
    return rendered(
        "page.html",
        title=f"{'Rehearsal' if change is None else 'Change'} of {report.stack}",
        report=report,
        change=change,
        what=_what(report, inventory),
        figures=_figures(report, runs) if change is None else (),
        trouble=trouble_of(report, runs),
        picture=inventory.picture(),
        most_chips=MOST_CHIPS,
        legend=legend(runs),
        charts=[Chart(run, parts) for run in runs],
        totals=_totals(report.cost),
    )


def _parts(report: Report, recording: Recording) -> Mapping[str, Part]:
    """Of what was there before a change as well: a report knows parents and dependencies."""
    before = [
        Linked(item.urn, item.type, item.parent, frozenset(item.depends_on)) for up in (report.up, *report.reruns) for item in up.resources
    ]
    return parts_of([*before, *(linked(item) for item in recording)])


def _what(report: Report, inventory: Inventory) -> list[tuple[str, str]]:
    """What was rehearsed: where, which versions, how many nodes of which type, and how old its prices are."""
    # Sources differ in age: what was read first is what a reader must doubt first.
    return [
        ("Region", " ".join([inventory.region, *([f"({', '.join(inventory.zone_ids)})"] if inventory.zone_ids else [])])),
        ("Kubernetes", inventory.kubernetes_version),
        ("Nodes", _nodes(inventory)),
        *([("Storage", ", ".join(inventory.file_systems))] if inventory.file_systems else []),
        ("Resources", f"{report.program.resources:,}"),
        ("Prices", _dates(line.price_source for line in report.cost.items)),
    ]


def _nodes(inventory: Inventory) -> str:
    # A count stays with its type where the line is broken.
    counts = [f"{count} x {name}".replace(" ", "\u00a0") for name, count in inventory.node_counts().items()]
    more = [f"{len(counts) - MOST_TYPES} types more"] if len(counts) > MOST_TYPES else []
    return ", ".join([*counts[:MOST_TYPES], *more, *inventory.pools()]) or "none"


def _dates(sources: Iterable[str]) -> str:
    """When the oldest and the newest of the prices were read: `read 2026-07 to 2026-11`."""
    dates = sorted({date[:7] for source in sources for date in re.findall(r"\d{4}-\d{2}(?:-\d{2})?", source)})
    if not dates:
        return "none read"
    return f"read {dates[0]} to {dates[-1]}" if dates[0] != dates[-1] else f"read {dates[0]}"


def _figures(report: Report, runs: Sequence[Run]) -> list[Tile]:
    """The four answers: ready when, what it costs, gone when, what stays."""
    ups, destroys = ([run for run in runs if run.phase == phase] for phase in ("up", "destroy"))
    cost = report.cost
    # All three sums: one alone would be taken for what the month costs.
    sums = [
        f"an hour, {cost.now.usd_per_hour * 24:,.0f} a day",
        f"at full size: {cost.full_size.words()} an hour",
        f"idle: {cost.idle.words()} an hour, {cost.idle.usd_per_hour * HOURS_PER_MONTH:,.0f} a month",
    ]
    left = [report.destroy, *report.destroy_reruns][-1].leftovers
    return [
        _time("Time to ready", ups, "not ready"),
        Tile("Cost now", f"USD {cost.now.words()}", sums),
        _time("Time to destroy", destroys, "not gone"),
        Tile("Left behind", plural(len(left), "object"), ["named above"], bad=True)
        if left
        else Tile("Left behind", "nothing", ["no resource, backup or namespace remains"]),
    ]


def _time(name: str, runs: Sequence[Run], never: str) -> Tile:
    """The time of all runs together, where the last one ended well."""
    first, last = runs[0], runs[-1]
    if last.ended != "well":
        stopped = "killed" if last.ended == "killed" else "stopped by a refusal"
        return Tile(name, never, [f"{stopped} after {duration(last.seconds)}"], bad=True)
    beside = ""
    if len(runs) > 1:
        beside = f"in {len(runs)} runs: {', '.join(duration(run.seconds) for run in runs)}"
    elif first.lower_bound_s:
        beside = f"{100 * (first.seconds / first.lower_bound_s - 1):.1f} % above the lower bound of {duration(first.lower_bound_s)}"
    return Tile(name, duration(sum(run.seconds for run in runs)), [beside])


def _totals(cost: Cost) -> list[str]:
    sums = (cost.now, cost.full_size, cost.idle)
    return ["Total", "", *(f"{found.usd_per_hour:,.4f}{' + what has no known price' * bool(found.without)}" for found in sums)]
