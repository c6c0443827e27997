"""Rows of `trn jobs`, and the table that shows them."""

from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from training.phase import Phase
from trn.kubernetes.causes.rules import cause
from trn.kubernetes.jobs.look import View
from trn.kubernetes.situation import Cause

_STYLES = {Phase.RUNNING: "green", Phase.FAILED: "bold red", Phase.WAITING: "yellow", Phase.RESTARTING: "yellow"}


@dataclass(frozen=True)
class Row:
    """One job."""

    name: str
    kind: str
    wanted: int
    """Nodes."""
    running: int
    since: str
    phase: Phase
    cause: Cause | None

    def as_data(self) -> dict[str, Any]:
        """The same for `--json`."""
        found = self.cause
        return {
            "name": self.name,
            "kind": self.kind,
            "nodesWanted": self.wanted,
            "nodesRunning": self.running,
            "since": self.since,
            "state": str(self.phase),
            "cause": found.name if found else None,
            "why": found.what if found else None,
            "do": found.do if found else None,
        }


def rows(view: View) -> list[Row]:
    """Jobs that a user started, those that are not over first; what another object made is part of that."""
    found = [
        Row(job.name, job.kind.resource.kind, job.wanted, job.running, job.since, job.phase, cause(view.situation(job)))
        for job in view.jobs
        if job.kind.chosen(job.item)
    ]
    return sorted(found, key=lambda row: (row.phase.is_over, row.since, row.name))


def table(found: list[Row]) -> Table:
    """One line for each job."""
    view = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("job", "kind", "nodes", "since", "state", "why"):
        view.add_column(column, no_wrap=column != "why", overflow="fold")
    for row in found:
        why = row.cause.what if row.cause else ""
        cells = (row.name, row.kind, f"{row.running} of {row.wanted}", row.since)
        view.add_row(*map(Text, cells), Text(str(row.phase), style=_STYLES.get(row.phase, "")), Text(why))
    return view
