"""What a program asked the engine for: registrations, their links, and the graph they form as the engine sees it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

STACK_TYPE = "pulumi:pulumi:Stack"


@dataclass(frozen=True)
class Registration:
    """One RegisterResource request and what the simulated cloud answered."""

    urn: str
    type: str
    name: str
    custom: bool
    """False for components, and for what is only read."""
    remote: bool
    """True for components of another package, whose children are made inside that package."""
    parent: str
    """URN; empty for the stack itself."""
    inputs: Mapping[str, Any]
    dependencies: frozenset[str] = frozenset()
    """URNs: what the inputs come from, and depends_on."""
    property_dependencies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    providers: frozenset[str] = frozenset()
    """URNs of the providers that the resource, or a component's children, use."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Resource options that differ from their defaults, by the names of the protocol."""
    secret_inputs: frozenset[str] = frozenset()
    """Top-level input keys that hold a secret."""
    id: str = ""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    external: bool = False
    """Whether the program reads what others made. Such a thing is in the state and never made, changed or deleted: `custom` is False."""
    cluster: str = ""
    """Name of the EKS cluster whose API server keeps it; empty for what lives in no cluster, and where that is not known."""


@dataclass
class Recording:
    """All registrations of one run, in the order of their URNs, and the stack's outputs."""

    project: str
    stack: str
    registrations: dict[str, Registration] = field(default_factory=dict)
    stack_outputs: dict[str, Any] = field(default_factory=dict)

    _derived: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, name: str, derive: Callable[[], Any]) -> Any:
        """What follows from the registrations, derived at the first call and kept: a recording does not change once it is made."""
        if name not in self._derived:
            self._derived[name] = derive()
        return self._derived[name]

    def __iter__(self) -> Iterator[Registration]:
        return (registration for registration in self.registrations.values() if registration.type != STACK_TYPE)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def resources(self) -> list[Registration]:
        """Custom resources only: what takes time, costs money and can be left behind. Providers exist in the engine only."""
        return [item for item in self if item.custom and not item.type.startswith("pulumi:providers:")]

    def of_type(self, resource_type: str) -> list[Registration]:
        """Registrations of one type, by URN."""
        return [item for item in self if item.type == resource_type]

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """Direct children of each URN."""
        found: dict[str, list[str]] = {}
        for registration in self.registrations.values():
            if registration.parent:
                found.setdefault(registration.parent, []).append(registration.urn)
        return {parent: tuple(sorted(urns)) for parent, urns in found.items()}

    def descendants(self, urn: str) -> list[str]:
        """All URNs below one."""
        below: list[str] = []
        waiting = list(self.children.get(urn, ()))
        while waiting:
            current = waiting.pop()
            below.append(current)
            waiting.extend(self.children.get(current, ()))
        return sorted(below)


class Indexed(Recording):
    """A recording as it is now, for what asks for types many times: each answer is found once."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording.project, recording.stack, dict(recording.registrations), recording.stack_outputs)
        self._resources = super().resources()
        self._of_type: dict[str, list[Registration]] = {}
        for item in self:
            self._of_type.setdefault(item.type, []).append(item)

    def resources(self) -> list[Registration]:
        """As of any recording."""
        return self._resources

    def of_type(self, resource_type: str) -> list[Registration]:
        """As of any recording."""
        return self._of_type.get(resource_type, [])


def exists_in_cloud(registration: Registration) -> bool:
    """Whether a registration has an object outside the engine: components and providers have none."""
    return registration.custom and not registration.type.startswith("pulumi:providers:")
