"""The report of `trn plan`: what a user lets it do; lines for a terminal, Markdown for a pull request, data for programs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from rich.text import Text

from facts.document import Document, Part
from simulator.cost_figures import Figures
from simulator.report.words import duration, plural, short_type
from trn.change.plan.stopped import StoppedJob
from trn.cli.errors import MISUSE, CommandError
from trn.cli.lines import Line
from trn.cli.text_files import read_text as read_bounded
from trn.engine.effects import CLASSES, Class, Effect

CENT = 0.01
MEANS: Mapping[Class, str] = {
    "safe": "nothing stops",
    "restarts": "nodes go or are replaced",
    "jobs": "training stops",
    "data": "data is destroyed",
    "final": "cannot be undone",
}


class PlanStep(Part, frozen=True):
    """One step that touches something outside the engine."""

    urn: str
    type: str
    name: str
    operation: str
    """`create`, `update`, `replace` or `delete`."""
    classes: tuple[Class, ...]
    because: tuple[str, ...]
    """Inputs that force a replacement, or those that differ."""
    texts: tuple[str, ...]
    stops: tuple[StoppedJob, ...]


class CostChange(Part, frozen=True):
    """What the stack costs before and after."""

    before: Figures
    after: Figures


class PlanReport(Document, frozen=True):
    """What `trn plan` says."""

    schema_: Literal["trn-plan"] = "trn-plan"
    stack: str
    counts: dict[str, int]
    """Steps by operation."""
    seconds: float
    """At least."""
    refused: tuple[Class, ...]
    """What the policy does not allow."""
    jobs_unknown: str | None
    """Why the cluster's jobs are not known; null where they are."""
    steps: tuple[PlanStep, ...]
    cost: CostChange


@dataclass(frozen=True)
class Report:
    """A plan, judged."""

    stack: str
    effects: Sequence[Effect]
    stopped: Mapping[str, Sequence[StoppedJob]]
    """By URN of the step."""
    seconds: float
    """At least."""
    cost: tuple[Figures, Figures]
    """Before and after."""
    refused: Sequence[Class]
    """What the policy does not allow."""
    unseen: str = ""
    """Why the cluster's jobs are not known; empty where they are."""
    allowed: Sequence[str] = field(default=())

    @property
    def counts(self) -> Counter[str]:
        """Steps by operation."""
        return Counter(effect.operation for effect in self.effects)

    def classes_of(self, effect: Effect) -> list[Class]:
        """Of a step, with the jobs that it stops."""
        return _classes(effect, self.stopped)

    @property
    def ordered(self) -> list[Effect]:
        """The gravest first; those that are safe and say nothing are left out."""
        told = [effect for effect in self.effects if self.classes_of(effect) != ["safe"] or effect.texts]
        return sorted(told, key=lambda effect: (-CLASSES.index(self.classes_of(effect)[-1]), effect.urn))

    @property
    def quiet(self) -> list[Effect]:
        """Those that are safe and say nothing."""
        told = {effect.urn for effect in self.ordered}
        return [effect for effect in self.effects if effect.urn not in told]

    @property
    def summary(self) -> str:
        """The plan in a line."""
        if not self.effects:
            return "nothing: no resource would be touched"
        said = ", ".join(f"{count} to {operation}" for operation, count in sorted(self.counts.items()))
        return f"{said}; takes at least {duration(self.seconds)}"


def classes_in(effects: Sequence[Effect], stopped: Mapping[str, Sequence[StoppedJob]]) -> set[Class]:
    """All classes of a plan."""
    return {name for effect in effects for name in _classes(effect, stopped)}


def _classes(effect: Effect, stopped: Mapping[str, Sequence[StoppedJob]]) -> list[Class]:
    found = set(effect.classes) | ({"jobs"} if stopped.get(effect.urn) else set())
    return [name for name in CLASSES if name in found and (name != "safe" or found == {"safe"})]


