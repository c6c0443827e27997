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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simulator.errors import SimulationError
from simulator.providers import faults
from simulator.providers.conflicts import conflict
from simulator.providers.faults import Faults
from simulator.providers.values import live_inputs
from simulator.world import Refusal

CREATING, READY, FAILED = "creating", "ready", "failed"
_CREATIONS = "creations.json"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
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
    status: str
    inputs: dict[str, Any]
    state: dict[str, Any]
    """Inputs and what was computed."""


@dataclass
class Cloud:
    """All objects by type and id. Methods may be called from several threads."""

    folder: Path
    """Where the objects are kept."""
    faults: Faults = field(default_factory=Faults)
    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    creations: dict[str, int] = field(default_factory=dict)
    """How often each URN was made: a replacement gets an id of its own."""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def load(cls, folder: Path, faults: Faults | None = None) -> "Cloud":
        """The cloud kept in a folder, or an empty one.

        Raises BrokenWorld.
        """
        cloud = cls(folder, faults or Faults())
        for path in sorted(folder.glob("*/*.json")):
            try:
                found = Object(**json.loads(path.read_text()))
            except (ValueError, TypeError) as error:
                raise BrokenWorld(f"{path} is no object of the simulated cloud: {error}") from error
            cloud.objects[found.type, found.id] = found
        made = folder / _CREATIONS
        if made.exists():
            cloud.creations = json.loads(made.read_text())
        return cloud

    def generation(self, urn: str) -> int:
        """How often the resource was made before."""
        with self._lock:
            return self.creations.get(urn, 0)

    def begin_create(
        self, urn: str, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]
    ) -> Refusal | None:
        """Accept a request, so that the object is there and takes its time; or refuse it."""
        with self._lock:
            if self.faults.met(faults.CREATE_FAILS, urn):
                return faults.refusal_at_start(urn)
            if self.faults.met(faults.WEBHOOK_NOT_READY, urn):
                return faults.webhook_refusal()
            refusal = conflict(resource_type, inputs, [other.inputs for other in self.objects.values() if other.type == resource_type])
            if refusal is not None:
                return refusal
            self.creations[urn] = self.creations.get(urn, 0) + 1
            _write(self.folder / _CREATIONS, json.dumps(self.creations))
            self._keep(Object(resource_type, resource_id, urn, CREATING, dict(inputs), dict(state)))
            return None

    def finish_create(self, urn: str, resource_type: str, resource_id: str) -> Refusal | None:
        """End what `begin_create` began: the object is ready, or stays and is broken."""
        with self._lock:
            made = self.objects[resource_type, resource_id]
            if resource_type == NODE_GROUP and self.faults.met(faults.NO_CAPACITY, urn):
                made.status = FAILED
                made.state["status"] = "CREATE_FAILED"
                self._keep(made)
                return faults.no_capacity(made.inputs)
            made.status = READY
            self._keep(made)
            return None

    def update(self, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Refusal | None:
        """Change an object, or refuse to."""
        with self._lock:
            found = self.objects.get((resource_type, resource_id))
            if found is None:
                return Refusal("NotFound", f"{resource_type} {resource_id} does not exist")
            if live_inputs(inputs, found.state) == inputs:
                # A provider that sees no difference asks AWS nothing, and so mends nothing.
                return None
            if found.status == FAILED:
                # aws/containers-roadmap#2204
                return Refusal("ResourceInUseException", "Nodegroup cannot be updated as it is currently not in Active State")
            found.inputs, found.state, found.status = dict(inputs), dict(state), READY
            self._keep(found)
            return None

    def remove(self, resource_type: str, resource_id: str) -> Refusal | None:
        """Delete an object, or refuse to; one that is gone counts as deleted."""
        with self._lock:
            self.objects.pop((resource_type, resource_id), None)
            _path(self.folder, resource_type, resource_id).unlink(missing_ok=True)
            return None

    def get(self, resource_type: str, resource_id: str) -> Object | None:
        """An object; None where there is none."""
        with self._lock:
            return self.objects.get((resource_type, resource_id))

    def _keep(self, item: Object) -> None:
        self.objects[item.type, item.id] = item
        _write(_path(self.folder, item.type, item.id), json.dumps(asdict(item), indent=1))


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
