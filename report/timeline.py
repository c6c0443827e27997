"""The timeline of a rehearsal as one SVG: every run of `up` and of `destroy` below each other, each on its own axis of virtual minutes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from report.runs import DRAWN_WORDS, Run, Step, legend, runs_of
from report.templating import rendered
from report.text import text_width
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


class Bar(NamedTuple):
    """A step with its label: right of the bar, or left of it."""

    step: Step
    critical: bool
    left: float
    width: float
    top: float
    beside: str
    label: float
    label_width: float
    to_left: bool

    @property
    def right(self) -> float:
        """How far to the right its text may reach."""
        return self.label if self.to_left else self.label + self.label_width


@dataclass(frozen=True)
class Section:
    """A run with the places of all that is drawn of it."""

    run: Run
    top: float
    note: str
    note_left: float
    before: str
    first_row: float
    bottom: float
    ticks: Sequence[tuple[float, str, str]]
    """Place, words, and by which end they are anchored to it."""
    bound: float | None
    bars: Sequence[Bar]

    @property
    def right(self) -> float:
        """How far to the right its text may reach."""
        note, before = self.note_left + text_width(self.note, LABEL_SIZE), MARGIN + text_width(self.before, LABEL_SIZE)
        return max(note, before, *(bar.right for bar in self.bars))


def timeline_svg(report: Report) -> str:
    """A standalone SVG with one bar for each operation that took long, met trouble, or lies on the critical path."""
    title, runs, sections = f"Rehearsal of {report.stack}", runs_of(report), list[Section]()
    bottom = MARGIN + 62 - SECTION_GAP
    for run in runs:
        sections.append(_section(run, bottom + SECTION_GAP))
        bottom = sections[-1].bottom
    samples, x = list[tuple[str, str, float]](), MARGIN
    for style, words in legend(runs):
        if style != "slot":
            samples.append((style, words, x))
            x += 48 + text_width(words, LABEL_SIZE)
    width = max(WIDTH, MARGIN * 2 + text_width(title, TITLE_SIZE, bold=True), x, *(section.right + MARGIN for section in sections))
    places = {
        "margin": MARGIN, "gap": GAP, "bar": BAR, "before_height": BEFORE_HEIGHT, "middle": (PLOT_LEFT + PLOT_RIGHT) / 2,
        "title_size": TITLE_SIZE, "heading_size": HEADING_SIZE, "label_size": LABEL_SIZE, "tick_size": TICK_SIZE,
    }  # fmt: skip
    return rendered("timeline.svg", title=title, width=width, height=bottom + MARGIN, legend=samples, sections=sections, **places)


def _section(run: Run, top: float) -> Section:
    drawn = [step for step in run.steps if run.is_drawn(step)]
    before = f"before it: {'; '.join(run.before)}" if run.before else ""
    first_row = top + HEADING_HEIGHT + (BEFORE_HEIGHT if before else 0) + (BOUND_HEIGHT if run.lower_bound_s is not None else 0)
    return Section(
        run,
        top,
        f"{len(drawn)} of {plural(len(run.steps), 'resource')} drawn: {DRAWN_WORDS}",
        MARGIN + text_width(f"{run.title}: {run.words}", HEADING_SIZE, bold=True) + 14,
        before,
        first_row,
        first_row + ROW * len(drawn),
        _ticks(run.axis_s),
        _x(run.lower_bound_s, run.axis_s) if run.lower_bound_s is not None else None,
        [_bar(run, step, first_row + ROW * index) for index, step in enumerate(drawn)],
    )


def _ticks(axis_s: float) -> list[tuple[float, str, str]]:
    minutes = axis_s / 60
    # The smallest round step with few enough ticks; a tenth of the axis where even days are too fine.
    step = next((step for step in TICK_STEPS_MIN if minutes / step <= MOST_TICKS), minutes / 10)
    ticks = []
    for index in range(int(minutes / step) + 1):
        x, words = _x(index * step * 60, axis_s), f"{index * step:g} min"
        # The first and the last label would stick out of the picture if they were centred on their lines.
        anchor = "start" if index == 0 else "end" if x + text_width(words, TICK_SIZE) / 2 > PLOT_RIGHT + MARGIN / 2 else "middle"
        ticks.append((x, words, anchor))
    return ticks


def _x(seconds: float, axis_s: float) -> float:
    return PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * seconds / axis_s


def _bar(run: Run, step: Step, top: float) -> Bar:
    left = min(_x(step.start, run.axis_s), PLOT_RIGHT - SHORTEST_BAR)
    width = max(_x(step.end, run.axis_s) - left, SHORTEST_BAR)
    beside = beside_words(step)
    label_width = text_width(step.name, LABEL_SIZE, bold=True) + text_width(beside, LABEL_SIZE) + GAP
    right = left + width + (MARK if step.trouble in ("refused", "cut") else 0.0) + GAP
    # Right of the bar; left of it near the right edge; right again, on a wider picture, where a long bar leaves no room.
    to_left = right + label_width > PLOT_RIGHT and left - GAP - label_width >= PLOT_LEFT
    return Bar(step, run.is_critical(step), left, width, top, beside, left - GAP if to_left else right, label_width, to_left)


def beside_words(step: Step) -> str:
    """The text beside a step's name: its type, how long it took, and its trouble."""
    tries = f", {step.attempts} tries" if step.attempts > 1 else ""
    ending = {"refused": ", refused", "cut": ", cut"}.get(step.trouble or "", "")
    return f"{short_type(step.type)}, {duration(step.seconds)}{tries}{ending}"
