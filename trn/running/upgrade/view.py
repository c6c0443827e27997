"""The plan and the end of an upgrade, for a terminal and as data."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from simulator.report.words import duration
from trn.cli.output import print_table
from trn.running.upgrade.run import Outcome
from trn.running.upgrade.timed import Timed

SCHEMA = "trn-upgrade/1"
LEAST_WIDTH = 60
"""Columns of a terminal that holds the table of steps."""


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


def as_data(stack: str, steps: Sequence[Timed], findings: Sequence[Any] = (), outcome: Outcome | None = None) -> dict[str, Any]:
    """For `--json`."""
    return {
        "schemaVersion": SCHEMA,
        "stack": stack,
        "seconds": total_s(steps),
        "findings": list(findings),
        "steps": [
            {
                "step": timed.step.title,
                "kind": timed.step.kind,
                "minor": timed.step.minor,
                "group": timed.step.group.name if timed.step.group else None,
                "keys": {edit.key: edit.value for edit in timed.step.edits},
                "seconds": timed.seconds,
                "resources": timed.changed,
                "stops": timed.stops,
                "errors": list(timed.errors),
                "done": outcome is not None and timed.step in outcome.done,
            }
            for timed in steps
        ],
        "stoppedAt": outcome.stopped_at.title if outcome and outcome.stopped_at else None,
    }
