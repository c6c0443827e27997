"""The shape of what is known about one resource type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from facts.resources.api_calls import Creation
from facts.resources.latency import Latencies
from facts.resources.outputs import Inputs, Make
from facts.resources.queries import Deletion, Leftover, Lookup, Tagging
from facts.resources.rights import Rights, action_name


@dataclass(frozen=True)
class Without:
    """A part that a type does not have, and why."""

    why: str


@dataclass(frozen=True)
class Fixed:
    """An input that an object keeps for life: a change of it is refused, and the provider does not make it a replacement."""

    source: str
    text: str = "field is immutable"
    """The API server's words."""
    default: Any = None
    """Its value where it is not set."""
    allowed: Callable[[Any, Any], bool] = lambda old, new: old == new
    """Whether one value may follow another."""


@dataclass(frozen=True)
class Changes:
    """What a change of an input does.

    Source: schemas of hashicorp/terraform-provider-aws and pulumi/pulumi-kubernetes provider/pkg/provider/diff.go, read
    2026-11; paths use dots, list levels left out. Only inputs that the program sets are listed; every other changes in place.
    """

    replacing: tuple[str, ...]
    """Inputs that cannot change in place: a change makes a new resource."""
    calls: tuple[str, ...] = ()
    """Operations that change one in place."""
    one_way: Mapping[str, Callable[[Inputs, Inputs], bool]] = field(default_factory=dict)
    """Inputs that change in one direction only: (old, new) to whether the resource is replaced."""
    fixed: Mapping[str, Fixed] = field(default_factory=dict)
    """Inputs that can never change: neither in place, nor by a replacement."""
    name: str | None = None
    """Input with the physical name: set by the program, a replacement deletes first (pulumi/pulumi-terraform-bridge
    pkg/tfbridge/provider.go)."""
    deletes_first: bool = False
    """A replacement deletes first, even if the names differ."""


@dataclass(frozen=True)
class Conflict:
    """What a service says where an object of the name, or in the place, is there already."""

    fields: tuple[str, ...]
    """Inputs, with dots, that the text names."""
    code: str
    text: str = ""
    """With the last part of each of these inputs in braces; empty where the service's words are not known."""


@dataclass(frozen=True)
class NameLimit:
    """Longest name that a service takes."""

    input: str
    characters: int
    source: str


@dataclass(frozen=True)
class Listed:
    """What bills by the hour at a list price."""

    price: str | Callable[[Inputs], str]
    """Entry of `facts.prices.PRICES`, or a function of the inputs that gives it."""
    what: str
    """As users read it, with inputs and `{quantity}` in braces."""
    quantity: Callable[[Inputs], float] = lambda inputs: 1
    """Units of the price; 0 where the resource bills nothing."""


@dataclass(frozen=True)
class ByInstances:
    """What bills as the instances that it runs: their type, number and volumes are read from the resource and its template."""


Second = Literal["refused", "same", "another"]
"""The service refuses it; answers with the object that is there; or makes another one without a word."""
Costs = Listed | ByInstances | Without
Identity = Callable[[Inputs], str | None]


@dataclass(frozen=True)
class ResourceType:
    """Everything that is known about one type, wherever it is used."""

    token: str
    """Pulumi's name of the type."""
    make: Make
    """Id and outputs of a new one. Shapes: schemas of hashicorp/terraform-provider-aws and property docs of pulumi-aws
    7.51.1, read 2026-11; pulumi/pulumi-kubernetes provider, read 2026-07."""
    latencies: Latencies
    changes: Changes
    identity: Identity
    """What identifies an object among all of its type, from its inputs: its name, its place or its tags. None where nothing
    does: such an object is lost when a run is killed before its id is written down."""
    creation: Creation | Without
    lookup: Lookup | Without
    tagging: Tagging | Without
    """Without it the type takes no tags, and no default tags of the provider."""
    deletion: Deletion | Without
    rights: Rights | Without
    costs: Costs
    leftover: Leftover | Without
    """How a sweep finds it, or why nothing of it can be left."""
    conflict: Conflict | None = None
    """None where the service takes a second one, or its code is not known."""
    name_limit: NameLimit | None = None
    """None where it has no name, or the limit is out of reach."""
    second: Second = "refused"
    """What becomes of a second creation with the same inputs."""

    @property
    def takes_tags(self) -> bool:
        """Whether it has tags of its own."""
        return isinstance(self.tagging, Tagging)


@dataclass(frozen=True)
class Foreign:
    """A kind of object that no program here makes and a cluster may leave: controllers in it, or AWS itself, made it."""

    leftover: Leftover
    deletion: Deletion


def missing_parts(resource_type: ResourceType) -> list[str]:
    """Names of the parts that an entry lacks, with what is wrong; empty where it is whole."""
    values: dict[str, Any] = {part.name: getattr(resource_type, part.name) for part in fields(resource_type)}
    optional = {"conflict", "name_limit"}
    found = [name for name, value in values.items() if value is None and name not in optional]
    found += [f"{name}: no reason" for name, value in values.items() if isinstance(value, Without) and not value.why.strip()]
    latencies = resource_type.latencies
    for name, latency in (("create", latencies.usual.create), ("delete", latencies.usual.delete), *latencies.updates.items()):
        if not latency.source.startswith(("published", "measured", "inferred")):
            found.append(f"latencies: no source for {name or 'changes'}")
    if isinstance(resource_type.creation, Creation) and not resource_type.creation.calls:
        found.append("creation: no call")
    if isinstance(resource_type.rights, Rights):
        found += [f"rights: {action}" for action in sorted(operations_of(resource_type) - _granted(resource_type.rights))]
    return found


def operations_of(resource_type: ResourceType) -> set[str]:
    """Actions, without their service, that making, reading, changing, tagging and deleting a resource take."""
    found = set(resource_type.changes.calls)
    if isinstance(resource_type.creation, Creation):
        found |= {call.operation for call in resource_type.creation.calls}
    if isinstance(resource_type.tagging, Tagging):
        found |= {resource_type.tagging.tag, resource_type.tagging.untag} | ({resource_type.tagging.read} - {""})
    if isinstance(resource_type.deletion, Deletion):
        found.add(resource_type.deletion.operation)
    services = {call.service for call in resource_type.creation.calls[:1]} if isinstance(resource_type.creation, Creation) else set[str]()
    return {action_name(service, operation) for service in services or {""} for operation in found}


def _granted(rights: Rights) -> set[str]:
    return {operation for grant in rights.grants for operation in grant.operations.split()}
