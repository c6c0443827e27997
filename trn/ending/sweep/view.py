"""A sweep as data and as a table: what is left over, and what it costs a day."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from facts.document import Document, Part
from facts.names import STACK_TAG
from trn.aws.cluster_identity import ClusterIdentity
from trn.aws.leftovers import Found, kind_named
from trn.change.ownership import DELETING
from trn.change.sweep_plan import IN_STATE, WITH_CLUSTER, SweepPlan

CLUSTER_KIND = "EKS cluster"
"""As in KINDS; its name there is EKS's word for its status."""


class FoundEntry(Part, frozen=True):
    """One object in the account."""

    kind: str
    id: str
    name: str
    because: str
    """How it is known to be the cluster's."""
    usd_per_day: float | None
    """Null where no price is known."""


class KeptEntry(FoundEntry, frozen=True):
    """One that is left alone."""

    why: str


class SweepListReport(Document, frozen=True):
    """What `trn sweep` lists without `--delete`."""

    schema_: Literal["trn-sweep-list"] = "trn-sweep-list"
    cluster: str
    usd_per_day: float
    found: tuple[FoundEntry, ...]
    kept: tuple[KeptEntry, ...]
    identity: ClusterIdentity | None
    """Whose the cluster is; null without a state file, which says it."""


def plan_fields(cluster: str, plan: SweepPlan) -> dict[str, Any]:
    """A plan, by the fields of both reports."""
    return {
        "cluster": cluster,
        "usd_per_day": plan.usd_per_day,
        "found": [entry_of(item) for item in plan.deletions],
        "kept": [{**entry_of(item), "why": why} for item, why in plan.kept],
    }


def entry_of(item: Found) -> dict[str, Any]:
    """One object, by the fields of its entry."""
    return {"kind": item.kind, "id": item.id, "name": item.name, "because": item.because, "usd_per_day": item.usd_per_day}


def leftover_lines(plan: SweepPlan) -> Iterator[str]:
    """What is there beside what Pulumi's state holds, before the stack is destroyed: what goes, and what is kept."""
    for item in plan.deletions:
        yield f"  beside the stack: {item.kind} {item.id} ({item.because})"
    for item, why in plan.kept:
        if kind_named(item.kind).leftover.is_data:
            yield f"  {item.kind} {item.id} is data: it stays after the destroy, unless --data names it ({item.because})"
        elif why in WITH_CLUSTER:
            yield f"  goes with the cluster: {item.kind} {item.id} ({item.because})"
        elif why != IN_STATE:
            yield f"  kept {item.kind} {item.id}: {why}"


def print_stacks(console: Console, found: Sequence[Found]) -> None:
    """Which stacks made what is listed, where they say so."""
    counts = Counter(item.tags[STACK_TAG] for item in found if STACK_TAG in item.tags)
    for stack, count in sorted(counts.items()):
        console.print(f"{count} made by {stack}", markup=False, soft_wrap=True)


def print_living(console: Console, found: Sequence[Found]) -> None:
    """Says that the cluster is up where it is: the list, made without Pulumi's state, then holds all that it runs on."""
    for item in found:
        if item.kind == CLUSTER_KIND and item.name != DELETING:
            words = f"the cluster is up ({item.name}): this is in use, not left over; --delete keeps what Pulumi's state holds"
            console.print(words, markup=False, soft_wrap=True)


def print_plan(console: Console, cluster: str, plan: SweepPlan) -> None:
    """What is left over, in the order of deletion, with what each costs a day."""
    for line in lines_of(cluster, plan):
        console.print(line, markup=False, soft_wrap=isinstance(line, str))


def lines_of(cluster: str, plan: SweepPlan) -> Iterator[RenderableType]:
    """The same, for whoever prints it."""
    if not plan.deletions:
        yield f"nothing of {cluster} is left over"
    else:
        yield _table(plan.deletions)
        unpriced = sum(1 for item in plan.deletions if item.usd_per_day is None)
        more = f", and {unpriced} of unknown price" if unpriced else ""
        yield f"{len(plan.deletions)} left over, {plan.usd_per_day:.2f} USD a day{more}"
    for item, why in plan.kept:
        yield f"kept {item.kind} {item.id}: {why}"


def _table(found: Sequence[Found]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("kind", "id", "name", "because"):
        # Never cut short: the ids are what a user confirms, and what a log has to keep.
        table.add_column(name, overflow="fold")
    table.add_column("USD/day", justify="right")
    for item in found:
        usd = "unknown" if item.usd_per_day is None else f"{item.usd_per_day:.2f}"
        table.add_row(item.kind, Text(item.id), Text(item.name), Text(item.because), usd)
    return table
