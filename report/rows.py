"""Rows of a run's chart: a step with its bar and its details, grouped by the part of the cluster, folded to what matters."""

from collections.abc import Iterator, Mapping, Sequence

from report.parts import PARTS, Part, part_of_type
from report.runs import Run, Step
from report.tables import prose
from report.text import escaped
from simulator.report.words import duration, plural, short_type

MOST_LONGEST = 6
"""Steps of a part that are shown for their length alone."""
LONG_S, LONG_SHARE = 3.0, 0.04
"""Length in seconds, and as a share of the run, from which on a step is shown before its part is unfolded."""
FEWEST_FOLDED = 3
"""Fewer are not worth a fold."""
_NEAR_LEFT, _NEAR_RIGHT = 26.0, 74.0
"""Percent of the axis that the words beside a bar need on a phone."""
_SIGNS = {"create": "+", "update": "~", "delete": "-"}
"""As the engine marks what it does."""


class Rows:
    """All rows of one run. `end`: seconds at the right edge of the axis; `name`: what ids begin with."""

    def __init__(self, run: Run, name: str, end: float, parts: Mapping[str, Part]) -> None:
        self._run, self._end = run, end
        self._places = {id(step): f"{name}-{index}" for index, step in enumerate(run.steps)}
        self._by_part: dict[Part, list[Step]] = {part: [] for part in PARTS}
        for step in run.steps:
            self._by_part[parts.get(step.urn) or part_of_type(step.type) or "add-ons"].append(step)

    def html(self) -> str:
        """Parts that have steps, in the order of `PARTS`."""
        return "\n".join(self._part(part, steps) for part, steps in self._by_part.items() if steps)

    def _part(self, part: Part, steps: Sequence[Step]) -> str:
        first = what_matters(self._run, steps)
        shown = [step for step in steps if id(step) in first]
        folded = [step for step in steps if id(step) not in first]
        count = plural(len({step.urn for step in steps}), "resource")
        rows = "\n".join(self._row(step) for step in shown)
        return (
            f'<details class="part" open><summary><span class="name"><b>{part.capitalize()}</b> <i>{count}</i></span>'
            f'<span class="lane"><svg class="time">{self._span(steps)}</svg></span></summary>\n{rows}{self._folded(folded)}</details>'
        )

    def _folded(self, steps: Sequence[Step]) -> str:
        if not steps:
            return ""
        longest = max(step.seconds for step in steps)
        rows = "\n".join(self._row(step) for step in steps)
        words = f"{len(steps)} more, none longer than {duration(longest)}"
        return f'<details class="rest"><summary><span class="name">{words}</span></summary>\n{rows}</details>'

    def _span(self, steps: Sequence[Step]) -> str:
        """When anything of a part is under way, with what is critical in it."""
        start, end = min(step.start for step in steps), max(step.end for step in steps)
        critical = [step for step in steps if self._run.is_critical(step)]
        bars = "".join(self._bar(step.start, step.end) for step in critical)
        marks = "".join(_mark(self._percent(step.end), "M5-4l7 8m0-8l-7 8") for step in steps if step.trouble == "refused")
        return f'{self._bar(start, end, "span")}<g class="critical">{bars}</g>{marks}'

    def _row(self, step: Step) -> str:
        run = self._run
        style = " ".join(["row", *(["critical"] if run.is_critical(step) else []), *([step.trouble] if step.trouble else [])])
        tries = [f"{step.attempts} tries"] if step.attempts > 1 else []
        badge = ", ".join(["refused"] * (step.trouble == "refused") + ["cut"] * step.cut + tries)
        # What an up makes and a destroy deletes needs no sign; a change does all three.
        usual = {"up": "create", "destroy": "delete"}.get(run.phase)
        sign = f'<span class="sign">{_SIGNS[step.operation]}</span>' if step.operation != usual else ""
        left, right = self._percent(step.start), self._percent(step.end)
        return (
            f'<details class="{style}" id="{self._places[id(step)]}"><summary><span class="name">{sign}<b>{escaped(step.name)}</b> '
            f"<i>{escaped(short_type(step.type))}</i>{f' <em>{badge}</em>' if badge else ''}</span>"
            f'<span class="lane"><svg class="time">{self._waited(step)}{shapes(style, left, right)}{_label(step, left, right)}</svg></span>'
            f"</summary>{self._facts(step)}</details>"
        )

    def _waited(self, step: Step) -> str:
        """A wait for a free slot is a thin line before the bar: the step did nothing then."""
        if not step.slot_wait_seconds:
            return ""
        return slot_line(self._percent(step.start - step.slot_wait_seconds), self._percent(step.start))

    def _bar(self, start: float, end: float, style: str = "bar") -> str:
        """A bar of a part, thinner than those of its steps."""
        left, right = self._percent(start), self._percent(end)
        return f'<rect class="{style}" x="{left:.2f}%" width="{max(right - left, 0.0):.2f}%" y="8" height="6"/>'

    def _percent(self, seconds: float) -> float:
        return 100 * seconds / self._end

    def _facts(self, step: Step) -> str:
        return f"<dl>{''.join(f'<dt>{name}</dt><dd>{words}</dd>' for name, words in self._fact_pairs(step))}</dl>"

    def _fact_pairs(self, step: Step) -> Iterator[tuple[str, str]]:
        """Names and values, as HTML."""
        run = self._run
        if step.error is not None:
            yield "error", f'<span class="bad">{prose(step.error)}</span>'
            yield "cause", prose(step.cause or "not known")
            yield "fix", prose(step.fix or "not known")
        elif step.cut:
            yield "cut", "The run was killed while this was under way: how it ended was never written down."
        yield "type", escaped(step.type)
        span = f"{duration(step.start)} to {duration(step.end)}, {step.seconds:,.1f} s"
        yield step.operation, span + (", on the critical path" if run.is_critical(step) else "")
        if step.slot_wait_seconds:
            yield "slot", f"waited {duration(step.slot_wait_seconds)} for a free slot: as many steps as run at once were under way"
        if step.attempts > 1:
            yield "tries", str(step.attempts)
        if step.level is not None:
            yield "level", str(step.level)
        waited = run.waited_for(step)
        if waited is not None:
            yield "waited for", f'<a href="#{self._places[id(waited)]}">{escaped(waited.name)}</a> {escaped(short_type(waited.type))}'
        elif step.waited_for is None:
            yield "waited for", "nothing"
        for name, value in step.inputs.items():
            yield f"<code>{escaped(name)}</code>", escaped(value)


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


