"""The size of one node group of a stack's cluster, as a change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from facts.document import Part
from simulator.cost_figures import Figure
from simulator.costs import CostItem, figures
from training.site import Site as JobSite
from trn.aws.cluster_identity import moment
from trn.aws.eks import OVERDUE, PAUSE_S, ROUNDS, begin_resize, node_group, problems, sized, update_of
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Aws
from trn.change.known import Unknown, known
from trn.change.occupants import Occupants, occupants, shown_occupants
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.engine.stack_file import StackFile
from trn.kubernetes.jobs.table import JobRow

if TYPE_CHECKING:
    from rich.table import Table

TIMES = ("capacityBlock", "schedule")
BUSY = ("CREATING", "UPDATING", "DELETING")
"""EKS's words for a group that it is changing: it refuses another change meanwhile."""


class ItemCost(Part, frozen=True):
    """What one line of the bill costs now."""

    name: str
    what: str
    usd_per_hour: float | None
    """Null where no price is known."""


class ScaleReport(ChangeDocument, frozen=True):
    """What `trn scale` did."""

    schema_: Literal["trn-scale"] = "trn-scale"
    group: str | None = None
    sizes: dict[str, int] | None = None
    """As EKS has them."""
    problems: tuple[str, ...] | None = None
    jobs: tuple[JobRow, ...] | None = None
    """Those with a pod on the group."""
    pods: tuple[str, ...] | None = None
    """Other pods there, as NAMESPACE/NAME."""
    now: Figure | None = None
    full_size: Figure | None = None
    idle: Figure | None = None
    items: tuple[ItemCost, ...] | None = None
    """What the stack costs with that size."""


def resized(stack_file: StackFile, group: str, count: int) -> StackFile:
    """The stack file with another count, for its cost. Times are left out: with them a group's size is theirs, and never 0."""
    groups: dict[str, Any] = {**stack_file.pairs["trn:nodeGroups"]}
    entry = {**{key: value for key, value in groups[group].items() if key not in TIMES}, "size": count}
    limits = {"minSize": min(entry.get("minSize", 0), count), "maxSize": max(entry.get("maxSize", 1), count, 1)}
    return replace(stack_file, pairs={**stack_file.pairs, "trn:nodeGroups": {**groups, group: {**entry, **limits}}})


@dataclass(frozen=True)
class Group:
    """The group, and who is on it."""

    identity: Aws
    status: str
    sizes: dict[str, int]
    wanted: dict[str, int]
    occupants: Occupants | Unknown
    """Looked for where the group loses nodes."""

    @property
    def size(self) -> int:
        """Nodes that it asks for."""
        return self.sizes["desiredSize"]


def described(site: Site, cluster: str, group: str) -> tuple[Aws, str, dict[str, int]]:
    """Which group it is, EKS's word for what it does, and its sizes. Raises what botocore raises."""
    entry = node_group(site.api, cluster, group)
    return Aws("node group", group, entry["nodegroupArn"], moment(entry.get("createdAt"))), entry["status"], entry["scalingConfig"]


def settling(cluster: str, group: str, update: dict[str, Any]) -> Callable[[Site], Outcome | None]:
    """Until EKS has done what it was asked."""
    latest = [update]

    def settled(site: Site) -> Outcome | None:
        said = problems(latest[0])
        if said is None:
            latest[0] = update_of(site.api, cluster, group, update)
            return None
        return Outcome("refused" if said else "done", tuple(said))

    return settled


