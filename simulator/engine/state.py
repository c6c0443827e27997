"""What the engine remembers between runs: resources, operations that it does not know the end of, and how it words them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from simulator.recording import STACK_TYPE, Recording, Registration

Doing = Literal["creating", "updating", "deleting"]


@dataclass(frozen=True)
class Held:
    """One resource of the state."""

    registration: Registration
    """As it was last made or changed, with its id and outputs."""
    init_error: str | None = None
    """Why it was made but did not become ready; the next run asks for an update even if nothing has changed."""


@dataclass(frozen=True)
class Pending:
    """An operation under way when the run was killed: the state does not say how it ended."""

    registration: Registration
    doing: Doing
    remaining_s: float = 0.0
    """Seconds that AWS still works on it."""


@dataclass
class State:
    """The state of one stack. Mutable: each finished operation is saved."""

    held: dict[str, Held] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    stack: Registration | None = None

    def copy(self) -> "State":
        """A state of its own with the same content."""
        return State(dict(self.held), list(self.pending), self.stack)

    def save(self, registration: Registration, init_error: str | None = None) -> None:
        """Keep a resource."""
        self.held[registration.urn] = Held(registration, init_error)

    def forget(self, urn: str) -> None:
        """Drop a resource; what is not there counts as dropped."""
        self.held.pop(urn, None)

    def recording(self) -> Recording:
        """The resources as a graph, the stack among them."""
        known: dict[str, Registration] = {} if self.stack is None else {self.stack.urn: self.stack}
        known |= {urn: held.registration for urn, held in self.held.items()}
        project, name = _names(known.values())
        return Recording(project, name, dict(sorted(known.items())))

    def by_id(self) -> Mapping[tuple[str, str], str]:
        """(Type, physical id) to URN."""
        return {(held.registration.type, held.registration.id): urn for urn, held in self.held.items()}


def stack_of(recording: Recording) -> Registration | None:
    """The stack's own registration."""
    return next((item for item in recording.registrations.values() if item.type == STACK_TYPE), None)


def _names(registrations: Iterable[Registration]) -> tuple[str, str]:
    for registration in registrations:
        _, _, rest = registration.urn.partition("urn:pulumi:")
        stack, project = rest.split("::")[:2]
        return project, stack
    return "", ""
