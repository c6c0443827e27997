"""The report of a rehearsed change, as data and as the lines that the command prints."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.text import Text

from facts.document import Document, Part
from simulator.cost_figures import Figures
from simulator.engine.change import Changed
from simulator.engine.plan import Change, counts
from simulator.report.assemble import both, cost_points, ending, times
from simulator.report.schema import CostPoint, StepTimes
from simulator.report.words import duration, plural, short_type
from trn.change.plan.report import Report, classes_in, markdown
from trn.cli.lines import Line
from trn.engine.effects import effects, refused
from trn.engine.planned import Planned

MOST_SHOWN = 12
"""Resources that the summary names."""


class ResourceChange(Part, frozen=True):
    """One resource."""

    urn: str
    type: str
    name: str
    kind: Literal["create", "update", "replace", "delete"]
    changed: list[str]
    """Dotted paths of inputs that differ."""
    because: list[str]
    """Those that force a replacement."""
    delete_first: bool


class Nodes(Part, frozen=True):
    """What happens to the nodes of one group."""

    group: str
    kind: Literal["rolled", "replaced", "added", "removed", "stays"]
    nodes: int
    seconds: float
    extra_nodes: int
    """Nodes that must be had beside those of the group meanwhile: quota and capacity must hold them."""


class CautionLine(Part, frozen=True):
    """What to know before the change is run."""

    severity: Literal["red", "amber"]
    urn: str
    text: str


class ChangeStep(StepTimes, frozen=True):
    """One operation of the change."""

    operation: Literal["create", "update", "delete"]


class ChangeReport(Document, frozen=True):
    """A rehearsed change."""

    schema_: Literal["trn-rehearse-change"] = "trn-rehearse-change"
    before: str
    after: str
    seed: int
    counts: dict[str, int]
    """By kind; empty where nothing changes."""
    resources: list[ResourceChange]
    nodes: list[Nodes]
    cautions: list[CautionLine]
    """Red ones first: running jobs or data would go."""
    seconds: float
    ended: Literal["well", "refused", "killed"]
    steps: list[ChangeStep]
    cost: list[CostPoint]
    cost_before: Figures
    cost_after: Figures
    usd: float
    """Spent by the time it has ended: the last point of `cost`."""


def report_of(changed: Changed, before: str, after: str, seed: int) -> ChangeReport:
    """The report of a rehearsed change."""
    cost = cost_points(changed.after, changed.phase, changed.before)
    return ChangeReport(
        before=before,
        after=after,
        seed=seed,
        counts=counts(changed.changes),
        resources=[_resource(change) for change in changed.touched],
        nodes=[
            Nodes(group=item.group, kind=item.kind, nodes=item.nodes, seconds=item.seconds, extra_nodes=item.extra)
            for item in changed.nodes
        ],
        cautions=[CautionLine(severity=item.severity, urn=item.urn, text=item.text) for item in changed.cautions],
        seconds=changed.phase.seconds,
        ended=ending(changed.phase),
        steps=steps_of(changed),
        cost=cost,
        cost_before=changed.cost[0],
        cost_after=changed.cost[1],
        usd=cost[-1].usd,
    )


def steps_of(changed: Changed) -> list[ChangeStep]:
    """Operations that the change does, in the order in which they ended; what stays the same is left out."""
    graph = both(changed.before, changed.after)
    touched = {change.registration.urn for change in changed.touched}
    phase = changed.phase
    return [
        ChangeStep(**times(graph, phase, key), operation=phase.steps[key].operation)
        for key in phase.order
        if phase.steps[key].urn in touched
    ]


def _resource(change: Change) -> ResourceChange:
    item = change.registration
    assert change.kind != "same"
    return ResourceChange(
        urn=item.urn,
        type=item.type,
        name=item.name,
        kind=change.kind,
        changed=list(change.changed),
        because=list(change.because),
        delete_first=change.delete_first,
    )


def summary_lines(report: ChangeReport) -> Iterator[Line]:
    """What the command prints of a change."""
    if not report.resources:
        if report.ended == "well":
            yield "change", Text("nothing: no resource would be touched", style="bold green")
        else:
            yield "change", Text("refused by the program, before anything is changed", style="bold red")
            yield from _cautions(report)
        return
    said = ", ".join(f"{count} to {kind}" for kind, count in sorted(report.counts.items()))
    suffix = "" if report.ended == "well" else f", and is {report.ended}"
    yield "change", Text(f"{said}; takes {duration(report.seconds)}, virtual{suffix}", style="bold green" if not suffix else "bold red")
    yield from _cautions(report)
    for nodes in report.nodes:
        if nodes.kind != "stays":
            extra = f", {plural(nodes.extra_nodes, 'node')} more needed meanwhile" if nodes.extra_nodes else ""
            yield "nodes", Text(f"{nodes.group}: {plural(nodes.nodes, 'node')} {nodes.kind} in {duration(nodes.seconds)}{extra}")
    for item in report.resources[:MOST_SHOWN]:
        why = f" because of {', '.join(item.because)}" if item.because else f": {', '.join(item.changed)}" if item.changed else ""
        first = ", old one first" if item.kind == "replace" and item.delete_first else ""
        yield item.kind, Text(f"{short_type(item.type)} {item.name}{why}{first}")
    if len(report.resources) > MOST_SHOWN:
        yield "", Text(f"and {len(report.resources) - MOST_SHOWN} more, all in change.json")
    for step in report.steps:
        if step.error is not None:
            yield "refused", Text(f"{short_type(step.type)} {step.name}: {step.error}", style="bold red")
            yield "cause", Text(step.cause or "")
            yield "fix", Text(step.fix or "", style="green")
    yield "cost", Text(f"before: {report.cost_before.words()}")
    yield "", Text(f"after:  {report.cost_after.words()}")
    unknown = " + what has no known price" if report.cost_before.now.without or report.cost_after.now.without else ""
    yield "", Text(f"{report.usd:.2f} USD{unknown} during the change")


def _cautions(report: ChangeReport) -> Iterator[Line]:
    for caution in report.cautions:
        yield caution.severity, Text(caution.text, style="bold red" if caution.severity == "red" else "yellow")


UNSEEN = "a rehearsal has no jobs; whoever trains on nodes that go loses what came after the last checkpoint"


def judged(changed: Changed, stack: str, allowed: Sequence[str]) -> Report:
    """The change, with what the policy does not allow. Neuron nodes that go count as jobs that stop; what the program refuses is final."""
    touched = {change.registration.urn: change for change in changed.touched}
    found = effects(Planned(changed.before, changed.after, touched))
    classes = classes_in(found, {})
    if any(item.neuron and item.kind in ("rolled", "replaced", "removed") and item.nodes for item in changed.nodes):
        classes.add("jobs")
    unseen = UNSEEN if "restarts" in classes else ""
    return Report(stack, found, {}, changed.phase.seconds, changed.cost, refused(classes, allowed), unseen, allowed)


def comment(verdict: Report, changed: Changed) -> str:
    """For a pull request; what is refused is said first."""
    reasons = [str(step.refusal) for step in changed.phase.errors if step.refusal is not None]
    said = "".join(f"**The change is refused.** {' '.join(reason.split())}\n\n" for reason in reasons)
    return said + markdown(verdict)
