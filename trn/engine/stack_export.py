"""What `pulumi stack export` prints, read once for all commands, and which state of which stack it is.

Pulumi numbers no states. What it writes in place of that (CLI 3.260, run 2026-11; pulumi/pulumi sdk/go/common/apitype, DeploymentV3): the
secrets provider of the stack, with a salt that `stack init` draws; when the root resource was made, anew by each `up` after a destroy; and
when the state was written, which two exports without a run in between have in common.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

ROOT_TYPE = "pulumi:pulumi:Stack"
MAKING = frozenset({"creating", "importing"})
"""Operations that may leave an object of which the state has no id."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
Moment = tuple[datetime, int]
"""UTC to the second, and nanoseconds: the engine writes no trailing zeros, so that texts have no order."""
Resource = Mapping[str, Any]


@dataclass(frozen=True)
class StateStamp:
    """Which state it is: of which stack, and how far that stack had come. A part that is not known is empty."""

    secrets: str = ""
    """The stack's secrets provider, with its salt or key."""
    root: str = ""
    """URN of the stack itself."""
    created: str = ""
    """When the root was made: empty in a state that holds nothing, and of a CLI that wrote no times."""
    saved: Moment | None = None
    """When it was written, by the clock of who ran Pulumi."""
    digest: str = ""
    """Of what it holds and of what is under way."""


UNKNOWN = StateStamp()
"""Of a stack that is not there."""


def _compared(one: StateStamp, other: StateStamp) -> list[bool]:
    """Whether each part that both know is equal."""
    pairs = ((one.secrets, other.secrets), (one.root, other.root), (one.created, other.created))
    return [mine == theirs for mine, theirs in pairs if mine and theirs]


def is_same_stack(one: StateStamp, other: StateStamp) -> bool:
    """Whether both can be states of one stack between two destroys: what both know is equal, and there is something that both know."""
    compared = _compared(one, other)
    return bool(compared) and all(compared)


def is_other_stack(one: StateStamp, other: StateStamp) -> bool:
    """Whether something that both know differs, so that they cannot be states of one stack."""
    return not all(_compared(one, other))


def is_older(one: StateStamp, than: StateStamp) -> bool | None:
    """Whether one was written before the other; None where that cannot be said."""
    if one.saved is None or than.saved is None or not is_same_stack(one, than):
        return None
    return one.saved < than.saved


@dataclass(frozen=True)
class Export:
    """An export as it is, with what every reader of it needs."""

    resources: Sequence[Resource] = ()
    pending: Sequence[Mapping[str, Any]] = ()
    """Operations of which no end is known: `resource` and, as `type`, what is done."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def live(self) -> dict[str, Resource]:
        """The resource of each URN. One that waits to be deleted has been replaced: the URN is the other's."""
        return {each["urn"]: each for each in self.resources if not each.get("delete")}

    @cached_property
    def outside(self) -> list[Resource]:
        """What has an object outside the engine. What is `external` was read, and others keep it."""
        return [
            each
            for each in self.resources
            if each.get("id") and not each.get("external") and not each.get("type", "").startswith("pulumi:")
        ]

    @property
    def root(self) -> Resource:
        """The stack itself; empty where nothing was ever made, or nothing is left."""
        return next((each for each in self.resources if each.get("type") == ROOT_TYPE), {})

    @cached_property
    def id(self) -> StateStamp:
        """Which state it is."""
        parts = [
            [each["urn"], each.get("id", ""), each.get("type", ""), bool(each.get("delete")), bool(each.get("pendingReplacement"))]
            for each in self.resources
        ]
        doing = [[each["resource"].get("urn", ""), str(each.get("type", ""))] for each in self.pending]
        return StateStamp(
            secrets=json.dumps(self.secrets, sort_keys=True) if self.secrets else "",
            root=self.root.get("urn", ""),
            created=self.root.get("created", ""),
            saved=moment(self.manifest.get("time", "")),
            digest=hashlib.sha256(json.dumps([sorted(parts), sorted(doing)]).encode()).hexdigest(),
        )


def read_export(document: Any) -> Export:
    """An export from the JSON that was printed. Raises ValueError where it is something else."""
    deployment = document.get("deployment") if isinstance(document, Mapping) else None
    if not isinstance(deployment, Mapping):
        raise ValueError("there is no `deployment` in it")
    resources, pending = deployment.get("resources") or [], deployment.get("pending_operations") or []
    if not all(isinstance(each, Mapping) and isinstance(each.get("urn"), str) for each in resources):
        raise ValueError("a resource in it has no `urn`")
    if not all(isinstance(each, Mapping) and isinstance(each.get("resource"), Mapping) for each in pending):
        raise ValueError("a pending operation in it has no `resource`")
    return Export(resources, pending, deployment.get("manifest") or {}, deployment.get("secrets_providers") or {})


def moment(text: Any) -> Moment | None:
    """A time as the engine writes it, of any zone; None for what is none, and for the zero time of Go."""
    found = _MOMENT.fullmatch(text) if isinstance(text, str) else None
    if found is None or found[1] == "0001-01-01":
        return None
    day, time, fraction, zone = found.groups()
    whole = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone == 'Z' else zone}").astimezone(UTC)
    return whole, int((fraction or "").ljust(9, "0"))
