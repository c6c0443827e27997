"""What all descriptions of objects share: tags, states, and ids of what AWS makes without a request of the program."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator import chance
from simulator.account.objects import Status
from simulator.account.state import AccountState
from simulator.recording import Registration

Entry = dict[str, Any]
Describe = Callable[[AccountState, Registration], Entry]


@dataclass(frozen=True)
class Kind:
    """One kind of object as a service lists it."""

    name: str
    type: str = ""
    """Type token of the resources of this kind; empty where the kind has no resource type."""
    describe: Describe | None = None
    state: tuple[str, ...] = ()
    """Where in an entry the service puts its word for the state."""
    words: Mapping[Status, str] = field(default_factory=dict)
    """The service's words, by status; none for a status that the service does not show."""
    is_slow: bool = False
    """Whether a deletion takes a few looks."""
    not_found: str = "ResourceNotFoundException"


def tags_of(registration: Registration) -> dict[str, str]:
    """All tags of a resource, the provider's default tags included."""
    return dict(registration.outputs.get("tagsAll") or registration.inputs.get("tags") or {})


def tag_list(tags: Mapping[str, str]) -> list[Entry]:
    """Tags as EC2 and most services write them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def made_id(prefix: str, *parts: object) -> str:
    """An id of what AWS makes by itself, the same at every look."""
    return f"{prefix}-{chance.digest(0, *map(str, parts))[:17]}"


def with_state(entry: Entry, place: tuple[str, ...], word: str | None) -> Entry:
    """The entry with the service's word for its state."""
    if not place or word is None:
        return entry
    first, *rest = place
    return {**entry, first: with_state(entry.get(first) or {}, tuple(rest), word) if rest else word}


def chosen(source: Mapping[str, Any], **members: str) -> Entry:
    """Members of an entry from inputs of other names; inputs that are not given leave theirs out."""
    return {member: source[key] for member, key in members.items() if source.get(key) is not None}
