"""What a change comes to, at the head of its page: what is replaced, which jobs stop, time and cost before and after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from report.runs import Run
from report.templating import Tile
from simulator.cost_figures import Figures
from simulator.report.words import duration

KINDS = {"replace": "replaced", "delete": "deleted", "update": "updated", "create": "created"}
"""What can be done to a resource, worst first."""


@dataclass(frozen=True)
class Touched:
    """A resource that the change does something to."""

    kind: Literal["create", "update", "replace", "delete"]
    type: str
    name: str
    why: Sequence[str]
    """Dotted paths of inputs: of a replacement those that force it, of an update those that differ."""
    delete_first: bool = False
    seconds: float = 0.0
    """How long its steps take."""

    @property
    def done(self) -> str:
        """What is done to it."""
        return KINDS[self.kind]


@dataclass(frozen=True)
class NodesTouched:
    """What it does to the nodes of one group."""

    group: str
    words: str
    """`2 nodes replaced in 14 min 53 s`."""
    stops_jobs: bool


@dataclass(frozen=True)
class Side:
    """The cluster on one side of the change."""

    nodes: Mapping[str, int]
    """By instance type."""
    cost: Figures
    ready_s: float
    """Time to ready, from nothing."""
    destroy_s: float


@dataclass(frozen=True)
class ChangeRun:
    """A change of a running cluster, as the page shows it."""

    words: str
    """What is changed."""
    runs: Sequence[Run]
    """The first, and those after its failures."""
    losses: Sequence[str] = ()
    """What running jobs and stored data lose by it, in sentences."""
    cautions: Sequence[str] = ()
    """What else a reader must know before it is run."""
    touched: Sequence[Touched] = ()
    nodes: Sequence[NodesTouched] = ()
    sides: tuple[Side, Side] | None = None
    """Before and after; None where they were not rehearsed."""

    @property
    def figures(self) -> list[Tile]:
        """What it comes to."""
        seconds, failed = sum(run.seconds for run in self.runs), any(run.failed for run in self.runs)
        stopping = [nodes.group for nodes in self.nodes if nodes.stops_jobs]
        jobs = Tile("Jobs", "go on", ["no node with Neuron devices stops"])
        if stopping or self.losses:
            words = ("stop", [f"on {', '.join(stopping)}"]) if stopping else ("at risk", ["read what it deletes or interrupts"])
            jobs = Tile("Jobs", *words, bad=True)
        counts = [(sum(1 for item in self.touched if item.kind == kind), done) for kind, done in KINDS.items()]
        worst, *others = [f"{count} {done}" for count, done in counts if count] or ["none touched"]
        rest = ", ".join(others) or ("no other is touched" if self.touched else "nothing changes")
        spent = sum(run.cost[-1].usd for run in self.runs if run.cost)
        rates = (
            "{} an hour before, {} after".format(*(side.cost.now.words() for side in self.sides))
            if self.sides
            else "at the higher of both rates"
        )
        return [
            Tile("Takes", duration(seconds), ["not done: see below" if failed else "of virtual time"], bad=failed),
            Tile("Resources", worst, [rest]),
            jobs,
            Tile("Costs meanwhile", f"USD {spent:,.2f}", [rates]),
        ]

    @property
    def worst_first(self) -> list[Touched]:
        """Every resource that is touched, and of the equally bad the longest first."""
        return sorted(self.touched, key=lambda item: (list(KINDS).index(item.kind), -item.seconds, item.type, item.name))

    @property
    def compared(self) -> list[tuple[str, str, str]]:
        """What there is on both sides, before and after."""
        if self.sides is None:
            return []
        before, after = self.sides
        names = dict.fromkeys([*before.nodes, *after.nodes])
        return [
            *((f"Nodes {name}", str(before.nodes.get(name, 0)), str(after.nodes.get(name, 0))) for name in names),
            ("Now, USD an hour", before.cost.now.words(), after.cost.now.words()),
            ("At full size, USD an hour", before.cost.full_size.words(), after.cost.full_size.words()),
            ("Idle, USD an hour", before.cost.idle.words(), after.cost.idle.words()),
            ("Time to ready", duration(before.ready_s), duration(after.ready_s)),
            ("Time to destroy", duration(before.destroy_s), duration(after.destroy_s)),
        ]
