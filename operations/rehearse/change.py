"""`trn rehearse change`: what changing a running cluster's configuration would do to it."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from operations.output import STANDARD_OUTPUT, write_json
from operations.rehearse.change_page import write_page
from operations.rehearse.command import record_stack
from operations.rehearse.summary import Line, print_lines
from operations.stack_file import StackFile, StackFileError, read_stack_file
from simulator.account.faults import Faults
from simulator.engine.change import Changed, rehearse_change
from simulator.engine.plan import Change, counts
from simulator.faults_syntax import parse_fault
from simulator.report import assemble as reporting
from simulator.report.drawing.text import duration, plural, short_type
from simulator.report.schema import CostPoint, Part, StepTimes
from stacks.config import NAMESPACE
from stacks.stack_yaml import YamlError, read_yaml

SCHEMA = "trn-change/1"
MOST_SHOWN = 12
"""Resources that the summary names."""


@dataclass(frozen=True)
class ChangeOptions:
    """What the command line said."""

    before: str
    after: str | None
    settings: tuple[str, ...]
    """`key=value`, values as YAML."""
    seed: int
    faults: tuple[str, ...]
    output: Path
    json_file: Path | None


class ResourceChange(Part):
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


class Nodes(Part):
    """What happens to the nodes of one group."""

    group: str
    kind: Literal["rolled", "replaced", "added", "removed", "stays"]
    nodes: int
    seconds: float
    extra_nodes: int
    """Nodes that must be had beside those of the group meanwhile: quota and capacity must hold them."""


class CautionLine(Part):
    """What whoever runs the change must know before."""

    severity: Literal["red", "amber"]
    urn: str
    text: str


class ChangeStep(StepTimes):
    """One operation of the change."""

    operation: Literal["create", "update", "delete"]


class ChangeReport(Part):
    """A rehearsed change."""

    schema_version: str
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
    usd_per_hour_before: float
    usd_per_hour_after: float
    usd: float
    """What runs while the change goes on, at the dearer of both rates."""


def run(options: ChangeOptions) -> int:
    """Rehearse a change, print it, write it; returns the exit code: 1 where it is refused or something red would go."""
    before = read_stack_file(options.before)
    # Another file is another configuration of the same stack: what stands is to become what it says.
    other = replace(read_stack_file(options.after), stack=before.stack) if options.after else before
    after = with_settings(other, options.settings)
    faults = Faults.of(parse_fault(text) for text in options.faults)
    graphs = [record_stack(stack_file, seed=options.seed) for stack_file in (before, after)]
    changed = rehearse_change(graphs[0], graphs[1], seed=options.seed, faults=faults)
    report = report_of(changed, before.stack, _title(options), options.seed)
    for place in (options.output / "change.json", options.json_file):
        write_json(report.model_dump(), place)
    write_page(changed, before, after, report.after, options.seed, options.output / "index.html")
    print_lines(Console(stderr=options.json_file == STANDARD_OUTPUT, highlight=False), list(_lines(report)))
    return 1 if report.ended != "well" or any(item.severity == "red" for item in report.cautions) else 0


def _title(options: ChangeOptions) -> str:
    return " ".join([options.after or options.before, *options.settings])


def with_settings(stack_file: StackFile, settings: Sequence[str]) -> StackFile:
    """A stack file with some keys changed.

    Raises StackFileError for a text without `=`, a value that is no YAML, or a path through something that is no section.
    """
    pairs = deepcopy(stack_file.pairs)
    for text in settings:
        path, separator, value = text.partition("=")
        if not separator or not path:
            raise StackFileError(f"`{text}` sets nothing", "write key=value, such as `nodeGroups.trn1-32xl.size=4`")
        try:
            parsed = read_yaml(value)
        except YamlError as error:
            raise StackFileError(f"the value in `{text}`: {error}", "write lists and sections as [a, b] and {key: value}") from error
        _set(pairs, path, parsed, text)
    return StackFile(stack_file.root, stack_file.project, stack_file.stack, pairs)


def _set(pairs: dict[str, Any], path: str, value: Any, text: str) -> None:
    *sections, last = path.split(".")
    keys = [*sections, last]
    keys[0] = f"{NAMESPACE}:{keys[0]}"
    place = pairs
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise StackFileError(f"`{path}` in `{text}` leads through a value that is no section", "see docs/configuration.md for the keys")
    if value is None:
        place.pop(keys[-1], None)
    else:
        place[keys[-1]] = value


def report_of(changed: Changed, before: str, after: str, seed: int) -> ChangeReport:
    """The report of a rehearsed change."""
    return ChangeReport(
        schema_version=SCHEMA,
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
        ended=reporting.ending(changed.phase),
        steps=steps_of(changed),
        cost=reporting.cost_points(reporting.both(changed.before, changed.after), changed.phase),
        usd_per_hour_before=changed.usd_per_hour[0],
        usd_per_hour_after=changed.usd_per_hour[1],
        usd=changed.usd,
    )


def steps_of(changed: Changed) -> list[ChangeStep]:
    """Operations that the change does, in the order in which they ended; what stays the same is left out."""
    graph = reporting.both(changed.before, changed.after)
    touched = {change.registration.urn for change in changed.touched}
    phase = changed.phase
    return [
        ChangeStep(**reporting.times(graph, phase, key), operation=phase.steps[key].operation)
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


def _lines(report: ChangeReport) -> Iterator[Line]:
    if not report.resources:
        yield "change", Text("nothing: no resource would be touched", style="bold green")
        return
    said = ", ".join(f"{count} to {kind}" for kind, count in sorted(report.counts.items()))
    ending = "" if report.ended == "well" else f", and is {report.ended}"
    yield "change", Text(f"{said}; takes {duration(report.seconds)}, virtual{ending}", style="bold green" if not ending else "bold red")
    for caution in report.cautions:
        yield caution.severity, Text(caution.text, style="bold red" if caution.severity == "red" else "yellow")
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
    rates = f"{report.usd_per_hour_before:.2f} USD an hour before, {report.usd_per_hour_after:.2f} after"
    yield "cost", Text(f"{rates}, {report.usd:.2f} USD while the change goes on")
