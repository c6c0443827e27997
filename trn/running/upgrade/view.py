"""The plan and the end of an upgrade, for a terminal and as data."""

from collections.abc import Sequence
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from facts.document import Document, Part
from simulator.report.words import duration
from trn.cli.findings import Finding
from trn.cli.output import print_table
from trn.running.upgrade.run import Outcome
from trn.running.upgrade.steps import Kind
from trn.running.upgrade.timed import Timed

LEAST_WIDTH = 60
"""Columns of a terminal that holds the table of steps."""


class UpgradeStep(Part, frozen=True):
    """One run of `pulumi up`."""

    step: str
    kind: Kind
    minor: str
    group: str | None
    """Of a step of nodes."""
    keys: dict[str, Any]
    """What the stack file gets before it."""
    seconds: float
    """At least."""
    resources: int
    """That it changes."""
    stops: str
    errors: tuple[str, ...]
    """What the account refuses."""
    done: bool


class UpgradeWalk(Part, frozen=True):
    """An upgrade step by step."""

    stack: str
    seconds: float
    steps: tuple[UpgradeStep, ...]
    stopped_at: str | None
    """The step that failed; null where none did."""


class UpgradeReport(UpgradeWalk, Document, frozen=True):
    """What `trn upgrade` would do, or did."""

    schema_: Literal["trn-upgrade"] = "trn-upgrade"
    findings: tuple[Finding, ...]


class RehearsedUpgradeReport(UpgradeWalk, Document, frozen=True):
    """What `trn rehearse upgrade` found."""

    schema_: Literal["trn-rehearse-upgrade"] = "trn-rehearse-upgrade"
    charts: dict[str, str]
    """Those that do not list a minor: what they list, by name."""


def print_plan(console: Console, steps: Sequence[Timed]) -> None:
    """Steps with their time in the virtual clock, and what each stops."""
    table = Table(box=None, pad_edge=False)
    for title in ("step", "at least", "stops"):
        table.add_column(title, no_wrap=title != "stops")
    for timed in steps:
        table.add_row(timed.step.title, duration(timed.seconds), timed.stops)
    table.add_row("together", duration(total_s(steps)), "")
    print_table(console, table, LEAST_WIDTH)
    for timed in steps:
        for error in timed.errors:
            console.print(f"refused  {timed.step.title}: {error}", markup=False, soft_wrap=True)


def total_s(steps: Sequence[Timed]) -> float:
    """Of all steps, one after the other."""
    return sum(timed.seconds for timed in steps)


def walk_part(stack: str, steps: Sequence[Timed], outcome: Outcome | None = None) -> UpgradeWalk:
    """The steps for `--json`."""
    return UpgradeWalk(
        stack=stack,
        seconds=total_s(steps),
        steps=tuple(
            UpgradeStep(
                step=timed.step.title,
                kind=timed.step.kind,
                minor=timed.step.minor,
                group=timed.step.group.name if timed.step.group else None,
                keys={edit.key: edit.value for edit in timed.step.edits},
                seconds=timed.seconds,
                resources=timed.changed,
                stops=timed.stops,
                errors=timed.errors,
                done=outcome is not None and timed.step in outcome.done,
            )
            for timed in steps
        ),
        stopped_at=outcome.stopped_at.title if outcome and outcome.stopped_at else None,
    )


def report_of(stack: str, steps: Sequence[Timed], findings: Sequence[Finding] = (), outcome: Outcome | None = None) -> UpgradeReport:
    """For `--json`."""
    return UpgradeReport(**dict(walk_part(stack, steps, outcome)), findings=tuple(findings))
