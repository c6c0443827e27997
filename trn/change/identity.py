"""What a changing call is conditioned on. Two identities are equal where they are one object for as long as it lives; names are only shown."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from facts.typed import typed
from trn.cli.errors import CommandError
from trn.engine.pulumi import Pulumi
from trn.engine.recovery import refuse_misuse
from trn.engine.stack_state import StackState, parse_state


class Identity(Protocol):
    """One object."""

    @property
    def kind(self) -> str:
        """As users call it: `node group`."""
        ...

    @property
    def name(self) -> str:
        """As users call the object; never compared."""
        ...

    @property
    def which(self) -> str:
        """What no second object shares, as `--json` has it."""
        ...

    def within(self, confirmed: Any, /) -> bool:
        """Whether consent to the other identity is consent to this one."""
        ...


@dataclass(frozen=True)
class Aws:
    """An object of AWS."""

    kind: str
    name: str = field(compare=False)
    arn: str
    """Or the id, where descriptions have no ARN."""
    born: str
    """When it was made: an ARN may be given again to a second object of the name. Empty: it was not there, or its id is never given again."""

    def __post_init__(self) -> None:
        if not self.arn:
            raise ValueError(f"{self.kind} {self.name} has no ARN")

    @property
    def which(self) -> str:
        """ARN, and time where the service says one."""
        return f"{self.arn} of {self.born}" if self.born else self.arn

    def within(self, confirmed: Any, /) -> bool:
        """The same object."""
        return self == confirmed


@dataclass(frozen=True)
class Kube:
    """An object of Kubernetes."""

    kind: str
    name: str = field(compare=False)
    """NAMESPACE/NAME."""
    uid: str

    def __post_init__(self) -> None:
        if not self.uid:
            raise ValueError(f"{self.kind} {self.name} has no uid")

    @property
    def which(self) -> str:
        """The uid."""
        return self.uid

    def within(self, confirmed: Any, /) -> bool:
        """The same object."""
        return self == confirmed


@dataclass(frozen=True)
class New:
    """What is not there yet: the call that makes it is refused where something has its place by then."""

    kind: str
    name: str = field(compare=False)
    place: str
    """Where it will be: a path, a URL, a name that nothing else of its kind can have."""

    @property
    def which(self) -> str:
        """The place."""
        return self.place

    def within(self, confirmed: Any, /) -> bool:
        """The same place."""
        return self == confirmed


@dataclass(frozen=True)
class Tag:
    """What a tag of an image repository names."""

    repository: str
    """With its registry."""
    tag: str
    digest: str
    """Empty: it named nothing when it was looked at."""
    kind = "image"

    @property
    def name(self) -> str:
        """REPOSITORY:TAG."""
        return f"{self.repository}:{self.tag}"

    @property
    def which(self) -> str:
        """With the digest: a tag may be moved to another image."""
        return f"{self.name}@{self.digest}" if self.digest else self.name

    def within(self, confirmed: Any, /) -> bool:
        """The same tag, that names the same."""
        return self == confirmed


@dataclass(frozen=True)
class S3:
    """A set of objects of a bucket."""

    name: str = field(compare=False)
    etags: str
    """Of all of them, or a hash of these."""
    kind = "data set"

    @property
    def which(self) -> str:
        """The ETags."""
        return self.etags

    def within(self, confirmed: Any, /) -> bool:
        """The same objects with the same content."""
        return self == confirmed


@dataclass(frozen=True)
class File:
    """What a file on this machine holds."""

    path: Path
    sha256: str
    """Of its bytes. Empty: there was none."""
    kind = "file"

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def which(self) -> str:
        """With the hash: anybody may edit it."""
        return f"{self.path}@sha256:{self.sha256}" if self.sha256 else str(self.path)

    def within(self, confirmed: Any, /) -> bool:
        """The same file that holds the same."""
        return self == confirmed


def file_of(path: Path, text: str) -> File:
    """A file as it is once it holds a text."""
    return File(path, hashlib.sha256(text.encode()).hexdigest())


def file_id(path: Path) -> File:
    """A file as it is now. Raises CommandError where that cannot be read."""
    try:
        return File(path, hashlib.sha256(path.read_bytes()).hexdigest())
    except FileNotFoundError:
        return File(path, "")
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}", "check that it is a file that you may read") from error


@dataclass(frozen=True)
class StateId:
    """What Pulumi's state held at one look. Pulumi names neither lineage nor serial, so both are read from what it writes."""

    name: str = field(compare=False)
    """The stack."""
    lineage: str
    """Of one stack in one backend: the root's URN and time, and the key of its secrets."""
    serial: str
    """Hash of all that is in the state, and of what is under way."""
    held: frozenset[tuple[str, ...]] = field(compare=False)
    """URN, id and time of each object: one that was made again in the place of another is another one."""
    kind = "state"

    @property
    def which(self) -> str:
        """The serial."""
        return self.serial

    def within(self, confirmed: Any, /) -> bool:
        """The same stack, and nothing in it that was not confirmed."""
        return isinstance(confirmed, StateId) and self.lineage == confirmed.lineage and self.held <= confirmed.held


def state_id(pulumi: Pulumi, stack: str) -> StateId:
    """The state as its backend has it. Raises CommandError where it cannot be read."""
    command = ("pulumi", "stack", "export", "--stack", stack)
    code, printed = pulumi.ask(command)
    if code:
        refuse_misuse(stack, printed)
        raise CommandError(f"`{' '.join(command)}` failed, so that it is not known what the state holds", "what it printed says why")
    try:
        found = parse_state(json.loads(printed), "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"`{typed('pulumi stack export')}` gave no state: {error!r}", "install the Pulumi CLI 3.260 or later") from error
    return id_of(found, stack)


def id_of(found: StackState, stack: str) -> StateId:
    """The same, of a state that was read."""
    return StateId(stack, _hash([found.id.secrets, found.id.root, found.id.created]), found.id.digest, found.held)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
