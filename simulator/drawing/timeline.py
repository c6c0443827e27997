"""The timeline of a rehearsal as one SVG: `up`, and below it `destroy`, each on its own axis of virtual minutes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.drawing.text import FONT, duration, escaped, plural, short_type, svg_document, text_width, themed_style
from simulator.report import Destroy, DestroyStep, PathStep, Report, ResourceTimes, Up

SHORTEST_DRAWN_S = 3.0
"""Quicker operations are left out, unless they lie on the critical path or were refused."""

WIDTH, MARGIN = 1160.0, 24.0
PLOT_LEFT, PLOT_RIGHT = MARGIN, WIDTH - MARGIN
ROW, BAR, SHORTEST_BAR = 21.0, 13.0, 3.0
TITLE_SIZE, HEADING_SIZE, LABEL_SIZE, TICK_SIZE = 20.0, 16.0, 12.0, 11.0
GAP = 6.0
HEADING_HEIGHT, BOUND_HEIGHT, SECTION_GAP = 48.0, 18.0, 34.0
MOST_TICKS = 12
TICK_STEPS_MIN = (0.25, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440)

_FIXED = (
    f".timeline{{font-family:{FONT}}}.timeline .title{{font-size:{TITLE_SIZE:g}px;font-weight:650}}"
    f".timeline .heading{{font-size:{HEADING_SIZE:g}px;font-weight:650}}.timeline .label,.timeline .note{{font-size:{LABEL_SIZE:g}px}}"
    f".timeline .tick{{font-size:{TICK_SIZE:g}px}}.timeline .name{{font-weight:600}}"
    ".timeline .bound{stroke-width:1.5;stroke-dasharray:5 4;fill:none}"
)
_COLOURS = (
    ".timeline .paper{fill:$paper}.timeline text{fill:$ink}"
    ".timeline .kind,.timeline .note,.timeline .tick{fill:$muted}.timeline .grid{stroke:$line}"
    ".timeline .bar{fill:$bar}.timeline .critical .bar{fill:$critical}.timeline .refused .bar{fill:$bad}"
    ".timeline .refused .kind,.timeline .bad{fill:$bad}.timeline .bound{stroke:$bound}.timeline .bound-text{fill:$bound}"
)
_LIGHT = {"bar": "#b4bfcd", "critical": "#1f5fd6", "bound": "#0b7a6d"}
_DARK = {"bar": "#4b5768", "critical": "#5b9bff", "bound": "#3fd0bd"}


@dataclass(frozen=True)
class Bar:
    """One operation to be drawn, in virtual seconds since its phase began."""

    urn: str
    name: str
    kind: str
    """Short type."""
    start: float
    end: float
    critical: bool
    error: str | None


@dataclass(frozen=True)
class Section:
    """One phase: its heading, what stands beside it, its bars and its marks."""

    heading: str
    failed: bool
    note: str
    bars: Sequence[Bar]
    axis_s: float
    """Where the axis ends."""
    lower_bound_s: float | None


@dataclass(frozen=True)
class Drawn:
    """A finished part of the picture."""

    parts: tuple[str, ...]
    bottom: float
    right: float
    """How far to the right its text may reach."""


def timeline_svg(report: Report) -> str:
    """A standalone SVG with one bar for each operation that took long, was refused, or lies on the critical path."""
    title = f"Rehearsal of {report.stack}"
    up = _draw(_up_section(report.up), MARGIN + 62)
    engine_only = frozenset(item.urn for item in report.up.resources) - frozenset(item.urn for item in resources_of(report.up))
    destroy = _draw(_destroy_section(report.destroy, engine_only), up.bottom + SECTION_GAP)
    width = max(WIDTH, up.right + MARGIN, destroy.right + MARGIN, MARGIN * 2 + text_width(title, TITLE_SIZE, bold=True))
    heading = f'<text class="title" x="{MARGIN:g}" y="{MARGIN + 18:g}">{escaped(title)}</text>'
    style = themed_style(_FIXED, _COLOURS, _LIGHT, _DARK)
    parts = [heading, *_legend(MARGIN + 44), *up.parts, *destroy.parts]
    return svg_document("timeline", f"{title}, timeline", (width, destroy.bottom + MARGIN), style, parts)


def resources_of(up: Up) -> list[ResourceTimes]:
    """What was made in the cloud: components and providers exist in the engine only."""
    return [item for item in up.resources if item.custom and not item.type.startswith("pulumi:providers:")]


def _up_section(up: Up) -> Section:
    operations = resources_of(up)
    bars = _bars(operations, up.critical_path)
    refused = sum(1 for item in operations if item.error is not None)
    after = duration(up.seconds)
    heading = f"up: stopped after {after}, {refused} refused" if refused else f"up: ready after {after}"
    end = max([up.seconds, up.lower_bound_seconds, 1.0, *(bar.end for bar in bars)])
    return Section(heading, refused > 0, _note(bars, len(operations)), bars, end, up.lower_bound_seconds)


def _destroy_section(destroy: Destroy, engine_only: frozenset[str]) -> Section:
    operations = [step for step in destroy.order if step.urn not in engine_only]
    bars = _bars(operations, destroy.critical_path)
    refused = sum(1 for step in operations if step.error is not None)
    after, left = duration(destroy.seconds), len(destroy.leftovers)
    if refused:
        heading = f"destroy: stopped after {after}, {refused} refused, {left} left behind"
    elif left:
        heading = f"destroy: ended after {after}, {left} left behind"
    else:
        heading = f"destroy: gone after {after}"
    end = max([destroy.seconds, 1.0, *(bar.end for bar in bars)])
    return Section(heading, refused + left > 0, _note(bars, len(operations)), bars, end, None)


def _note(bars: Sequence[Bar], count: int) -> str:
    return f"{len(bars)} of {plural(count, 'resource')} drawn: {SHORTEST_DRAWN_S:g} s and longer, and the critical path"


def _bars(operations: Iterable[ResourceTimes | DestroyStep], path: Iterable[PathStep]) -> list[Bar]:
    critical = frozenset(step.urn for step in path)
    found = [
        Bar(item.urn, item.name, short_type(item.type), item.start, item.end, item.urn in critical, item.error)
        for item in operations
        if item.urn in critical or item.error is not None or item.end - item.start >= SHORTEST_DRAWN_S
    ]
    return sorted(found, key=lambda bar: (bar.start, bar.end, bar.urn))


def _legend(y: float) -> list[str]:
    parts: list[str] = []
    x = MARGIN
    for style, words in (("critical", "critical path"), ("", "other resources"), ("refused", "refused")):
        parts.append(f'<g class="{style}"><rect class="bar" x="{x:.1f}" y="{y - 10:g}" width="22" height="{BAR:g}" rx="2"/></g>')
        parts.append(f'<text class="note" x="{x + 28:.1f}" y="{y:g}">{words}</text>')
        x += 28 + text_width(words, LABEL_SIZE) + 18
    parts.append(f'<path class="bound" d="M{x:.1f} {y - 4:g}h22"/>')
    parts.append(f'<text class="note" x="{x + 28:.1f}" y="{y:g}">lower bound: the shortest time that AWS&apos;s own chains allow</text>')
    return parts


def _draw(section: Section, top: float) -> Drawn:
    first_row = top + HEADING_HEIGHT + (BOUND_HEIGHT if section.lower_bound_s is not None else 0)
    bottom = first_row + ROW * len(section.bars)
    mark = ' class="heading bad"' if section.failed else ' class="heading"'
    beside = MARGIN + text_width(section.heading, HEADING_SIZE, bold=True) + 14
    parts = [
        f'<text{mark} x="{MARGIN:g}" y="{top + 18:g}">{escaped(section.heading)}</text>',
        f'<text class="note" x="{beside:.1f}" y="{top + 18:g}">{escaped(section.note)}</text>',
        *_axis(section, first_row, bottom),
    ]
    right = beside + text_width(section.note, LABEL_SIZE)
    for index, bar in enumerate(section.bars):
        part, end = _bar(bar, section.axis_s, first_row + ROW * index)
        parts.append(part)
        right = max(right, end)
    return Drawn(tuple(parts), bottom, right)


def _axis(section: Section, top: float, bottom: float) -> list[str]:
    parts: list[str] = []
    step = _tick_step_min(section.axis_s / 60)
    for index in range(int(section.axis_s / 60 / step) + 1):
        x = _x(index * step * 60, section.axis_s)
        words = f"{index * step:g} min"
        # The first and the last label would stick out of the picture if they were centred on their lines.
        anchor = "start" if index == 0 else "end" if x + text_width(words, TICK_SIZE) / 2 > PLOT_RIGHT + MARGIN / 2 else "middle"
        parts.append(f'<path class="grid" d="M{x:.1f} {top - 6:g}V{bottom:g}"/>')
        parts.append(f'<text class="tick" text-anchor="{anchor}" x="{x:.1f}" y="{top - 12:g}">{words}</text>')
    if section.lower_bound_s is not None:
        x = _x(section.lower_bound_s, section.axis_s)
        words = f"lower bound {duration(section.lower_bound_s)}"
        anchor, shift = ("end", -GAP) if x > (PLOT_LEFT + PLOT_RIGHT) / 2 else ("start", GAP)
        parts.append(f'<path class="bound" d="M{x:.1f} {top - 36:g}V{bottom:g}"/>')
        parts.append(f'<text class="label bound-text" text-anchor="{anchor}" x="{x + shift:.1f}" y="{top - 28:g}">{words}</text>')
    return parts


def _tick_step_min(minutes: float) -> float:
    """The smallest round step with few enough ticks; a tenth of the axis where even days are too fine."""
    return next((step for step in TICK_STEPS_MIN if minutes / step <= MOST_TICKS), minutes / 10)


def _x(seconds: float, axis_s: float) -> float:
    return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * seconds / axis_s


def _bar(bar: Bar, axis_s: float, top: float) -> tuple[str, float]:
    """The bar with its label, and how far to the right they reach."""
    left = min(_x(bar.start, axis_s), PLOT_RIGHT - SHORTEST_BAR)
    width = max(_x(bar.end, axis_s) - left, SHORTEST_BAR)
    beside = f"{bar.kind}, {duration(bar.end - bar.start)}" + (", refused" if bar.error is not None else "")
    label_width = text_width(bar.name, LABEL_SIZE, bold=True) + text_width(beside, LABEL_SIZE) + GAP
    # Right of the bar; left of it near the right edge; right again, on a wider picture, where a long bar leaves no room.
    to_left = left + width + GAP + label_width > PLOT_RIGHT and left - GAP - label_width >= PLOT_LEFT
    x, anchor = (left - GAP, "end") if to_left else (left + width + GAP, "start")
    style = "step refused" if bar.error is not None else "step critical" if bar.critical else "step"
    part = (
        f'<g class="{style}"><title>{escaped(_tooltip(bar))}</title>'
        f'<rect class="bar" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{BAR:g}" rx="2"/>'
        # The ground keeps labels readable where a grid line would run through them.
        f'<rect class="paper" x="{x - (label_width if to_left else 0):.1f}" y="{top - 2:.1f}" width="{label_width:.1f}" height="{BAR + 4:g}"/>'
        f'<text class="label" text-anchor="{anchor}" x="{x:.1f}" y="{top + 10.5:.1f}">'
        f'<tspan class="name">{escaped(bar.name)}</tspan><tspan class="kind" dx="{GAP:g}">{escaped(beside)}</tspan></text></g>'
    )
    return part, left + width if to_left else x + label_width


def _tooltip(bar: Bar) -> str:
    times = f"starts at {duration(bar.start)}, ends at {duration(bar.end)}, {bar.end - bar.start:.1f} seconds"
    lines = [f"{bar.name} ({bar.kind})", times, *(["on the critical path"] if bar.critical else []), *([bar.error] if bar.error else [])]
    return "\n".join(lines)
