"""Rows of `trn jobs`, and the table that shows them."""

from collections.abc import Sequence
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from facts.document import Document, Part
from training.phase import Phase
from trn.kubernetes.causes.rules import cause
from trn.kubernetes.jobs.job import FoundJob
from trn.kubernetes.jobs.look import View
from trn.kubernetes.situation import Cause

_STYLES = {Phase.RUNNING: "green", Phase.FAILED: "bold red", Phase.WAITING: "yellow", Phase.RESTARTING: "yellow"}


class JobRow(Part, frozen=True):
    """One job."""

    name: str
    kind: str
    nodes_wanted: int
    nodes_running: int
    since: str
    restarts: int
    state: Phase
    cause: str | None
    """One word for what holds it up: `queue`, `claim`, `image`, ...; null where nothing does."""
    why: str | None
    do: str | None
    """The next command, or the key to change."""


class JobsReport(Document, frozen=True):
    """What `trn jobs` lists."""

    schema_: Literal["trn-jobs"] = "trn-jobs"
    jobs: tuple[JobRow, ...]


class WhyReport(Document, frozen=True):
    """What `trn why` says of a job."""

    schema_: Literal["trn-why"] = "trn-why"
    job: str
    """As KIND/NAME."""
    state: Phase
    nodes_wanted: int
    nodes_running: int
    cause: str | None
    """One word for what holds it up; null where nothing does."""
    why: str | None
    do: str | None


def rows(view: View) -> list[JobRow]:
    """Jobs that a user started, those that are not over first; what another object made is part of that."""
    found = [_row(job, cause(view.situation(job))) for job in view.jobs if job.kind.chosen(job.item)]
    return sorted(found, key=lambda row: (row.state.is_over, row.since, row.name))


def _row(job: FoundJob, held_by: Cause | None) -> JobRow:
    return JobRow(
        name=job.name,
        kind=job.kind.resource.kind,
        nodes_wanted=job.wanted,
        nodes_running=job.running,
        since=job.since,
        restarts=job.restarts,
        state=job.phase,
        **cause_fields(held_by),
    )


def cause_fields(held_by: Cause | None) -> dict[str, Any]:
    """What holds a job up, by the fields of a row."""
    return {"cause": None, "why": None, "do": None} if held_by is None else {"cause": held_by.name, "why": held_by.what, "do": held_by.do}


def table(found: Sequence[JobRow]) -> Table:
    """One line for each job."""
    view = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("job", "kind", "nodes", "since", "restarts", "state", "why"):
        view.add_column(column, no_wrap=column != "why", overflow="fold")
    for row in found:
        cells = (row.name, row.kind, f"{row.nodes_running} of {row.nodes_wanted}", row.since, str(row.restarts))
        view.add_row(*map(Text, cells), Text(str(row.state), style=_STYLES.get(row.state, "")), Text(row.why or ""))
    return view
