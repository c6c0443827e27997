"""The report of a rehearsal: the schema of `report.json`. `docs/report.schema.json` is made from these classes.

All times are virtual seconds since the phase began. The same stack, seed and program give the same report, byte for byte.
"""

from typing import Literal

from pydantic import Field

from facts.document import Document, Part
from simulator.cost_figures import Figures


class Program(Part, frozen=True):
    """The program itself."""

    seconds: float
    """Modelled time of the program's own work in a real run: start of Python and plug-ins, and each registration."""
    resources: int
    """What is made in the account and in the cluster: what takes time, costs money and can be left behind."""
    components: int
    """Groups of resources in the program: they exist in the state only."""
    registrations: int
    """What the program asks the engine for: resources, components and providers."""


class PathStep(Part, frozen=True):
    """One link of the critical path: a step that depends on the one before it."""

    urn: str
    name: str
    type: str
    operation: Literal["create", "update", "delete"]
    start: float = Field(serialization_alias="startSeconds")
    end: float = Field(serialization_alias="endSeconds")
    slot_wait_seconds: float
    """How long it was ready before its start: as many steps as the engine runs at once were under way."""


class StepTimes(Part, frozen=True):
    """One step: the creation, update or deletion of one resource."""

    urn: str
    type: str
    name: str
    start: float = Field(serialization_alias="startSeconds")
    end: float = Field(serialization_alias="endSeconds")
    attempts: int
    """Tries of the same request, and looks at something that was not ready: 1 where the first one did."""
    cut: bool
    """Whether the run was killed while it was under way: how it ended was never written down."""
    slot_wait_seconds: float
    """How long it was ready before its start: as many steps as the engine runs at once were under way."""
    error: str | None
    """What the engine prints where it was refused: the service's code, and its words."""
    cause: str | None
    """Why, with the names of what is in the way."""
    fix: str | None
    """What to do about it."""
    waited_for: str | None
    """URN of what it depends on and waited for last; null where it waited for nothing."""


class ResourceTimes(StepTimes, frozen=True):
    """One resource in the up phase."""

    parent: str
    """URN of the parent."""
    custom: bool
    """False for components, which take no time of their own."""
    depends_on: list[str]
    """URNs named by inputs and depends_on, sorted."""
    inputs: dict[str, str]
    """Inputs that tell it apart from others of its type, as text."""


class CostPoint(Part, frozen=True):
    """What the account costs from a moment on."""

    at: float = Field(serialization_alias="atSeconds")
    """Virtual seconds since the run began."""
    usd_per_hour: float
    usd: float
    """Spent by then, since the run began."""


class Up(Part, frozen=True):
    """One run of `pulumi up`."""

    seconds: float
    """Time until the cluster is ready, from the first registration on; `program.seconds` come before it."""
    ended: Literal["well", "refused", "killed"]
    before: list[str]
    """What was done before this run, because of how the one before it had ended: the fixes, as commands."""
    lower_bound_seconds: float
    """Shortest time that AWS's own chains allow from nothing, with the same latencies."""
    critical_path: list[PathStep]
    """The chain of dependencies that ends last, first link first."""
    resources: list[ResourceTimes]
    """By URN; what never started is missing."""
    not_started: list[str]
    """URNs of what the run was to make and did not come to."""
    cost: list[CostPoint]
    """Price per hour over the run; a resource is paid for from the request that makes it."""


class Problem(Part, frozen=True):
    """Something wrong with a cluster that is up: it costs money and cannot be used."""

    urn: str
    name: str
    rule: str
    """Name of the rule of the world that it breaks; `trn rehearse rules` lists them."""
    error: str
    cause: str
    fix: str


class Incident(Part, frozen=True):
    """Something that happens to nodes while a job runs."""

    fault: str
    name: str
    """Of the node group."""
    what: str
    seconds: float | None
    """Until the group has all its nodes again; null where nothing brings the node back."""
    job: str
    """What it means for a job on these nodes."""


class Leftover(Part, frozen=True):
    """Something still there after destroy."""

    urn: str
    what: str


class DestroyStep(StepTimes, frozen=True):
    """One deletion."""

    level: int
    """Level of the engine's plan, 0 first; a level starts when the one before has ended."""


class Destroy(Part, frozen=True):
    """Deleting everything."""

    seconds: float
    ended: Literal["well", "refused", "killed"]
    before: list[str]
    """What was done before this run, because of how the one before it had ended: the fixes, as commands."""
    lower_bound_seconds: float
    """Shortest time that AWS's and Kubernetes' own chains allow for what was there when the run began, with the same latencies."""
    order: list[DestroyStep]
    """In the order in which the deletions ended."""
    critical_path: list[PathStep]
    """The longest deletion of each level that took time."""
    cost: list[CostPoint]
    """What is still being paid for: until a deletion has ended."""
    leftovers: list[Leftover]
    """What is in the account when this run has ended. Must be empty."""


class CostLine(Part, frozen=True):
    """One line of the bill."""

    urn: str
    name: str
    what: str
    """What there is now; what there may be where there is nothing now."""
    quantity: float
    """Now."""
    usd_per_hour: float | None
    """Now; None where no price is known."""
    full_size_what: str
    """What there is at full size."""
    full_size_usd_per_hour: float | None
    idle_usd_per_hour: float | None
    price_verified: bool
    """False where the price was not found on a page."""
    price_source: str
    """Where the price was read, and when; empty where no price sets it."""


class Cost(Figures, frozen=True):
    """List prices, nothing that bills by use."""

    items: list[CostLine]
    """Highest price first."""


class Report(Document, frozen=True):
    """A whole rehearsal: `report.json`."""

    schema_: Literal["trn-rehearse"] = "trn-rehearse"
    stack: str
    seed: int
    """Seed of all latencies and ids."""
    notices: list[str]
    """What the configuration allows but its user should know."""
    faults: list[str]
    """What was made to go wrong, as it was asked for."""
    scenario: list[str] = Field(default_factory=list)
    """What the scenario is, and the quotas, capacity and faults that it set; empty without one."""
    program: Program
    up: Up
    """The first run."""
    reruns: list[Up]
    """Runs after it, each with the fix of the one before; empty where the first ended well."""
    problems: list[Problem]
    """Must be empty."""
    incidents: list[Incident]
    destroy: Destroy
    """The first destroy."""
    destroy_reruns: list[Destroy]
    cost: Cost
    """Of the whole cluster, as the program describes it."""
    outputs: dict[str, str]
    """Stack outputs as text."""
