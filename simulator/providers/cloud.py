"""The simulated account as the providers use it: kept in a folder between runs of the engine, called from several threads.

One file an object: to lose one, delete its file.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from facts.typed import typed
from simulator.account.cluster import RealCluster
from simulator.account.disk import AccountFolder, Object, registration_of
from simulator.account.faults import Faults
from simulator.account.kinds import NODE_GROUP, ROLE
from simulator.account.objects import CloudObject
from simulator.account.rule import Refusal
from simulator.account.world import World
from simulator.providers.values import live_inputs


@dataclass
class Cloud:
    """All objects by type and id. Methods may be called from several threads."""

    folder: Path
    """Where the objects are kept."""
    world: World = field(default_factory=World)
    """The account with its rules; all objects in it are in the folder too."""
    _kept: AccountFolder = field(init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._kept = AccountFolder(self.folder)

    @classmethod
    def load(cls, folder: Path, faults: Faults | None = None, cluster: RealCluster | None = None) -> "Cloud":
        """The account kept in a folder, or an empty one. `cluster`: a real API server for its Kubernetes half.

        Raises DamagedAccount.
        """
        cloud = cls(folder, World(faults=faults or Faults(), cluster=cluster))
        cloud._kept.load_into(cloud.world.state)
        return cloud

    @property
    def objects(self) -> dict[tuple[str, str], Object]:
        """All objects by type and id."""
        with self._lock:
            objects = [Object.of(existing) for existing in self.world.state]
            return {(item.type, item.id): item for item in objects}

    def generation(self, urn: str) -> int:
        """How often the resource was made before."""
        with self._lock:
            return self.world.state.creations.get(urn, 0)

    def begin_create(
        self, urn: str, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]
    ) -> Refusal | None:
        """Accept a request, so that the object is there and takes its time; or refuse it."""
        with self._lock:
            refusal = self.world.begin_create(registration_of(urn, resource_type, resource_id, inputs, state))
            if refusal is None:
                self._save()
            return refusal

    def settle(self, resource_type: str, resource_id: str) -> Refusal | None:
        """Let what is being made become ready, where nothing keeps it from that."""
        with self._lock:
            existing = self._object(resource_type, resource_id)
            refusal = self.world.settle(existing.registration)
            if refusal is None:
                self._save()
            return refusal

    def abandon(self, resource_type: str, resource_id: str, refusal: Refusal) -> None:
        """The wait for an object that did not become ready has ended."""
        with self._lock:
            existing = self._object(resource_type, resource_id)
            if resource_type == NODE_GROUP and refusal.leaves == "failed":
                existing.registration = replace(existing.registration, outputs={**existing.registration.outputs, "status": "CREATE_FAILED"})
            self.world.abandon(existing.registration, refusal)
            self._save()

    def update(self, resource_type: str, resource_id: str, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> Refusal | None:
        """Change an object, or refuse to."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            if found is None:
                hint = f"`{typed('pulumi refresh')}` drops it from the state; then `{typed('pulumi up')}`"
                return Refusal(
                    "NotFound", f"{resource_type} {resource_id} does not exist", "it was deleted outside Pulumi", hint, remedy="again"
                )
            old = found.registration
            if live_inputs(old.inputs, old.outputs) == inputs and found.status in ("ready", "failed"):
                # A provider that sees no difference asks AWS nothing, and so fixes nothing.
                return None
            refusal = self.world.update(old, registration_of(old.urn, resource_type, resource_id, inputs, state))
            self._save()
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
                self.world.finish_delete(found.registration)
                self._save()

    def lose(self, resource_type: str, resource_id: str) -> None:
        """Remove an object without a request; no rule is asked."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            if found is not None:
                self.world.state.remove(found.registration)
                self._save()

    def ended(self, urn: str, resource_type: str, resource_id: str) -> None:
        """An operation has ended: its next try meets what is left of the faults."""
        with self._lock:
            self.world.faults.ended(registration_of(urn, resource_type, resource_id, {}, {}))

    def _save(self) -> None:
        self._kept.save(self.world.state)
        if self.world.cluster is not None:
            self.world.cluster.follow(self.world.state)

    def _object(self, resource_type: str, resource_id: str) -> CloudObject:
        found = self.world.state.find(resource_type, resource_id)
        assert found is not None, f"{resource_type} {resource_id} is not there"
        return found

    def of_others(self, resource_type: str, resource_id: str) -> dict[str, Any]:
        """State of a role that others keep; empty where there is none, and for all other types: the program reads no other."""
        with self._lock:
            entry = self.world.state.others.get("role", {}).get(resource_id) if resource_type == ROLE else None
            return {"arn": entry["Arn"], "name": resource_id, "path": entry["Path"]} if entry is not None else {}

    def get(self, resource_type: str, resource_id: str) -> Object | None:
        """An object; None where there is none."""
        with self._lock:
            found = self.world.state.find(resource_type, resource_id)
            return None if found is None else Object.of(found)
