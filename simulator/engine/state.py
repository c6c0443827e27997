"""What the engine remembers between runs: resources, what waits for its deletion, and operations that it does not know the end of.

As the engine's own deployment format has it: one live entry for a URN, which may say that its successor has yet to be made, and
beside it any number of replaced ones that have yet to be deleted. Source: pulumi/pulumi sdk/go/common/apitype/core.go ResourceV3
(`delete`, `pendingReplacement`, `initErrors`) and pkg/backend/snapshot.go, 2026-08-21.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from simulator.recording import STACK_TYPE, Recording, Registration

Doing = Literal["creating", "updating", "deleting"]
OLD = "#old"
"""Stands in the key of a deletion that belongs to a replacement, after the URN: at the end where the same run replaced it, before the id of
what an earlier run had replaced. All other keys are URNs."""


@dataclass(frozen=True)
class Held:
    """One resource of the state."""

    registration: Registration
    """As it was last made or changed, with its id and outputs."""
    init_error: str | None = None
    """Why it was made but did not become ready; the next run asks for an update even if nothing has changed."""
    pending_replacement: bool = False
    """Whether it was deleted to make room for its successor, which has not been made: the next run makes it."""
    saved: tuple[int, int] = (0, 0)
    """Number of the run that saved it last, 0 for an import, and the order in that run: what decides its place in the deployment."""


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
    """The live entry of each URN."""
    pending_deletions: list[Held] = field(default_factory=list)
    """What was replaced and waits for its deletion, the oldest first; several may have one URN."""
    pending: list[Pending] = field(default_factory=list)
    stack: Registration | None = None
    run: int = 0
    """Number of the run of `up` under way."""
    _count: int = 0

    def copy(self) -> "State":
        """A state of its own with the same content."""
        return State(dict(self.held), list(self.pending_deletions), list(self.pending), self.stack, self.run)

    def begin_run(self) -> None:
        """A run begins: what it saves stands in the deployment before what it leaves as it was."""
        self.run = 1 + max((item.saved[0] for item in (*self.held.values(), *self.pending_deletions)), default=0)
        self._count = 0
        # Whatever was being made stays in the state until a person clears it; what was changed or deleted is looked at again.
        self.pending = [pending for pending in self.pending if pending.doing == "creating"]

    def save(self, registration: Registration, init_error: str | None = None, *, replaced: bool = False) -> None:
        """Keep a resource. `replaced`: it was made in place of the live one, which waits for its deletion from then on."""
        if replaced:
            self.pending_deletions.append(self.held[registration.urn])
        self._count += 1
        self.held[registration.urn] = Held(registration, init_error, saved=(self.run, self._count))

    def adopt(self, registration: Registration, init_error: str | None = None) -> None:
        """Take over what a run had begun to make: in place of the live one where there is one, which then waits for its deletion."""
        before = self.held.get(registration.urn)
        if before is not None and not before.pending_replacement:
            self.pending_deletions.append(before)
        self.held[registration.urn] = Held(registration, init_error, saved=(0, 0) if before is None else before.saved)

    def deleted_first(self, urn: str) -> None:
        """A resource was deleted before its successor is made."""
        self.held[urn] = replace(self.held[urn], pending_replacement=True)

    def forget(self, registration: Registration) -> None:
        """Drop a resource that is gone, live or replaced; what is not there counts as dropped."""
        urn, which = registration.urn, object_key(registration)
        waiting = [item for item in self.pending_deletions if (item.registration.urn, object_key(item.registration)) != (urn, which)]
        if len(waiting) < len(self.pending_deletions):
            self.pending_deletions = waiting
        elif urn in self.held and object_key(self.held[urn].registration) == which:
            del self.held[urn]

    def prune(self) -> None:
        """Drop links to what is no longer there, as a refresh does (pulumi/pulumi pkg/engine/journal_snapshot.go FilterRefreshDeletes)."""
        for urn, held in self.held.items():
            self.held[urn] = replace(held, registration=_linked(held.registration, self.held))
        self.pending_deletions = [replace(item, registration=_linked(item.registration, self.held)) for item in self.pending_deletions]

    def recording(self) -> Recording:
        """The resources as a graph, the stack among them."""
        known: dict[str, Registration] = {} if self.stack is None else {self.stack.urn: self.stack}
        known |= {urn: held.registration for urn, held in self.held.items()}
        project, name = _names(known.values())
        return Recording(project, name, dict(sorted(known.items())))

    def objects(self) -> list[Registration]:
        """What the state takes to be in the account: live, or waiting for its deletion."""
        return [held.registration for held in (*self.held.values(), *self.pending_deletions) if not held.pending_replacement]

    def replaced(self) -> dict[str, Registration]:
        """What waits for its deletion, by keys of its own."""
        return {key_of(item): item.registration for item in self.pending_deletions}

    def listed(self) -> list[str]:
        """URNs, and keys of what waits for its deletion, in the order of the deployment: latest run first, in the order of its ends."""
        places = [(*_place(held), urn) for urn, held in self.held.items()] + [
            (*_place(item), key_of(item)) for item in self.pending_deletions
        ]
        return [key for *_, key in sorted(places)]

    def known(self) -> frozenset[tuple[str, str, str]]:
        """What tells all that the state takes to be in the account from anything else."""
        return frozenset(map(object_key, self.objects()))


def _linked(registration: Registration, there: Container[str]) -> Registration:
    named = (
        {urn for urns in registration.property_dependencies.values() for urn in urns} | registration.dependencies | registration.providers
    )
    if all(urn in there for urn in named):
        return registration
    links = {key: frozenset(urn for urn in urns if urn in there) for key, urns in registration.property_dependencies.items()}
    kept = {name: frozenset(urn for urn in getattr(registration, name) if urn in there) for name in ("dependencies", "providers")}
    return replace(registration, property_dependencies=links, **kept)


def object_key(registration: Registration) -> tuple[str, str, str]:
    """What tells an object of the account from all others: type, physical id, and the cluster that keeps it."""
    return registration.type, registration.id, registration.cluster


def key_of(replaced: Held) -> str:
    """The key of what waits for its deletion."""
    made = replaced.registration
    return f"{made.urn}{OLD}{made.id}{made.cluster}"


def _place(held: Held) -> tuple[int, int]:
    return -held.saved[0], held.saved[1]


def stack_of(recording: Recording) -> Registration | None:
    """The stack's own registration."""
    return next((item for item in recording.registrations.values() if item.type == STACK_TYPE), None)


def _names(registrations: Iterable[Registration]) -> tuple[str, str]:
    for registration in registrations:
        _, _, rest = registration.urn.partition("urn:pulumi:")
        stack, project = rest.split("::")[:2]
        return project, stack
    return "", ""
