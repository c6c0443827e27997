"""The head of a page: what was rehearsed, and the figures that it is judged by."""

import re
from collections.abc import Iterable, Sequence

from facts.prices import HOURS_PER_MONTH
from report.inventory import Inventory
from report.runs import Run
from report.tables import tile
from report.text import escaped
from simulator.recording import Recording
from simulator.report.schema import Cost, Report
from simulator.report.words import duration, plural

MOST_TYPES = 4
"""Instance types that are named."""


def header(title: str, beside: str = "") -> str:
    """Title, and that it is a simulation. `beside` is HTML that follows the title."""
    said = "This is a simulation: nothing was made in AWS, times are modelled, and prices are list prices."
    return f'<header><h1>{escaped(title)}</h1>{beside}<p class="muted">{said}</p></header>'


def what(report: Report, recording: Recording) -> str:
    """What was rehearsed: where, which versions, how many nodes of which type, and how old its prices are."""
    inventory = Inventory(recording)
    # Sources differ in age: what was read first is what a reader must doubt first.
    facts = [
        ("Region", " ".join([inventory.region, *([f"({', '.join(inventory.zone_ids)})"] if inventory.zone_ids else [])])),
        ("Kubernetes", inventory.kubernetes_version),
        ("Nodes", _nodes(inventory)),
        *([("Storage", ", ".join(inventory.file_systems))] if inventory.file_systems else []),
        ("Resources", f"{report.program.resources:,}"),
        ("Prices", _dates(line.price_source for line in report.cost.items)),
    ]
    listed = "".join(f"<div><dt>{name}</dt><dd>{escaped(value)}</dd></div>" for name, value in facts)
    return f'<dl class="what">{listed}</dl>'


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


def figures(report: Report, runs: Sequence[Run]) -> str:
    """The four answers: ready when, what it costs, gone when, what stays."""
    ups, destroys = ([run for run in runs if run.phase == phase] for phase in ("up", "destroy"))
    tiles = [
        _time("Time to ready", ups, "not ready", _above_bound(ups[0])),
        _cost(report.cost),
        _time("Time to destroy", destroys, "not gone", _above_bound(destroys[0])),
        _left_behind(report),
    ]
    return f'<div class="figures">{"".join(tiles)}</div>'


def _cost(cost: Cost) -> str:
    """All three sums: one alone would be taken for what the month costs."""
    day, month = cost.now.usd_per_hour * 24, cost.idle.usd_per_hour * HOURS_PER_MONTH
    lines = [
        ("at full size", f"{cost.full_size.words()} an hour"),
        ("idle", f"{cost.idle.words()} an hour, {month:,.0f} a month"),
    ]
    listed = "".join(f'<span class="muted">{name}: {escaped(words)}</span>' for name, words in lines)
    return (
        f'<div class="figure"><span class="muted">Cost now</span><b>USD {escaped(cost.now.words())}</b>'
        f'<span class="muted">an hour, {day:,.0f} a day</span>{listed}</div>'
    )


def _above_bound(run: Run) -> str:
    if not run.lower_bound_s:
        return ""
    return f"{100 * (run.seconds / run.lower_bound_s - 1):.1f} % above the lower bound of {duration(run.lower_bound_s)}"


def _time(name: str, runs: Sequence[Run], never: str, beside: str) -> str:
    """The time of all runs together, where the last one ended well."""
    stopped = "killed" if runs[-1].ended == "killed" else "stopped by a refusal"
    if runs[-1].ended != "well":
        return tile(name, never, f"{stopped} after {duration(runs[-1].seconds)}", bad=True)
    if len(runs) > 1:
        beside = f"in {len(runs)} runs: {', '.join(duration(run.seconds) for run in runs)}"
    return tile(name, duration(sum(run.seconds for run in runs)), beside)


def _left_behind(report: Report) -> str:
    left = [report.destroy, *report.destroy_reruns][-1].leftovers
    if not left:
        return tile("Left behind", "nothing", "no resource, backup or namespace remains")
    return tile("Left behind", plural(len(left), "object"), "named above", bad=True)
