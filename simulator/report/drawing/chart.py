"""One run as a chart in a page: a row for each step, and under them what the account costs, all on one axis of time.

Places on the axis are percentages, so that the chart fits a phone and a sheet of paper alike, and widening one box zooms.
"""

import json
import re
from collections.abc import Iterator, Sequence

from simulator.report.drawing.runs import DRAWN_WORDS, Run, Step
from simulator.report.drawing.tables import prose, table, type_cell
from simulator.report.drawing.text import duration, escaped, plural, short_type
from simulator.report.schema import CostPoint

MOST_TICKS = 6
"""Without the script, which counts by the width that there is, labels must fit a phone."""
TICK_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
BEYOND = 1.04
"""The axis is longer than the run, so that marks at the end of bars are visible."""
_NEAR_LEFT, _NEAR_RIGHT = 26.0, 74.0
"""Percent of the axis that the words beside a bar need on a phone."""
_HINT = (
    "Ctrl and wheel, pinch, + and \u2212 zoom; drag, \u2190 and \u2192 pan; double click and 0 show the whole run; "
    "\u2191 and \u2193 walk; click and Enter keep a step open"
)
_SIGNS = {"create": "+", "update": "~", "delete": "-"}
"""As the engine marks what it does."""
_LEGEND = (
    ("critical", "critical path"),
    ("", "others"),
    ("refused", "refused"),
    ("retried", "retried until it worked"),
    ("cut", "cut: the run was killed"),
)


