"""The account kept in a folder: one file for each object; deleting the file deletes the object.

A file is written when a request is accepted, before the time that the object takes has passed: a process that dies meanwhile
leaves an object that is being made, as on AWS.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from facts.resources.table import TYPES
from simulator.account.objects import CloudObject, Status, Stray
from simulator.account.state import AccountState
from simulator.errors import SimulationError
from simulator.recording import Registration

_CREATIONS, _STRAYS, _OTHERS, _SCHEDULED = "creations.json", "strays.json", "others.json", "scheduled.json"
_RECORDS = (_CREATIONS, _STRAYS, _OTHERS, _SCHEDULED)
_FORMAT_FILE, FORMAT = "format.json", 1
"""Raised whenever what is written here can no longer be read by what read it before."""
_MAPPINGS = frozenset(
    (
        "accessConfig", "accessScope", "certificateAuthority", "data", "eksConfiguration", "eksProperties", "encryptionConfig", "labels",
        "launchTemplate", "metadata", "metadataOptions", "nodeRepairConfig", "parameters", "repositoryOpts", "roleRef", "scalingConfig",
        "spec", "tag", "tags", "tagsAll", "updateConfig", "upgradePolicy", "values", "vpcConfig",
    )
)  # fmt: skip
"""Inputs and outputs that are mappings in every type that has them: rules and consequences look into them."""
_USERS_KIND = re.compile(r"kubernetes:[^:]+:\w+")
"""Objects behind the API server that users make are of any kind."""
_NAME_LENGTH = 200
"""Of a file, in characters; file systems allow 255 bytes."""
Key = tuple[str, str]
"""Type and physical id."""


class AccountInUse(SimulationError):
    """Another process holds the folder."""

    hint = "let the other run end; `trn engine` takes a folder of its own with --folder"


class DamagedAccount(SimulationError):
    """A file in the folder was not written by the simulator."""

    hint = "correct the file, or delete it to lose the object"


class UnwritableAccount(SimulationError):
    """A file in the folder could not be written: the disk is full, or others own it."""

    hint = "what was written before is whole: make room, and go on as after a kill"


@dataclass
class Object:
    """One object as it is written to disk."""

    type: str
    id: str
    urn: str
    status: Status
    inputs: dict[str, Any]
    state: dict[str, Any]
    """Inputs and what was computed."""

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise ValueError(f"unknown status {self.status}")

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "Object":
        """An object from what a file says of it. Raises ValueError or TypeError for what the account could not work with."""
        found = cls(**written)
        if not (isinstance(found.type, str) and (found.type in TYPES or _USERS_KIND.fullmatch(found.type))):
            raise ValueError(f"unknown type {found.type}")
        if not (isinstance(found.id, str) and found.id and isinstance(found.urn, str) and found.urn):
            raise ValueError("id and urn are texts")
        for name, values in (("inputs", found.inputs), ("state", found.state)):
            if not isinstance(values, dict):
                raise ValueError(f"{name} is no mapping")
            for key in sorted(_MAPPINGS & values.keys()):
                if not isinstance(values[key], dict):
                    raise ValueError(f"{name}.{key} is no mapping")
        return found

    @classmethod
    def of(cls, item: CloudObject) -> "Object":
        """An object of the account, as it is written down."""
        made = item.registration
        return cls(made.type, made.id, made.urn, item.status, dict(made.inputs), dict(made.outputs))

    @property
    def registration(self) -> Registration:
        """What was written down, as the account knows it."""
        return registration_of(self.urn, self.type, self.id, self.inputs, self.state)


def registration_of(urn: str, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Registration:
    """A registration from what the engine passes to a provider: no parents, dependencies or options."""
    name = urn.rsplit("::", 1)[-1]
    return Registration(urn, resource_type, name, True, False, "", dict(inputs), id=resource_id, outputs=dict(state))


@dataclass
class AccountFolder:
    """Where one account is kept. Remembers what it has written, and writes only what has changed since."""

    folder: Path
    _objects: dict[Key, tuple[Registration, Status]] = field(default_factory=dict)
    _strays: tuple[Stray, ...] = ()
    _creations: dict[str, int] = field(default_factory=dict)
    _others: str = "{}"
    _scheduled: tuple[Registration, ...] = ()
    _has_format: bool = False

    def load_into(self, state: AccountState) -> None:
        """Fill an empty account with what the folder holds; a folder that is not there holds nothing.

        Raises DamagedAccount.
        """
        self._refuse_other_formats()
        for path in sorted(self.folder.glob("*/*.json")):
            with _whole(path, "no object of the simulated account"):
                found = Object.read(json.loads(path.read_text()))
                state.add(found.registration, found.status)
        records: Mapping[str, Callable[[Any], None]] = {
            _CREATIONS: state.creations.update,
            _STRAYS: lambda written: _put_strays(state, written),
            _OTHERS: state.others.update,
            _SCHEDULED: lambda written: _put_scheduled(state, written),
        }
        for name, put in records.items():
            path = self.folder / name
            if path.exists():
                with _whole(path, "no record of the simulated account"):
                    put(json.loads(path.read_text()))
        self._remember(state)

    def save(self, state: AccountState) -> None:
        """Write what has changed since the last time: each file whole or not at all, whenever the process ends."""
        strays, scheduled, others = tuple(state.strays.values()), tuple(state.scheduled.values()), json.dumps(state.others)
        there = {(existing.registration.type, existing.registration.id): existing for existing in state}
        if self._creations != state.creations or (
            not self._has_format and (there or state.creations or strays or scheduled or state.others)
        ):
            # Before all else: a folder with anything in it says how it was written.
            write_whole(self.folder / _FORMAT_FILE, json.dumps({"format": FORMAT}))
            self._has_format = True
        if self._creations != state.creations:
            write_whole(self.folder / _CREATIONS, json.dumps(state.creations))
        if self._strays != strays:
            write_whole(self.folder / _STRAYS, json.dumps([asdict(stray) for stray in strays]))
        if self._others != others:
            write_whole(self.folder / _OTHERS, others)
        if self._scheduled != scheduled:
            write_whole(self.folder / _SCHEDULED, json.dumps([asdict(Object.of(CloudObject(item, "deleting"))) for item in scheduled]))
        for key, existing in there.items():
            before = self._objects.get(key)
            if before is None or before[0] is not existing.registration or before[1] != existing.status:
                write_whole(path_of(self.folder, *key), json.dumps(asdict(Object.of(existing)), indent=1))
                self._objects[key] = (existing.registration, existing.status)
        for key in self._objects.keys() - there.keys():
            path_of(self.folder, *key).unlink(missing_ok=True)
            del self._objects[key]
        self._strays, self._creations, self._others, self._scheduled = strays, dict(state.creations), others, scheduled

    def _refuse_other_formats(self) -> None:
        path = self.folder / _FORMAT_FILE
        if not path.exists():
            if any(self.folder.glob("*/*.json")) or any((self.folder / name).exists() for name in _RECORDS):
                error = DamagedAccount(f"{path} is not there: nothing says in which format the account was written")
                error.hint = (
                    f'write {{"format": {FORMAT}}} there if this version of trn wrote it, or delete {self.folder.parent} to begin again'
                )
                raise error
            return
        with _whole(path, "no record of the simulated account"):
            written = int(json.loads(path.read_text())["format"])
        self._has_format = True
        if written != FORMAT:
            error = DamagedAccount(f"{path}: the account was written in format {written}, and this version of trn reads format {FORMAT}")
            error.hint = f"delete {self.folder.parent} to begin again, or use the version of trn that wrote it"
            raise error

    def _remember(self, state: AccountState) -> None:
        self._objects = {
            (existing.registration.type, existing.registration.id): (existing.registration, existing.status) for existing in state
        }
        self._strays, self._creations = tuple(state.strays.values()), dict(state.creations)
        self._others = json.dumps(state.others)
        self._scheduled = tuple(state.scheduled.values())


def _put_scheduled(state: AccountState, written: list[dict[str, Any]]) -> None:
    for entry in written:
        gone = Object.read(entry).registration
        state.scheduled[gone.id] = gone


def _put_strays(state: AccountState, written: list[dict[str, Any]]) -> None:
    for entry in written:
        whole: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        state.add_stray(Stray(**whole))


@contextmanager
def _whole(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as error:
        raise DamagedAccount(f"{path} is {what}: {error}") from error


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder of an account: two runs must not share one.

    Raises AccountInUse, which names the process that has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise AccountInUse(f"another run has the simulated account in {folder} (process {file.read().strip()})") from None
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def path_of(folder: Path, resource_type: str, resource_id: str) -> Path:
    """File of one object."""
    package, module, kind = resource_type.split(":")
    # The last part of a module repeats the kind: aws:eks/nodeGroup:NodeGroup.
    module = module.split("/")[0] if package == "aws" else module.replace("/", ".")
    return folder / f"{package}.{module}.{kind}" / f"{file_name(resource_id)}.json"


def file_name(text: str) -> str:
    """A name that every file system takes, different for different texts."""
    name = quote(text, safe=":")
    if len(name) > _NAME_LENGTH:
        name = f"{name[:_NAME_LENGTH]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return name


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all, whenever the process ends. Raises UnwritableAccount."""
    beside = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text)
        beside.replace(path)
    except OSError as error:
        # A full disk names no file.
        raise UnwritableAccount(f"cannot write `{path}`: {error.strerror}") from error
