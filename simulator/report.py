"""The report of a rehearsal: the schema of `report.json`. `docs/report.schema.json` is made from these classes.

All times are virtual seconds since the phase began. The same stack, seed and program give the same report, byte for byte.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA = "trn-rehearsal/1"


class Part(BaseModel):
    """Base: frozen, nothing beyond the schema."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Program(Part):
    """The program itself."""

    seconds: float
    """Modelled time of the program's own work in a real run: start of Python and plug-ins, and each registration."""
    resources: int
    """Everything registered, components included."""
    components: int
    """Of these, components."""


class PathStep(Part):
    """One link of the critical path."""

    urn: str
    name: str
    type: str
    start: float
    end: float


class ResourceTimes(Part):
    """One resource in the up phase."""

    urn: str
    type: str
    name: str
    parent: str
    """URN of the parent."""
    custom: bool
    """False for components, which take no time of their own."""
    depends_on: list[str]
    """URNs named by inputs and depends_on, sorted."""
    start: float
    end: float
    attempts: int
    error: str | None


class Up(Part):
    """Making everything."""

    seconds: float
    """Time until the cluster is ready, from the first registration on; `program.seconds` come before it."""
    lower_bound_seconds: float
    """Shortest time that AWS's own chains allow, with the same latencies."""
    critical_path: list[PathStep]
    """The chain of waits that ends last, first link first."""
    resources: list[ResourceTimes]
    """By URN."""


class Leftover(Part):
    """Something still there after destroy."""

    urn: str
    what: str


class DestroyStep(Part):
    """One deletion."""

    urn: str
    type: str
    name: str
    level: int
    """Level of the engine's plan, 0 first; a level starts when the one before has ended."""
    start: float
    end: float
    error: str | None


class Destroy(Part):
    """Deleting everything."""

    seconds: float
    order: list[DestroyStep]
    """In the order in which the deletions ended."""
    critical_path: list[PathStep]
    """The longest deletion of each level that took time."""
    leftovers: list[Leftover]
    """Must be empty."""


class CostLine(Part):
    """One line of the bill."""

    urn: str
    name: str
    what: str
    quantity: float
    usd_per_hour: float | None
    """None where AWS has no list price."""
    idle_usd_per_hour: float | None
    price_verified: bool
    """False where the price was not found on a page."""


class Cost(Part):
    """List prices, nothing that bills by use."""

    running_usd_per_hour: float
    idle_usd_per_hour: float
    """With all Neuron groups at zero nodes."""
    items: list[CostLine]
    """Dearest first."""


class Report(Part):
    """A whole rehearsal."""

    # `schema` is pydantic's own word; the alias is what JSON shows.
    schema_: Literal["trn-rehearsal/1"] = Field(alias="schema")
    """Name and version of this schema."""
    stack: str
    seed: int
    """Seed of all latencies and ids."""
    notices: list[str]
    """What the configuration allows but its user should know."""
    program: Program
    up: Up
    destroy: Destroy
    cost: Cost
    outputs: dict[str, str]
    """Stack outputs as text."""
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, populate_by_name=True)

    def as_json(self) -> str:
        """The report as it is written to `report.json`: keys in the order of the schema, two spaces, a final newline."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"
