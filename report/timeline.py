"""The timeline of a rehearsal as one SVG: every run of `up` and of `destroy` below each other, each on its own axis of virtual minutes."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.runs import DRAWN_WORDS, Run, Step, runs_of
from report.text import FONT, escaped, svg_document, text_width, themed_style
from simulator.report.schema import Report
from simulator.report.words import duration, plural, short_type

WIDTH, MARGIN = 1160.0, 24.0
PLOT_LEFT, PLOT_RIGHT = MARGIN, WIDTH - MARGIN
ROW, BAR, SHORTEST_BAR = 21.0, 13.0, 3.0
TITLE_SIZE, HEADING_SIZE, LABEL_SIZE, TICK_SIZE = 20.0, 16.0, 12.0, 11.0
GAP = 6.0
HEADING_HEIGHT, BEFORE_HEIGHT, BOUND_HEIGHT, SECTION_GAP = 48.0, 20.0, 18.0, 34.0
MOST_TICKS = 12
TICK_STEPS_MIN = (0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440)
MARK = 9.0
"""Width of the mark at the end of a bar that was refused or cut."""

_FIXED = (
    f".timeline{{font-family:{FONT}}}.timeline .title{{font-size:{TITLE_SIZE:g}px;font-weight:650}}"
    f".timeline .heading{{font-size:{HEADING_SIZE:g}px;font-weight:650}}.timeline .label,.timeline .note{{font-size:{LABEL_SIZE:g}px}}"
    f".timeline .tick{{font-size:{TICK_SIZE:g}px}}.timeline .name{{font-weight:600}}"
    ".timeline .bound{stroke-width:1.5;stroke-dasharray:5 4;fill:none}"
    f".timeline .stripes{{stroke-width:{BAR:g};stroke-dasharray:3 4;stroke-opacity:.5}}.timeline .mark{{stroke-width:2;fill:none}}"
    ".timeline .dots{stroke-width:4;stroke-dasharray:0 8;stroke-linecap:round}"
    ".timeline .cut .bar{stroke-width:1.5;stroke-dasharray:4 3}"
)
_COLOURS = (
    ".timeline .paper{fill:$paper}.timeline text{fill:$ink}"
    ".timeline .kind,.timeline .note,.timeline .tick{fill:$muted}.timeline .grid{stroke:$line}"
    ".timeline .bar{fill:$bar}.timeline .critical .bar{fill:$critical}.timeline .refused .bar{fill:$bad}"
    ".timeline .cut .bar{fill:$paper;stroke:$bad}.timeline .stripes{stroke:$paper}.timeline .mark{stroke:$bad}"
    ".timeline .retried .dots{stroke:$warn}.timeline .retried .bar{stroke:$warn}.timeline .retried .kind{fill:$warn}"
    ".timeline .refused .kind,.timeline .cut .kind,.timeline .bad{fill:$bad}.timeline .bound{stroke:$bound}.timeline .bound-text{fill:$bound}"
)
_LEGEND = (
    ("critical", "critical path"),
    ("", "other resources"),
    ("refused", "refused"),
    ("retried", "retried"),
    ("cut", "cut: the run was killed"),
)


@dataclass(frozen=True)
class Drawn:
    """A finished part of the picture."""

    parts: tuple[str, ...]
    bottom: float
    right: float
    """How far to the right its text may reach."""


def timeline_svg(report: Report) -> str:
    """A standalone SVG with one bar for each operation that took long, met trouble, or lies on the critical path."""
    title = f"Rehearsal of {report.stack}"
    parts: list[str] = []
    width, bottom = max(WIDTH, MARGIN * 2 + text_width(title, TITLE_SIZE, bold=True)), MARGIN + 62 - SECTION_GAP
    runs = runs_of(report)
    for run in runs:
        drawn = _draw(run, bottom + SECTION_GAP)
        parts += drawn.parts
        width, bottom = max(width, drawn.right + MARGIN), drawn.bottom
    heading = f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 18:g}">{escaped(title)}</text>'
    style = themed_style(_FIXED, _COLOURS)
    return svg_document("timeline", f"{title}, timeline", (width, bottom + MARGIN), style, [heading, *_legend(runs, MARGIN + 44), *parts])


def _legend(runs: Sequence[Run], y: float) -> list[str]:
    """What shapes and colours mean, where they occur: red that is always there is not read."""
    found = {"critical", "", *(step.trouble for run in runs for step in run.steps)}
    parts: list[str] = []
    x = MARGIN
    for style, words in [(style, words) for style, words in _LEGEND if style in found]:
        shapes = _shapes(style, x, y - 10, 22)
        parts.append(f'<g class="{style}">{shapes}</g><text class="note" x="{x + 36:.1f}" y="{y:g}">{words}</text>')
        x += 36 + text_width(words, LABEL_SIZE) + 12
    if all(run.lower_bound_s is None for run in runs):
        return parts
    parts.append(f'<path class="bound" d="M{x:.1f} {y - 4:g}h22"/>')
    parts.append(f'<text class="note" x="{x + 28:.1f}" y="{y:g}">lower bound: the shortest time that AWS&apos;s own chains allow</text>')
    return parts


def _draw(run: Run, top: float) -> Drawn:
    drawn = [step for step in run.steps if run.is_drawn(step)]
    heading, note = f"{run.title}: {run.words}", f"{len(drawn)} of {plural(len(run.steps), 'resource')} drawn: {DRAWN_WORDS}"
    before = f"before it: {'; '.join(run.before)}" if run.before else ""
    first_row = top + HEADING_HEIGHT + (BEFORE_HEIGHT if before else 0) + (BOUND_HEIGHT if run.lower_bound_s is not None else 0)
    bottom = first_row + ROW * len(drawn)
    mark = ' class="heading bad"' if run.failed else ' class="heading"'
    beside = MARGIN + text_width(heading, HEADING_SIZE, bold=True) + 14
    parts = [
        f'<text{mark} x="{MARGIN:g}" y="{top + 18:g}">{escaped(heading)}</text>',
        f'<text class="note" x="{beside:.1f}" y="{top + 18:g}">{escaped(note)}</text>',
        *([f'<text class="note" x="{MARGIN:g}" y="{top + 18 + BEFORE_HEIGHT:g}">{escaped(before)}</text>'] if before else []),
        *_axis(run, first_row, bottom),
    ]
    right = max(beside + text_width(note, LABEL_SIZE), MARGIN + text_width(before, LABEL_SIZE))
    for index, step in enumerate(drawn):
        part, end = _bar(run, step, first_row + ROW * index)
        parts.append(part)
        right = max(right, end)
    return Drawn(tuple(parts), bottom, right)


def _axis(run: Run, top: float, bottom: float) -> list[str]:
    parts: list[str] = []
    axis_s = run.axis_s
    step = _tick_step_min(axis_s / 60)
    for index in range(int(axis_s / 60 / step) + 1):
        x = _x(index * step * 60, axis_s)
        words = f"{index * step:g} min"
        # The first and the last label would stick out of the picture if they were centred on their lines.
        anchor = "start" if index == 0 else "end" if x + text_width(words, TICK_SIZE) / 2 > PLOT_RIGHT + MARGIN / 2 else "middle"
        parts.append(f'<path class="grid" d="M{x:.1f} {top - 6:g}V{bottom:g}"/>')
        parts.append(f'<text class="tick" text-anchor="{anchor}" x="{x:.1f}" y="{top - 12:g}">{words}</text>')
    if run.lower_bound_s is not None:
        x = _x(run.lower_bound_s, axis_s)
        words = f"lower bound {duration(run.lower_bound_s)}"
        anchor, shift = ("end", -GAP) if x > (PLOT_LEFT + PLOT_RIGHT) / 2 else ("start", GAP)
        parts.append(f'<path class="bound" d="M{x:.1f} {top - 36:g}V{bottom:g}"/>')
        parts.append(f'<text class="label bound-text" text-anchor="{anchor}" x="{x + shift:.1f}" y="{top - 28:g}">{words}</text>')
    return parts


def _tick_step_min(minutes: float) -> float:
    """The smallest round step with few enough ticks; a tenth of the axis where even days are too fine."""
    return next((step for step in TICK_STEPS_MIN if minutes / step <= MOST_TICKS), minutes / 10)


def _x(seconds: float, axis_s: float) -> float:
    return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * seconds / axis_s


def _shapes(style: str, left: float, top: float, width: float) -> str:
    """The bar itself, with the pattern and the mark that tell trouble without colour."""
    middle, right = top + BAR / 2, left + width
    bar = f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR:g}" rx="2"/>'
    along = f'd="M{left:.1f} {middle:.1f}H{right:.1f}"'
    if "refused" in style:
        cross = f"M{right + 2:.1f} {middle - 3.5:.1f}l7 7m0-7l-7 7"
        return f'{bar}<path class="stripes" {along}/><path class="mark" d="{cross}"/>'
    if "cut" in style:
        return f'{bar}<path class="mark" d="M{right + 2:.1f} {top:.1f}l4 3.25-4 3.25 4 3.25-4 3.25"/>'
    if "retried" in style:
        return f'{bar}<path class="dots" d="M{left + 4:.1f} {middle:.1f}H{max(right - 2, left + 4.1):.1f}"/>'
    return bar


def _bar(run: Run, step: Step, top: float) -> tuple[str, float]:
    """The bar with its label, and how far to the right they reach."""
    axis_s = run.axis_s
    left = min(_x(step.start, axis_s), PLOT_RIGHT - SHORTEST_BAR)
    width = max(_x(step.end, axis_s) - left, SHORTEST_BAR)
    beside = beside_words(step)
    label_width = text_width(step.name, LABEL_SIZE, bold=True) + text_width(beside, LABEL_SIZE) + GAP
    mark = MARK if step.trouble in ("refused", "cut") else 0.0
    # Right of the bar; left of it near the right edge; right again, on a wider picture, where a long bar leaves no room.
    to_left = left + width + mark + GAP + label_width > PLOT_RIGHT and left - GAP - label_width >= PLOT_LEFT
    x, anchor = (left - GAP, "end") if to_left else (left + width + mark + GAP, "start")
    style = " ".join(["step", *(["critical"] if run.is_critical(step) else []), *([step.trouble] if step.trouble else [])])
    part = (
        f'<g class="{style}"><title>{escaped(_tooltip(run, step))}</title>'
        # The ground keeps labels readable where a grid line would run through them.
        f'{_shapes(style, left, top, width)}<rect class="paper" x="{x - (label_width if to_left else 0):.1f}" y="{top - 2:.1f}" '
        f'width="{label_width:.1f}" height="{BAR + 4:g}"/><text class="label" text-anchor="{anchor}" x="{x:.1f}" y="{top + 10.5:.1f}">'
        f'<tspan class="name">{escaped(step.name)}</tspan><tspan class="kind" dx="{GAP:g}">{escaped(beside)}</tspan></text></g>'
    )
    return part, left + width + mark if to_left else x + label_width


def beside_words(step: Step) -> str:
    """The text beside a step's name: its type, how long it took, and its trouble."""
    tries = f", {step.attempts} tries" if step.attempts > 1 else ""
    ending = {"refused": ", refused", "cut": ", cut"}.get(step.trouble or "", "")
    return f"{short_type(step.type)}, {duration(step.seconds)}{tries}{ending}"


def _tooltip(run: Run, step: Step) -> str:
    times = f"{step.operation}: starts at {duration(step.start)}, ends at {duration(step.end)}, {step.seconds:.1f} seconds"
    lines = [f"{step.name} ({short_type(step.type)})", times, *(["on the critical path"] if run.is_critical(step) else [])]
    return "\n".join([*lines, *(text for text in (step.error, step.cause, step.fix) if text)])