@dataclass(frozen=True)
class Scale:
    """Set a group to a size. Before nodes go, what they interrupt is shown and asked about."""

    stack: str
    cluster: str
    group: str
    count: int
    namespace: str
    """The stack's own for jobs."""
    jobs: JobSite
    costs: Sequence[CostItem]
    """Of the stack with that size."""
    more: Sequence[str] = ()
    """Lines after the costs."""
    document = ScaleReport
    pace = Pace(pause_s=PAUSE_S, waits=ROUNDS, overdue=OVERDUE)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"scale {self.stack} {self.group} {self.count}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, _: Whose) -> Group:
        """The group; its occupants where it loses nodes."""
        identity, status, sizes = described(site, self.cluster, self.group)
        found: Occupants | Unknown = Occupants()
        if self.count < sizes["desiredSize"]:
            what = f"what runs on {self.group}"
            found = known(what, lambda: occupants(site.kubernetes(), self.group, self.namespace, self.jobs))
        return Group(identity, status, sizes, sized(sizes, self.count), found)

    def refusals(self, seen: Group) -> Iterator[Refusal]:
        """EKS changes one thing of a group at a time."""
        if seen.status in BUSY:
            yield Refusal(f"EKS is changing {self.group}: its status is {seen.status}", "wait for it, and run it again")

    def actions(self, seen: Group) -> list[Action]:
        """One call, or none where the group has the size and limits that take it."""

        def do(site: Site, which: Aws) -> Outcome:
            identity, _, sizes = described(site, self.cluster, self.group)
            if (identity, sizes) != (which, seen.sizes):
                return Outcome("moved", (f"{self.group} is not as it was a moment ago",))
            update = begin_resize(site.api, self.cluster, self.group, seen.wanted, site.token)
            return Outcome("done", settled=settling(self.cluster, self.group, update))

        if seen.wanted == seen.sizes:
            return []
        return [Action(f"set to {self.count} nodes", seen.identity, f"it has {seen.size}", do)]

    def question(self, seen: Group) -> Question | None:
        """What would be interrupted; nothing is asked where nothing is."""
        if isinstance(seen.occupants, Unknown) or not seen.occupants.counts:
            return None
        return Question(f"Go on, and interrupt {seen.occupants.counts} on {self.group} in {self.cluster}?")

    def shown(self, seen: Group) -> "Iterator[str | Table]":
        """The sizes, and the occupants."""
        yield f"{self.group}: {seen.size} nodes, wanted {self.count}"
        if not isinstance(seen.occupants, Unknown):
            yield from shown_occupants(self.group, seen.occupants)

    def differences(self, shown: Group, now: Group) -> Iterator[Difference]:
        """Another size, and who came and went. Whoever agreed to interrupt what is not known agreed to whatever it is."""
        if now.size != shown.size:
            yield Difference(f"{self.group} had {shown.size} nodes, now it has {now.size}", is_grave=True)
        if isinstance(shown.occupants, Unknown) or isinstance(now.occupants, Unknown):
            return
        came, gone = now.occupants.objects - shown.occupants.objects, shown.occupants.objects - now.occupants.objects
        yield from (Difference(f"{each.kind} {each.name} is new on {self.group}", is_grave=True) for each in _by_name(came))
        yield from (Difference(f"{each.kind} {each.name} is no longer on {self.group}", is_grave=False) for each in _by_name(gone))

    def result(self, _: Group, report: Report) -> Iterator[str]:
        """The size and what the stack then costs, or why not."""
        if report.left:
            for outcome in (outcome for _action, outcome in report.left):
                who = "EKS says" if outcome.kind in ("refused", "unsure") else f"{self.group} was left alone:"
                yield from (f"{who} {text}" for text in outcome.said)
            return
        yield f"{self.group} is set to {self.count} nodes; the stack costs {figures(list(self.costs)).words()}:"
        for line in (line for line in self.costs if line.now.usd_per_hour != 0):
            usd = "unknown" if line.now.usd_per_hour is None else f"{line.now.usd_per_hour:.3f}"
            yield f"  {usd:>8}  {line.name}, {line.what}"
        yield from self.more

    def data(self, seen: Group, report: Report) -> dict[str, Any]:
        """For `--json`."""
        found = Occupants() if isinstance(seen.occupants, Unknown) else seen.occupants
        sums = figures(list(self.costs))
        items = [ItemCost(name=line.name, what=line.what, usd_per_hour=line.now.usd_per_hour) for line in self.costs]
        return {
            "group": self.group,
            "sizes": seen.wanted,
            "problems": [text for _, outcome in report.left for text in outcome.said],
            "jobs": found.jobs,
            "pods": found.pods,
            "now": sums.now,
            "full_size": sums.full_size,
            "idle": sums.idle,
            "items": [item for item in items if item.usd_per_hour != 0],
        }


def _by_name(objects: frozenset[Any]) -> list[Any]:
    return sorted(objects, key=lambda each: (each.kind, each.name))
