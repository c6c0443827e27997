"""What all descriptions of objects share: tags, states, and ids of what AWS makes without a request of the program."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from facts.regions import dns_suffix, partition
from facts.resources.queries import NO_STATE, Detail, Leftover, Lookup, Query, States
from facts.resources.resource_type import Foreign, ResourceType
from simulator import chance
from simulator.account.objects import Status
from simulator.account.state import AccountState
from simulator.outputs import Context
from simulator.recording import Registration

Entry = dict[str, Any]
Describe = Callable[[AccountState, Registration], Entry]


Derive = Callable[[AccountState, str], Iterator[tuple[str, Entry]]]
"""Id and entry of each object that AWS or a controller made in an account, seen from a region."""
_SLOW_S = 15
"""Seconds from which a deletion can still be seen at the next look."""


@dataclass(frozen=True)
class Kind:
    """One kind of object as a service lists it. How it is asked for, and in which words, is in facts/resources."""

    name: str
    fact: ResourceType | Foreign
    describe: Describe | None = None
    """An object of the program as an entry; None where no resource stands for one."""
    hidden: tuple[str, ...] = ()
    """Members that the account keeps in an entry and the service shows elsewhere."""
    is_missed: bool = False
    """Whether its end can be seen although the type says no latency."""

    @property
    def type(self) -> str:
        """Type token of the resources of this kind; empty where the kind has no resource type."""
        return self.fact.token if isinstance(self.fact, ResourceType) else ""

    @property
    def leftover(self) -> Leftover | None:
        """How a sweep finds it; None where nothing of it can be left."""
        return self.fact.leftover if isinstance(self.fact.leftover, Leftover) else None

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """Every call that lists such objects, or describes one."""
        lookup = self.fact.lookup if isinstance(self.fact, ResourceType) else None
        parts = [part for part in (lookup, self.leftover) if isinstance(part, Lookup | Leftover)]
        # The answer of a detail that names no object is about something else: its tags.
        details = [part.detail.query for part in parts if part.detail is not None and part.detail.at_once == 1 and part.detail.query.id]
        return (*(part.query for part in parts), *details)

    @property
    def detail(self) -> Detail | None:
        """The call that says more about listed objects."""
        return self.leftover.detail if self.leftover else None

    @cached_property
    def states(self) -> States:
        """Where an entry holds the state, and the service's words for it."""
        return next((query.states for query in self.queries if query.states.key), NO_STATE)

    @cached_property
    def not_found(self) -> str:
        """Code for one that is not there."""
        return next((query.absent for query in self.queries if query.absent), "ResourceNotFoundException")

    @cached_property
    def not_found_text(self) -> str:
        """What the service then says, with the parameters in braces."""
        return next((query.absent_text for query in self.queries if query.absent_text), "")

    @property
    def is_slow(self) -> bool:
        """Whether a deletion takes a few looks."""
        return self.is_missed or (isinstance(self.fact, ResourceType) and self.fact.latencies.usual.delete.typical > _SLOW_S)

    def word(self, status: Status) -> str:
        """The service's word for a status."""
        states = self.states
        words = {"creating": states.making, "failed": states.failed, "deleting": states.leaving}.get(status, ())
        if status == "unready":
            words = (states.stuck,) if states.stuck else states.making
        return words[0] if words else states.ready

    def with_status(self, entry: Entry, status: Status) -> Entry:
        """The entry with the service's word for a status, where it shows one."""
        return _put(entry, self.states.key.split("."), self.word(status)) if self.states.key else entry


def _put(entry: Entry, place: list[str], word: str) -> Entry:
    first, *rest = place
    return {**entry, first: _put(entry.get(first) or {}, rest, word) if rest else word}


def tags_of(registration: Registration) -> dict[str, str]:
    """All tags of a resource, the provider's default tags included."""
    return dict(registration.outputs.get("tagsAll") or registration.inputs.get("tags") or {})


def tag_list(tags: Mapping[str, str]) -> list[Entry]:
    """Tags as EC2 and most services write them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def made_id(prefix: str, *parts: object) -> str:
    """An id of what AWS makes by itself, the same at every look."""
    return f"{prefix}-{chance.digest(0, *map(str, parts))[:17]}"


def arn(region: str, service: str, resource: str, *, regional: bool = True) -> str:
    """An ARN of the account."""
    return Context(0, "", region, partition(region), dns_suffix(region)).arn(service, resource, regional=regional)


def chosen(source: Mapping[str, Any], **members: str) -> Entry:
    """Members of an entry from inputs of other names; inputs that are not given leave theirs out."""
    return {member: source[key] for member, key in members.items() if source.get(key) is not None}