def slug(title: str) -> str:
    """A run's title as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def run_section(run: Run) -> str:
    """A run with its heading, its chart, and the tables behind it."""
    name = slug(run.title)
    drawn = sum(1 for step in run.steps if run.is_drawn(step))
    mark = ' class="bad"' if run.failed else ""
    beside = [f"{plural(len(run.steps), 'step')}"]
    beside += [f"{plural(run.kept, 'resource')} there already"] if run.kept else []
    beside += [f"{plural(run.not_started, 'resource')} not begun"] if run.not_started else []
    retried = sum(1 for step in run.steps if step.trouble == "retried")
    beside += [f"{retried} retried"] if retried else []
    return "\n".join(
        [
            f'<section class="run" id="{name}" aria-labelledby="{name}-title">',
            f'<h3 id="{name}-title"{mark}>{escaped(run.title)}: {escaped(run.words)}</h3><p class="muted">{", ".join(beside)}.</p>',
            _before(run),
            _tools(run, drawn),
            _chart(run, name),
            f'<p class="muted hint">{_HINT}.</p>',
            _critical_path(run),
            _levels(run),
            "</section>",
        ]
    )


def legend(runs: Sequence[Run]) -> str:
    """What colours, patterns and marks mean, once for all charts: those that occur, since red that is always there is not read."""
    found = {"critical", "", *(step.trouble for run in runs for step in run.steps)}
    items = [
        f'<li><svg class="row {style}" width="{38 if style in ("refused", "cut") else 28}" height="22" aria-hidden="true">'
        f"{_shapes(style, 3.0, 70.0 if style in ('refused', 'cut') else 95.0)}</svg>{words}</li>"
        for style, words in _LEGEND
        if style in found
    ]
    if any(run.lower_bound_s is not None for run in runs):
        line = '<svg width="12" height="22" aria-hidden="true"><line class="bound" x1="50%" x2="50%" y2="100%"/></svg>'
        items.append(f"<li>{line}lower bound: the shortest time that AWS&#x27;s own chains allow</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _before(run: Run) -> str:
    if not run.before:
        return ""
    commands = "".join(f"<li><code>{escaped(command)}</code></li>" for command in run.before)
    return f'<div class="before">Done before, because of how the last run ended:<ol>{commands}</ol></div>'


def _tools(run: Run, drawn: int) -> str:
    count = len(run.steps)
    every = f'<label class="switch"><input type="checkbox" class="every"> Show all {count} steps</label>' if drawn < count else ""
    buttons = "".join(
        f'<button type="button" data-do="{act}" aria-label="{words}" title="{words}">{sign}</button>'
        for act, sign, words in (("in", "+", "Zoom in"), ("out", "\u2212", "Zoom out"), ("whole", "Whole run", "Show the whole run"))
    )
    shown = f'<span class="muted shown">{drawn} of {count} drawn: {DRAWN_WORDS}.</span>' if drawn < count else ""
    return f'<div class="tools"><span class="zoom">{buttons}</span>{every}{shown}</div>'


def _chart(run: Run, name: str) -> str:
    end = run.axis_s * BEYOND
    places = {id(step): f"{name}-{index}" for index, step in enumerate(run.steps)}
    ticks = _ticks(end)
    axis = "".join(f'<text x="{_percent(at, end)}" dx="4" y="14">{words}</text>' for at, words in ticks if at < 0.9 * end)
    lines = "".join(f'<line class="grid" x1="{_percent(at, end)}" x2="{_percent(at, end)}" y2="100%"/>' for at, words in ticks)
    bound = ""
    if run.lower_bound_s is not None:
        at = _percent(run.lower_bound_s, end)
        bound = f'<line class="bound" x1="{at}" x2="{at}" y2="100%"><title>lower bound {duration(run.lower_bound_s)}</title></line>'
    rows = "\n".join(_row(run, step, places, end) for step in run.steps)
    points = json.dumps([[point.at, point.usd_per_hour, point.usd] for point in run.cost], separators=(",", ":"))
    return (
        f'<div class="chart" data-seconds="{end:.1f}" data-ran="{run.seconds:.1f}" data-cost="{escaped(points)}" role="group" '
        f'aria-label="Timeline of {escaped(run.title)}">'
        f'<div class="lane under" aria-hidden="true"><svg class="time"><g class="lines">{lines}</g>{bound}</svg></div>'
        f'<div class="axis"><span class="readout" aria-live="off"></span>'
        f'<div class="lane"><svg class="time" aria-hidden="true"><g class="ticks">{axis}</g></svg></div></div>'
        f'<div class="rows">\n{rows}\n</div>{_cost(run.cost, run.seconds, end)}</div>'
    )


def _row(run: Run, step: Step, places: dict[int, str], end: float) -> str:
    style = " ".join(
        ["row", *(["critical"] if run.is_critical(step) else []), *([step.trouble] if step.trouble else [])]
        + ([] if run.is_drawn(step) else ["quick"])
    )
    tries = [f"{step.attempts} tries"] if step.attempts > 1 else []
    badge = ", ".join(["refused"] * (step.trouble == "refused") + ["cut"] * step.cut + tries)
    # What an up makes and a destroy deletes needs no sign; a change does all three.
    usual = {"up": "create", "destroy": "delete"}.get(run.phase)
    sign = f'<span class="sign">{_SIGNS[step.operation]}</span>' if step.operation != usual else ""
    left, right = 100 * step.start / end, 100 * step.end / end
    return (
        f'<details class="{style}" id="{places[id(step)]}"><summary><span class="name">{sign}<b>{escaped(step.name)}</b> '
        f"<i>{escaped(short_type(step.type))}</i>{f'<em>{badge}</em>' if badge else ''}</span>"
        f'<span class="lane"><svg class="time">{_shapes(style, left, right)}{_label(step, left, right)}</svg></span></summary>'
        f"{_facts(run, step, places)}</details>"
    )


def _shapes(style: str, left: float, right: float) -> str:
    """The bar, with the pattern and the mark that tell trouble without colour."""
    span = f'x1="{left:.2f}%" x2="{right:.2f}%" y1="11" y2="11"'
    bar = f'<rect class="bar" x="{left:.2f}%" width="{max(right - left, 0.0):.2f}%" y="5" height="12"/>'
    if "refused" in style:
        return f'{bar}<line class="stripes" {span}/>' + _mark(right, "M5-4l7 8m0-8l-7 8")
    if "cut" in style:
        return bar + _mark(right, "M3-6l5 3-5 3 5 3-5 3")
    return f'{bar}<line class="dots" {span}/>' if "retried" in style else bar


def _mark(right: float, shape: str) -> str:
    return f'<svg x="{right:.2f}%" y="11" overflow="visible"><path class="mark" d="{shape}"/></svg>'


def _label(step: Step, left: float, right: float) -> str:
    """How long it took, where there is room: behind the bar, before it, or on it."""
    words = duration(step.seconds)
    if right <= _NEAR_RIGHT:
        return f'<text x="{right:.2f}%" dx="{18 if step.trouble in ("refused", "cut") else 7}" y="15">{words}</text>'
    at = left if left >= _NEAR_LEFT else right
    return f'<text x="{at:.2f}%" dx="-7" y="15" text-anchor="end">{words}</text>'


def _facts(run: Run, step: Step, places: dict[int, str]) -> str:
    return f"<dl>{''.join(f'<dt>{name}</dt><dd>{words}</dd>' for name, words in _fact_pairs(run, step, places))}</dl>"


def _fact_pairs(run: Run, step: Step, places: dict[int, str]) -> Iterator[tuple[str, str]]:
    """Names and values, as HTML."""
    if step.error is not None:
        yield "error", f'<span class="bad">{prose(step.error)}</span>'
        yield "cause", prose(step.cause or "not known")
        yield "fix", prose(step.fix or "not known")
    elif step.cut:
        yield "cut", "The run was killed while this was under way: how it ended was never written down."
    yield "type", escaped(step.type)
    span = f"{duration(step.start)} to {duration(step.end)}, {step.seconds:,.1f} s"
    yield step.operation, span + (", on the critical path" if run.is_critical(step) else "")
    if step.attempts > 1:
        yield "tries", str(step.attempts)
    if step.level is not None:
        yield "level", str(step.level)
    waited = run.waited_for(step)
    if waited is not None:
        yield "waited for", f'<a href="#{places[id(waited)]}">{escaped(waited.name)}</a> {type_cell(waited.type)}'
    elif step.waited_for is None:
        yield "waited for", "nothing"
    for name, value in step.inputs.items():
        yield f"<code>{escaped(name)}</code>", escaped(value)


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
    rows = [[escaped(step.name), type_cell(step.type), f"{step.start:.1f}", f"{step.seconds:.1f}"] for step in links]
    words = '<p class="muted">The chain of waits that ends last; only a faster step here makes the run shorter.</p>'
    body = table(("Name", "Type", "Start, s", "Seconds"), rows, numbers=(2, 3))
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
