"""The objects of the simulated cloud that the providers serve, kept in a folder between runs of the engine.

One file an object: to lose one, delete its file. A file is written when the request is accepted, before the time that
the object takes has passed, so that whoever dies meanwhile leaves a half-made object behind, as AWS does.
"""

import fcntl
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

from simulator.account.faults import Faults
from simulator.account.kinds import NODE_GROUP
from simulator.account.objects import CloudObject, Status, Stray
from simulator.account.rule import Refusal
from simulator.account.world import World
from simulator.doors.providers.values import live_inputs
from simulator.errors import SimulationError
from simulator.recording import Registration

_CREATIONS, _STRAYS = "creations.json", "strays.json"
_NAME_LENGTH = 200
"""Of a file, in characters; file systems allow 255 bytes."""


class WorldInUse(SimulationError):
    """Another process holds the folder."""

    hint = "let the other run end, or take a folder of its own with --folder"


class BrokenWorld(SimulationError):
    """A file in the folder is none of ours."""

    hint = "mend the file, or delete it to lose the object"


@dataclass
class Object:
    """One thing that exists."""

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
    def of(cls, thing: CloudObject) -> "Object":
        """What the account has, as it is written down."""
        item = thing.registration
        return cls(item.type, item.id, item.urn, thing.status, dict(item.inputs), dict(item.outputs))

    @property
    def registration(self) -> Registration:
        """What was written down, as the account knows it."""
        return _registration(self.urn, self.type, self.id, self.inputs, self.state)