def lines(report: Report) -> Iterator[Line]:
    """What the command prints."""
    yield "plan", Text(report.summary, style="bold red" if report.refused else "bold green")
    for effect in report.ordered:
        classes = report.classes_of(effect)
        style = "bold red" if set(classes) & {"jobs", "data", "final"} else "yellow" if "restarts" in classes else ""
        for number, text in enumerate(_texts(report, effect)):
            yield ", ".join(classes) if number == 0 else "", Text(text, style=style)
    if report.quiet:
        by_type = Counter(f"{effect.operation} {short_type(effect.type)}" for effect in report.quiet)
        yield "safe", Text(", ".join(f"{count} x {what}" if count > 1 else what for what, count in sorted(by_type.items())))
    if report.unseen:
        yield "jobs", Text(f"not known: {report.unseen}", style="yellow")
    for label, figures in zip(("cost", ""), report.cost, strict=True):
        yield label, Text(f"{'before: ' if label else 'after:  '}{figures.words()}")
    if difference := cost_difference(report):
        yield "", Text(difference, style="yellow" if "more" in difference else "")
    yield from refusal_lines(report)


def cost_difference(report: Report) -> str:
    """Whether the plan costs more, for a reader; empty where the price stays, or where a part of it is not known."""
    before, after = (figures.now for figures in report.cost)
    more = after.usd_per_hour - before.usd_per_hour
    if before.without or after.without or abs(more) < CENT / 2:
        return ""
    return f"costs {abs(more):,.2f} USD an hour {'more' if more > 0 else 'less'}"


def refusal_lines(report: Report) -> Iterator[Line]:
    """What the policy does not allow, and the options that allow it; nothing where it allows all."""
    if report.refused:
        allow = " ".join(f"--allow {name}" for name in report.refused)
        means = ", ".join(f"{name} ({MEANS[name]})" for name in report.refused)
        yield "refused", Text(f"the policy does not allow {means}; {allow} does", style="bold red")


def _texts(report: Report, effect: Effect) -> list[str]:
    jobs = [job.text for job in report.stopped.get(effect.urn, ())]
    return [*effect.texts, *jobs] or [f"{short_type(effect.type)} {effect.name}: {effect.operation}"]


def markdown(report: Report) -> str:
    """A comment for a pull request."""
    rows = [
        f"| {', '.join(report.classes_of(effect))} | {effect.operation} | {_cell(short_type(effect.type))} {_cell(effect.name)} |"
        f" {_cell('; '.join(_texts(report, effect)))} |"
        for effect in report.ordered
    ]
    before, after = (figures.words() for figures in report.cost)
    difference = cost_difference(report)
    verdict = f"**Refused by the policy: {', '.join(report.refused)}.**" if report.refused else "Allowed by the policy."
    parts = [
        f"### Plan of stack {_cell(report.stack)}",
        f"{report.summary[0].upper()}{report.summary[1:]}. {verdict}",
        *(["\n".join(["| class | step | resource | what it does |", "| --- | --- | --- | --- |", *rows])] if rows else []),
        *([f"{plural(len(report.quiet), 'step')} more, none of which stops anything."] if report.quiet else []),
        *([f"Which jobs run is not known: {_cell(report.unseen)}."] if report.unseen else []),
        f"Cost before: {_cell(before)}.\nCost after: {_cell(after)}." + (f"\n**It {difference}.**" if difference else ""),
    ]
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    """Text in a table of Markdown: names are text and never markup."""
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"&#{ord(mark)};")
    return " ".join(text.split())


def document_of(report: Report) -> PlanReport:
    """For `--json`."""
    return PlanReport(
        stack=report.stack,
        counts=dict(report.counts),
        seconds=report.seconds,
        refused=tuple(report.refused),
        jobs_unknown=report.unseen or None,
        steps=tuple(
            PlanStep(
                urn=effect.urn,
                type=effect.type,
                name=effect.name,
                operation=effect.operation,
                classes=tuple(report.classes_of(effect)),
                because=effect.because,
                texts=effect.texts,
                stops=tuple(report.stopped.get(effect.urn, ())),
            )
            for effect in report.effects
        ),
        cost=CostChange(before=report.cost[0], after=report.cost[1]),
    )


MAX_BYTES = 200_000_000
"""Largest state or preview; those of a cluster have some megabytes."""


def checked(allow: Sequence[str]) -> tuple[str, ...]:
    """The classes of --allow, given one by one or with commas between. Raises CommandError for one that there is not."""
    names = [name.strip() for text in allow for name in text.split(",")]
    for name in names:
        if name not in CLASSES or name == "safe":
            known = ", ".join(f"{known} ({MEANS[known]})" for known in CLASSES if known != "safe")
            raise CommandError(f"--allow takes no `{name}`", f"allowed: {known}", code=MISUSE)
    return tuple(names)


def read_text(path: Path) -> str:
    """A file's text. Raises CommandError."""
    return read_bounded(path, MAX_BYTES, "name what `pulumi` printed")
