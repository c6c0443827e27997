"""One run as a chart in a page: a row for each step by the part of the cluster, folded to what matters, and what the account costs.

Places are percent of the axis.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from report.parts import PARTS, Part, part_of_type
from report.runs import Run, Step
from simulator.report.schema import CostPoint
from simulator.report.words import duration, plural

MOST_TICKS = 6
"""Without the script, which counts by the width that there is, labels must fit a phone."""
TICK_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
BEYOND = 1.04
"""The axis is longer than the run, so that marks at the end of bars are visible."""
MOST_LONGEST = 6
"""Steps of a part that are shown for their length alone."""
LONG_S, LONG_SHARE = 3.0, 0.04
"""Length in seconds, and as a share of the run, from which on a step is shown before its part is unfolded."""
FEWEST_FOLDED = 3
"""Fewer are not worth a fold."""


class Row(NamedTuple):
    """A step, its places, and what it waited for last."""

    step: Step
    id: str
    critical: bool
    left: float
    right: float
    waited_from: float
    """Where its wait for a free slot began."""
    waited_for: Step | None
    waited_for_id: str


@dataclass(frozen=True)
class PartRows:
    """The rows of a part of the cluster."""

    name: Part
    rows: Sequence[Row]
    shown: Sequence[Row]
    folded: Sequence[Row]

    @property
    def count(self) -> int:
        """How many resources it has."""
        return len({row.step.urn for row in self.rows})

    @property
    def left(self) -> float:
        """When the first of it begins."""
        return min(row.left for row in self.rows)

    @property
    def right(self) -> float:
        """When the last of it has ended."""
        return max(row.right for row in self.rows)

    @property
    def longest_folded(self) -> float:
        """In seconds."""
        return max(row.step.seconds for row in self.folded)


class Level(NamedTuple):
    """The deletions of a destroy that begin together."""

    number: int
    deletions: int
    start: float
    end: float
    longest: Step


class CostLines(NamedTuple):
    """The rate as steps, and the sum as a line, each as high as it gets: paths, down from the top of 100."""

    words: str
    rate: str
    sum: str


class Chart:
    """All that the chart of a run shows. `parts` tells where resources belong, by URN."""

    def __init__(self, run: Run, parts: Mapping[str, Part] | None = None) -> None:
        self.run = run
        self.end = run.axis_s * BEYOND
        self.bound = self._place(run.lower_bound_s) if run.lower_bound_s is not None else None
        self.ticks = [(self._place(at), words) for at, words in _ticks(self.end)]
        self.points = json.dumps([[point.at, point.usd_per_hour, point.usd] for point in run.cost], separators=(",", ":"))
        self.cost = _cost(run.cost, run.seconds)
        self.critical = [step for step in run.steps if run.is_critical(step)]
        self.levels = _levels(run.steps)
        self.parts = self._parts(parts or {})

    @property
    def counted(self) -> str:
        """How many resources it was about, and how many steps where one resource took two of them."""
        run, resources = self.run, len({step.urn for step in self.run.steps})
        words = [plural(resources, "resource") + (f" in {len(run.steps)} steps" if len(run.steps) > resources else "")]
        words += [f"{plural(run.kept, 'resource')} there already"] if run.kept else []
        words += [f"{plural(run.not_started, 'resource')} not begun"] if run.not_started else []
        retried = sum(1 for step in run.steps if step.trouble == "retried")
        return ", ".join(words + ([f"{retried} retried"] if retried else []))

    def _parts(self, parts: Mapping[str, Part]) -> list[PartRows]:
        """Parts that have steps, in the order of `PARTS`."""
        name = self.run.id
        ids = {id(step): f"{name}-{index}" for index, step in enumerate(self.run.steps)}
        by_part: dict[Part, list[Row]] = {part: [] for part in PARTS}
        for step in self.run.steps:
            by_part[parts.get(step.urn) or part_of_type(step.type) or "add-ons"].append(self._row(step, ids))
        found = []
        for part, rows in by_part.items():
            if rows:
                first = what_matters(self.run, [row.step for row in rows])
                shown, folded = ([row for row in rows if (id(row.step) in first) is wanted] for wanted in (True, False))
                found.append(PartRows(part, rows, shown, folded))
        return found

    def _row(self, step: Step, ids: Mapping[int, str]) -> Row:
        waited_for = self.run.waited_for(step)
        left, right, waited_from = (self._place(at) for at in (step.start, step.end, step.start - step.slot_wait_seconds))
        waited_for_id = ids[id(waited_for)] if waited_for is not None else ""
        return Row(step, ids[id(step)], self.run.is_critical(step), left, right, waited_from, waited_for, waited_for_id)

    def _place(self, seconds: float) -> float:
        return 100 * seconds / self.end


def what_matters(run: Run, steps: Sequence[Step]) -> set[int]:
    """Which steps of a part are shown before it is unfolded, by `id`: the critical path, trouble, and the longest."""
    chosen = [step for step in steps if run.is_critical(step) or step.trouble is not None]
    known = {id(step) for step in chosen}
    least = max(LONG_S, LONG_SHARE * run.seconds)
    others = sorted((step for step in steps if id(step) not in known), key=lambda step: (-step.seconds, step.urn))
    known |= {id(step) for step in others[:MOST_LONGEST] if step.seconds >= least}
    if not known:
        known = {id(others[0])}
    return known if len(steps) - len(known) >= FEWEST_FOLDED else {id(step) for step in steps}


def _ticks(end: float) -> list[tuple[float, str]]:
    step = next((step for step in TICK_STEPS_S if end / step <= MOST_TICKS), end / MOST_TICKS)
    return [(index * step, duration(index * step).replace(" 00 s", "").replace(" 00 min", "")) for index in range(int(end / step) + 1)]


def _levels(steps: Sequence[Step]) -> list[Level]:
    levels: dict[int, list[Step]] = {}
    for step in steps:
        if step.level is not None:
            levels.setdefault(step.level, []).append(step)
    return [
        Level(
            number,
            len(of),
            min(step.start for step in of),
            max(step.end for step in of),
            max(of, key=lambda step: (step.seconds, step.urn)),
        )
        for number, of in sorted(levels.items())
    ]


def _cost(points: Sequence[CostPoint], seconds: float) -> CostLines | None:
    if not points:
        return None
    most, spent = max(point.usd_per_hour for point in points), points[-1].usd
    rate, total, before = f"M0 {_height(points[0].usd_per_hour, most)}", f"M0 {_height(points[0].usd, spent)}", points[0]
    for point in points[1:]:
        rate += f"H{point.at:.1f}"
        if point.usd_per_hour != before.usd_per_hour:
            rate += f"V{_height(point.usd_per_hour, most)}"
        total += f"L{point.at:.1f} {_height(point.usd, spent)}"
        before = point
    return CostLines(f"up to {most:,.2f} USD an hour; {spent:,.2f} USD spent", f"{rate}H{seconds:.1f}", total)


def _height(value: float, most: float) -> str:
    """Down from the top, of 100, with room for the line's own width."""
    return f"{98 - 92 * value / most if most else 98:.1f}"
