"""One run as a chart in a page: a row for each step, and under them what the account costs, all on one axis of time.

Places on the axis are percentages, so that the chart fits a phone and a sheet of paper alike, and widening one box zooms.
"""

import json
import re
from collections.abc import Mapping, Sequence

from report.parts import Part
from report.rows import Rows, shapes, slot_line
from report.runs import Run, Step
from report.tables import table, type_cell
from report.text import escaped
from simulator.report.schema import CostPoint
from simulator.report.words import duration, plural

MOST_TICKS = 6
"""Without the script, which counts by the width that there is, labels must fit a phone."""
TICK_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
BEYOND = 1.04
"""The axis is longer than the run, so that marks at the end of bars are visible."""
_HINT = (
    "Keys: \u2191 \u2193 walk, Enter opens, \u2190 \u2192 pan, + \u2212 zoom, 0 shows the whole run, / searches. "
    "Mouse: Ctrl and wheel zoom, drag pans."
)
_LEGEND = (
    ("critical", "critical path"),
    ("", "others"),
    ("slot", "waits for a free slot"),
    ("refused", "refused"),
    ("retried", "retried until it worked"),
    ("cut", "cut: the run was killed"),
)


_BUTTONS = "".join(
    f'<button type="button" data-do="{act}" aria-label="{words}" title="{words}">{sign}</button>'
    for act, sign, words in (
        ("in", "+", "Zoom in"),
        ("out", "\u2212", "Zoom out"),
        ("whole", "Whole run", "Show the whole run"),
        ("open", "Open all", "Show every step"),
        ("fold", "Fold", "Show what matters"),
        ("length", "Longest first", "Longest steps first; press again for the order of start"),
    )
)
_TOOLS = f'<div class="tools">{_BUTTONS}</div>'