def shapes(style: str, left: float, right: float) -> str:
    """The bar, with the pattern and the mark that tell trouble without colour; places are percent of the axis."""
    span = f'x1="{left:.2f}%" x2="{right:.2f}%" y1="11" y2="11"'
    bar = f'<rect class="bar" x="{left:.2f}%" width="{max(right - left, 0.0):.2f}%" y="5" height="12"/>'
    if "refused" in style:
        return f'{bar}<line class="stripes" {span}/>' + _mark(right, "M5-4l7 8m0-8l-7 8")
    if "cut" in style:
        return bar + _mark(right, "M3-6l5 3-5 3 5 3-5 3")
    return f'{bar}<line class="dots" {span}/>' if "retried" in style else bar


def slot_line(left: float, right: float) -> str:
    """A wait for a free slot."""
    return f'<line class="slot" x1="{left:.2f}%" x2="{right:.2f}%" y1="11" y2="11"/>'


def _mark(right: float, shape: str) -> str:
    return f'<svg x="{right:.2f}%" y="11" overflow="visible"><path class="mark" d="{shape}"/></svg>'


def _label(step: Step, left: float, right: float) -> str:
    """How long it took, where there is room: behind the bar, before it, or on it."""
    words = duration(step.seconds)
    if right <= _NEAR_RIGHT:
        return f'<text x="{right:.2f}%" dx="{18 if step.trouble in ("refused", "cut") else 7}" y="15">{words}</text>'
    at = left if left >= _NEAR_LEFT else right
    return f'<text x="{at:.2f}%" dx="-7" y="15" text-anchor="end">{words}</text>'