@dataclass
class Cloud:
    """All objects by type and id. Methods may be called from several threads."""

    folder: Path
    """Where the objects are kept."""
    world: World = field(default_factory=World)
    """The account with its rules; whatever is in it is in the folder too."""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def load(cls, folder: Path, faults: Faults | None = None) -> "Cloud":
        """The cloud kept in a folder, or an empty one.

        Raises BrokenWorld.
        """
        cloud = cls(folder, World(faults=faults or Faults()))
        for path in sorted(folder.glob("*/*.json")):
            try:
                found = Object(**json.loads(path.read_text()))
                cloud.world.state.add(found.registration, found.status)
            except (ValueError, TypeError, KeyError) as error:
                raise BrokenWorld(f"{path} is no object of the simulated cloud: {error}") from error
        made, strays = folder / _CREATIONS, folder / _STRAYS
        if made.exists():
            cloud.world.state.creations.update(json.loads(made.read_text()))
        for stray in json.loads(strays.read_text()) if strays.exists() else []:
            held_in: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in stray.items()}
            cloud.world.state.add_stray(Stray(**held_in))
        return cloud

    @property
    def objects(self) -> dict[tuple[str, str], Object]:
        """All objects by type and id."""
        with self._lock:
            things = [Object.of(thing) for thing in self.world.state]
            return {(item.type, item.id): item for item in things}

    def generation(self, urn: str) -> int:
        """How often the resource was made before."""
        with self._lock:
            return self.world.state.creations.get(urn, 0)

    def begin_create(
        self, urn: str, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]
    ) -> Refusal | None:
        """Accept a request, so that the object is there and takes its time; or refuse it."""
        with self._lock:
            refusal = self.world.begin_create(_registration(urn, resource_type, resource_id, inputs, state))
            if refusal is None:
                _write(self.folder / _CREATIONS, json.dumps(self.world.state.creations))
                self._keep(resource_type, resource_id)
            return refusal

    def settle(self, resource_type: str, resource_id: str) -> Refusal | None:
        """Let what is being made become ready, where nothing keeps it from that."""
        with self._lock:
            thing = self._thing(resource_type, resource_id)
            refusal = self.world.settle(thing.registration)
            if refusal is None:
                self._keep(resource_type, resource_id)
            return refusal

    def abandon(self, resource_type: str, resource_id: str, refusal: Refusal) -> None:
        """Nobody waits any longer for what did not become ready."""
        with self._lock:
            thing = self._thing(resource_type, resource_id)
            if resource_type == NODE_GROUP and refusal.leaves == "failed":
                thing.registration = replace(thing.registration, outputs={**thing.registration.outputs, "status": "CREATE_FAILED"})
            self.world.abandon(thing.registration, refusal)
            self._keep(resource_type, resource_id)

    def update(self, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Refusal | None:
        """Change an object, or refuse to."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            if found is None:
                hint = "`pulumi refresh` drops it from the state; then `pulumi up`"
                return Refusal("NotFound", f"{resource_type} {resource_id} does not exist", "somebody has deleted it", hint, remedy="again")
            old = found.registration
            if live_inputs(old.inputs, old.outputs) == inputs and found.status in ("ready", "failed"):
                # A provider that sees no difference asks AWS nothing, and so mends nothing.
                return None
            refusal = self.world.update(old, _registration(old.urn, resource_type, resource_id, inputs, state))
            self._keep(resource_type, resource_id)
            return refusal

    def begin_delete(self, resource_type: str, resource_id: str) -> Refusal | None:
        """Accept a deletion, or refuse it; what is gone counts as deleted."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            return None if found is None else self.world.begin_delete(found.registration)

    def finish_delete(self, resource_type: str, resource_id: str) -> None:
        """The object is gone, and what that brings about has happened."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            if found is not None:
                before = {(thing.registration.type, thing.registration.id) for thing in self.world.state}
                self.world.finish_delete(found.registration)
                for gone in before - {(thing.registration.type, thing.registration.id) for thing in self.world.state}:
                    _path(self.folder, *gone).unlink(missing_ok=True)
                _write(self.folder / _STRAYS, json.dumps([asdict(stray) for stray in self.world.state.strays.values()]))

    def lose(self, resource_type: str, resource_id: str) -> None:
        """An object goes without anybody's request."""
        with self._lock:
            _path(self.folder, resource_type, resource_id).unlink(missing_ok=True)
            found = self.world.state.find(resource_type, resource_id)
            if found is not None:
                self.world.state.remove(found.registration)

    def ended(self, urn: str, resource_type: str, resource_id: str) -> None:
        """An operation has ended: its next try meets what is left of the faults."""
        with self._lock:
            self.world.faults.ended(_registration(urn, resource_type, resource_id, {}, {}))

    def _thing(self, resource_type: str, resource_id: str) -> CloudObject:
        found = self.world.state.find(resource_type, resource_id)
        assert found is not None, f"{resource_type} {resource_id} is not there"
        return found

    def get(self, resource_type: str, resource_id: str) -> Object | None:
        """An object; None where there is none."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            return None if found is None else Object.of(found)

    def _keep(self, resource_type: str, resource_id: str) -> None:
        found = self.world.state.find(resource_type, resource_id)
        path = _path(self.folder, resource_type, resource_id)
        if found is None:
            path.unlink(missing_ok=True)
        else:
            _write(path, json.dumps(asdict(Object.of(found)), indent=1))


def _registration(urn: str, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Registration:
    name = urn.rsplit("::", 1)[-1]
    return Registration(urn, resource_type, name, True, False, "", dict(inputs), id=resource_id, outputs=dict(state))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the folder of a cloud: two engines must not share one.

    Raises WorldInUse, which names the process that has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise WorldInUse(f"another run has the simulated cloud in {folder} (process {file.read().strip()})") from None
        file.seek(0)
        file.truncate()
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _path(folder: Path, resource_type: str, resource_id: str) -> Path:
    package, module, kind = resource_type.split(":")
    # The last part of a module repeats the kind: aws:eks/nodeGroup:NodeGroup.
    module = module.split("/")[0] if package == "aws" else module.replace("/", ".")
    name = quote(resource_id, safe=":")
    if len(name) > _NAME_LENGTH:
        name = f"{name[:_NAME_LENGTH]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return folder / f"{package}.{module}.{kind}" / f"{name}.json"


def _write(path: Path, text: str) -> None:
    """Whole or not at all, whenever the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text)
    beside.replace(path)
