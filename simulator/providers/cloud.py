"""The objects of the simulated cloud that the providers serve, kept in a file between runs of the engine."""

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Cloud:
    """All objects by type and id. Methods may be called from several threads."""

    path: Path | None = None
    """Where the objects are kept; None keeps them in memory."""
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    """`type|id` to URN and state."""
    creations: dict[str, int] = field(default_factory=dict)
    """How often each URN was made: a replacement gets an id of its own."""
    failures: dict[str, list[str]] = field(default_factory=dict)
    """Logical name to errors that its next creations meet, one each; empty means they succeed."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """(operation, URN) of every create, update and delete of this process, in order."""
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def load(cls, path: Path) -> "Cloud":
        """The cloud kept in a file, or an empty one."""
        kept = json.loads(path.read_text()) if path.exists() else {"objects": {}, "creations": {}}
        return cls(path, kept["objects"], kept["creations"])

    def next_failure(self, urn: str) -> str | None:
        """The error that this creation meets; None where it succeeds."""
        with self._lock:
            waiting = self.failures.get(urn.rsplit("::", 1)[-1], [])
            return waiting.pop(0) if waiting else None

    def generation(self, urn: str) -> int:
        """How often the resource was made before."""
        with self._lock:
            return self.creations.get(urn, 0)

    def put(self, operation: str, resource_type: str, resource_id: str, urn: str, state: dict[str, Any]) -> bool:
        """Make or update an object; False where `create` meets one that is there."""
        key = f"{resource_type}|{resource_id}"
        with self._lock:
            if operation == "create":
                if key in self.objects:
                    return False
                self.creations[urn] = self.creations.get(urn, 0) + 1
            self.objects[key] = {"urn": urn, "state": state}
            self._done(operation, urn)
            return True

    def get(self, resource_type: str, resource_id: str) -> dict[str, Any] | None:
        """The state of an object; None where there is none."""
        with self._lock:
            found = self.objects.get(f"{resource_type}|{resource_id}")
            return None if found is None else found["state"]

    def remove(self, resource_type: str, resource_id: str, urn: str) -> None:
        """Delete an object; one that is gone counts as deleted."""
        with self._lock:
            self.objects.pop(f"{resource_type}|{resource_id}", None)
            self._done("delete", urn)

    def _done(self, operation: str, urn: str) -> None:
        self.calls.append((operation, urn))
        if self.path is not None:
            self.path.write_text(json.dumps({"objects": self.objects, "creations": self.creations}))
