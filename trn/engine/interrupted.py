"""What Pulumi's state says about a run without an end: operations that were begun, and what the state already holds."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from facts.names import STACK_TAG
from facts.typed import typed
from trn.aws.cluster_identity import moment
from trn.cli.errors import CommandError
from trn.engine.stack_export import read_export

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What a preview writes for a value that is known only after `up` (pulumi/pulumi sdk/go/common/resource/plugin/rpc.go)."""


CLOCKS = timedelta(minutes=5)
"""By which the clock of who ran Pulumi may differ from AWS's."""
LONGEST = timedelta(hours=1)
"""What a request may be repeated for after its operation was written down: a role that is not known everywhere yet, a busy service."""


def moved(time: str, by: timedelta) -> str:
    """A time, sooner or later; empty for none."""
    return moment(datetime.fromisoformat(time) + by) if time else ""


@dataclass(frozen=True)
class Pending:
    """One operation that has begun and of which no end is known."""

    urn: str
    type: str
    doing: str
    """`creating`, `updating`, `deleting`, or another word of the engine's."""
    inputs: Mapping[str, Any]
    parent: str = ""
    provider: str = ""
    """URN of the provider, without its id."""
    is_custom: bool = True
    """False for a component and for a provider: they exist in the state alone, so nothing of them can be left over."""
    entry: Mapping[str, Any] = field(default_factory=dict)
    """The resource as the state has it."""

    @property
    def name(self) -> str:
        """The logical name: the last part of the URN, which may hold colons itself."""
        return self.urn.split("::", 3)[3]

    def __str__(self) -> str:
        return f"{self.type.rsplit(':', 1)[-1]} {self.name}"


@dataclass(frozen=True)
class State:
    """As much of an exported state as recovery needs."""

    pending: tuple[Pending, ...]
    live: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The resource that the state holds of each URN, one that was deleted to make room for its successor among them."""
    known: frozenset[tuple[str, str]] = frozenset()
    """Type and id of all that the state takes to be there: live, or replaced and waiting for its deletion."""

    created: Mapping[str, str] = field(default_factory=dict)
    """When the engine had made each resource, by URN, in UTC to the second."""
    saved: str = ""
    """When the state was last written: a run that was killed had begun all of its operations by then."""
    stack: str = ""
    """Organization, project and stack, as the provider puts them on everything; empty where the state has no such provider."""

    def window(self, urn: str) -> tuple[str, str]:
        """Between which times a killed run may have made what an operation was making; empty where the state does not say.

        Not before everything that it needs was there, and not long after the state was last written.
        """
        (entry,) = [item.entry for item in self.pending if item.urn == urn][:1] or [{}]
        needs = [*(entry.get("dependencies") or ()), entry.get("parent", ""), str(entry.get("provider", "")).rpartition("::")[0]]
        since = max((self.created[each] for each in needs if each in self.created), default="")
        return moved(since, -CLOCKS), moved(self.saved, CLOCKS + LONGEST)

    def is_there(self, urn: str) -> bool:
        """Whether the state takes the resource to exist."""
        return urn in self.live and not self.live[urn].get("pendingReplacement")


def read_state(text: str) -> State:
    """What `pulumi stack export` printed. Raises CommandError."""
    try:
        found = read_export(json.loads(text))
        pending = tuple(_pending(entry["resource"], entry["type"]) for entry in found.pending)
        there = [entry for entry in found.resources if entry.get("id") and not entry.get("pendingReplacement")]
        created = {urn: at for urn, entry in found.live.items() if (at := moment(entry.get("created")))}
        known = frozenset((entry["type"], entry["id"]) for entry in there)
        return State(pending, found.live, known, created, moment(found.manifest.get("time")), _stack_of(found.resources))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"`{typed('pulumi stack export')}` gave no state: {error!r}", "install the Pulumi CLI 3.260 or later") from error


def _stack_of(resources: Iterable[Mapping[str, Any]]) -> str:
    for entry in resources:
        if entry.get("type") == "pulumi:providers:aws":
            tags = (entry.get("inputs") or {}).get("defaultTags") or {}
            # The engine keeps what a provider is configured with as JSON in a text.
            tags = json.loads(tags) if isinstance(tags, str) else tags
            if STACK_TAG in (tags.get("tags") or {}):
                return str(tags["tags"][STACK_TAG])
    return ""


def read_preview(text: str) -> tuple[Pending, ...]:
    """What a run would make, from what `pulumi preview --json` printed. Raises CommandError."""
    try:
        steps = json.loads(text).get("steps") or []
        return tuple(_creations(steps))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(
            f"`{typed('pulumi preview --json')}` gave no plan: {error!r}", f"`{typed('pulumi preview')}` says why"
        ) from error


def _creations(steps: list[dict[str, Any]]) -> Iterator[Pending]:
    for step in steps:
        made = step.get("newState", {})
        if step["op"] != "create":
            continue
        # A value that is known only after `up` cannot be used to look for an object.
        inputs = {key: value for key, value in (made.get("inputs") or {}).items() if UNKNOWN not in json.dumps(value)}
        creation = _pending({**made, "inputs": inputs}, "creating")
        if creation.is_custom:
            yield creation


def _pending(resource: Mapping[str, Any], doing: str) -> Pending:
    provider = resource.get("provider", "").rpartition("::")[0]
    is_custom = bool(resource.get("custom")) and not resource.get("external") and not resource["type"].startswith("pulumi:")
    return Pending(
        resource["urn"], resource["type"], doing, resource.get("inputs") or {}, resource.get("parent", ""), provider, is_custom, resource
    )