def slug(title: str) -> str:
    """A run's title as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def run_section(run: Run, parts: Mapping[str, Part] | None = None) -> str:
    """A run with its heading, its chart, and the tables behind it. `parts` tells where resources belong, by URN."""
    name = slug(run.title)
    mark = ' class="bad"' if run.failed else ""
    return "\n".join(
        [
            f'<section class="run" id="{name}" aria-labelledby="{name}-title">',
            f'<h3 id="{name}-title"{mark}>{escaped(run.title)}: {escaped(run.words)}</h3><p class="muted">{_counted(run)}.</p>',
            _before(run),
            _TOOLS,
            _chart(run, name, parts or {}),
            f'<p class="muted hint">{_HINT}</p>',
            _critical_path(run),
            _levels(run),
            "</section>",
        ]
    )


def _counted(run: Run) -> str:
    """How many resources it was about, and how many steps where one resource took two of them."""
    resources = len({step.urn for step in run.steps})
    words = [plural(resources, "resource") + (f" in {len(run.steps)} steps" if len(run.steps) > resources else "")]
    words += [f"{plural(run.kept, 'resource')} there already"] if run.kept else []
    words += [f"{plural(run.not_started, 'resource')} not begun"] if run.not_started else []
    retried = sum(1 for step in run.steps if step.trouble == "retried")
    return ", ".join(words + ([f"{retried} retried"] if retried else []))


def legend(runs: Sequence[Run]) -> str:
    """What colours, patterns and marks mean, once for all charts: those that occur, since red that is always there is not read."""
    steps = [step for run in runs for step in run.steps]
    found = {"critical", "", *(step.trouble for step in steps), *(["slot"] if any(step.slot_wait_seconds for step in steps) else [])}
    items = [f"<li>{_sample(style)}{words}</li>" for style, words in _LEGEND if style in found]
    if any(run.lower_bound_s is not None for run in runs):
        line = '<svg width="12" height="22" aria-hidden="true"><line class="bound" x1="50%" x2="50%" y2="100%"/></svg>'
        items.append(f"<li>{line}lower bound: the shortest time that AWS&#x27;s own chains allow</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _sample(style: str) -> str:
    """A bar as it is drawn, with room for the mark at its end."""
    is_marked = style in ("refused", "cut")
    drawn = slot_line(3.0, 95.0) if style == "slot" else shapes(style, 3.0, 70.0 if is_marked else 95.0)
    return f'<svg class="row {style}" width="{38 if is_marked else 28}" height="22" aria-hidden="true">{drawn}</svg>'


def _before(run: Run) -> str:
    if not run.before:
        return ""
    commands = "".join(f"<li><code>{escaped(command)}</code></li>" for command in run.before)
    return f'<div class="before">Done before, because of how the last run ended:<ol>{commands}</ol></div>'


def _chart(run: Run, name: str, parts: Mapping[str, Part]) -> str:
    end = run.axis_s * BEYOND
    ticks = _ticks(end)
    axis = "".join(f'<text x="{_percent(at, end)}" dx="4" y="14">{words}</text>' for at, words in ticks if at < 0.9 * end)
    lines = "".join(f'<line class="grid" x1="{_percent(at, end)}" x2="{_percent(at, end)}" y2="100%"/>' for at, words in ticks)
    bound = ""
    if run.lower_bound_s is not None:
        at = _percent(run.lower_bound_s, end)
        bound = f'<line class="bound" x1="{at}" x2="{at}" y2="100%"><title>lower bound {duration(run.lower_bound_s)}</title></line>'
    rows = Rows(run, name, end, parts).html()
    points = json.dumps([[point.at, point.usd_per_hour, point.usd] for point in run.cost], separators=(",", ":"))
    return (
        f'<div class="chart" data-seconds="{end:.1f}" data-ran="{run.seconds:.1f}" data-cost="{escaped(points)}" role="group" '
        f'aria-label="Timeline of {escaped(run.title)}">'
        f'<div class="lane under" aria-hidden="true"><svg class="time"><g class="lines">{lines}</g>{bound}</svg></div>'
        f'<div class="axis"><span class="readout" aria-live="off"></span>'
        f'<div class="lane"><svg class="time" aria-hidden="true"><g class="ticks">{axis}</g></svg></div></div>'
        f'<div class="rows">\n{rows}\n</div>{_cost(run.cost, run.seconds, end)}</div>'
    )


def _ticks(end: float) -> list[tuple[float, str]]:
    step = next((step for step in TICK_STEPS_S if end / step <= MOST_TICKS), end / MOST_TICKS)
    return [(index * step, duration(index * step).replace(" 00 s", "").replace(" 00 min", "")) for index in range(int(end / step) + 1)]


def _cost(points: Sequence[CostPoint], seconds: float, end: float) -> str:
    """The rate as a filled line of steps, and the sum as a dashed line, each as high as it gets."""
    if not points:
        return ""
    most, spent = max(point.usd_per_hour for point in points), points[-1].usd
    area, line, before = f"M0 {_height(points[0].usd_per_hour, most)}", f"M0 {_height(points[0].usd, spent)}", points[0]
    for point in points[1:]:
        area += f"H{point.at:.1f}"
        if point.usd_per_hour != before.usd_per_hour:
            area += f"V{_height(point.usd_per_hour, most)}"
        line += f"L{point.at:.1f} {_height(point.usd, spent)}"
        before = point
    area += f"H{seconds:.1f}"
    words = f"up to {most:,.2f} USD an hour; {spent:,.2f} USD spent"
    return (
        f'<div class="cost"><span class="name"><b>Cost</b> <i>{words}</i><i class="keys"><span class="rate">per hour</span> '
        f'<span class="sum">spent</span></i></span><div class="lane"><svg class="time" viewBox="0 0 {end:.1f} 100" preserveAspectRatio="none" '
        f'role="img" aria-label="{words}"><path class="area" d="{area}V100H0z"/><path class="rate" d="{area}"/><path class="sum" d="{line}"/>'
        "</svg></div></div>"
    )


def _height(value: float, most: float) -> str:
    """Down from the top, of 100, with room for the line's own width."""
    return f"{98 - 92 * value / most if most else 98:.1f}"


def _critical_path(run: Run) -> str:
    links = [step for step in run.steps if run.is_critical(step)]
    if not links:
        return ""
    rows = [[f"{escaped(step.name)} {type_cell(step.type)}", f"{step.start:.1f}", f"{step.seconds:.1f}"] for step in links]
    words = '<p class="muted">The chain of dependencies that ends last; only a faster step here makes the run shorter.</p>'
    body = table(("Step", "Start, s", "Seconds"), rows, numbers=(1, 2))
    return f'<details class="more"><summary>Critical path, {plural(len(links), "link")}</summary>{words}{body}</details>'


def _levels(run: Run) -> str:
    levels: dict[int, list[Step]] = {}
    for step in run.steps:
        if step.level is not None:
            levels.setdefault(step.level, []).append(step)
    if not levels:
        return ""
    rows: list[list[str]] = []
    for level, steps in sorted(levels.items()):
        start, end = min(step.start for step in steps), max(step.end for step in steps)
        longest = max(steps, key=lambda step: (step.seconds, step.urn))
        rows.append(
            [str(level), str(len(steps)), f"{start:.1f}", f"{end - start:.1f}", f"{escaped(longest.name)} {type_cell(longest.type)}"]
        )
    words = '<p class="muted">A level starts when the one before has ended.</p>'
    body = table(("Level", "Deletions", "Start, s", "Seconds", "Longest deletion"), rows, numbers=(0, 1, 2, 3))
    return f'<details class="more"><summary>Level by level, {plural(len(levels), "level")}</summary>{words}{body}</details>'


def _percent(seconds: float, end: float) -> str:
    return f"{100 * seconds / end:.2f}%"
