"""The engine's state kept in a folder, as Pulumi keeps a checkpoint: written whenever an operation begins or ends.

A run that is killed leaves what a kill leaves: resources with their ids, and the operations that were under way.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from facts.typed import typed
from simulator.account.disk import DamagedAccount, file_name, write_whole
from simulator.engine.state import Held, Pending, State, key_of, object_key
from simulator.recording import Registration

_HELD, _REPLACED, _PENDING, _STACK = "resources", "pending-deletions", "pending", "stack.json"
T = TypeVar("T")
_SETS = ("dependencies", "providers", "secret_inputs")


@dataclass
class StateFolder:
    """Where the state of one stack is kept. Remembers what it has written, and writes only what has changed since."""

    folder: Path
    _held: dict[str, Held] = field(default_factory=dict)
    _replaced: dict[str, Held] = field(default_factory=dict)
    _pending: dict[str, Pending] = field(default_factory=dict)
    _stack: Registration | None = None

    @property
    def exists(self) -> bool:
        """Whether a stack was ever made here. Without its own file it is damaged, not gone: `load` refuses it."""
        return (self.folder / _STACK).exists() or any(self.folder.glob("*/*.json"))

    @property
    def saved_at(self) -> str:
        """When something of it was last written or deleted, UTC, as the engine writes times."""
        moments = [path.stat().st_mtime for path in (self.folder, *self.folder.glob("*")) if path.exists()]
        return datetime.fromtimestamp(max(moments, default=0), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def load(self) -> State:
        """The state; an empty one where there is no folder. Raises DamagedAccount."""
        if self.exists and not (self.folder / _STACK).exists():
            error = DamagedAccount(f"{self.folder / _STACK} is not there, and {self.folder} holds resources of a stack")
            error.hint = f"restore the file; or delete {self.folder.parent} to begin again"
            raise error
        held = self._entries(_HELD, _held)
        pending = self._entries(_PENDING, _pending)
        stack = _read(self.folder / _STACK, _registration) if self.exists else None
        state = State({entry.registration.urn: entry for entry in held}, [], pending, stack)
        # A process may have died when one was written in both places: it is live until its successor is.
        there = {(item.registration.urn, *object_key(item.registration)) for item in held}
        state.pending_deletions = [
            item for item in self._entries(_REPLACED, _held) if (item.registration.urn, *object_key(item.registration)) not in there
        ]
        self._remember(state, pending)
        return state

    def begin(self, state: State, under_way: Iterable[Pending]) -> None:
        """Write operations that begin, before the account shows anything of them."""
        self._save_stack(state)
        for item in under_way:
            urn = item.registration.urn
            self._write(_PENDING, {urn: self._pending[urn]} if urn in self._pending else {}, {urn: item})
            self._pending[urn] = item

    def save(self, state: State, under_way: Iterable[Pending] = ()) -> None:
        """Write what has changed. `under_way`: operations that have begun and not ended; they are pending for the next reader."""
        pending = [*state.pending, *under_way]
        self._save_stack(state)
        # In this order: a process that dies in between leaves a resource with an operation too many, never without both.
        replaced = {key_of(item): item for item in state.pending_deletions}
        self._write(_REPLACED, self._replaced, {**self._replaced, **replaced})
        self._write(_HELD, self._held, state.held)
        self._write(_REPLACED, self._replaced, replaced)
        self._write(_PENDING, self._pending, {item.registration.urn: item for item in pending})
        self._remember(state, pending)

    def _save_stack(self, state: State) -> None:
        if state.stack is not None and state.stack is not self._stack:
            write_whole(self.folder / _STACK, json.dumps(_plain(state.stack)))
            self._stack = state.stack

    def _remember(self, state: State, pending: Iterable[Pending]) -> None:
        self._held, self._stack = dict(state.held), state.stack
        self._replaced = {key_of(item): item for item in state.pending_deletions}
        self._pending = {item.registration.urn: item for item in pending}

    def _write(self, name: str, before: Mapping[str, Held | Pending], there: Mapping[str, Held | Pending]) -> None:
        for urn, entry in there.items():
            if before.get(urn) is not entry:
                others = {item.name: getattr(entry, item.name) for item in dataclasses.fields(entry) if item.name != "registration"}
                write_whole(self._path(name, urn), json.dumps({"registration": _plain(entry.registration), **others}, indent=1))
        for urn in before.keys() - there.keys():
            self._path(name, urn).unlink(missing_ok=True)

    def _path(self, name: str, urn: str) -> Path:
        # Whole URNs are longer than a file's name may be, and all begin alike.
        return self.folder / name / f"{file_name(urn.split('::', 2)[-1])}.json"

    def _entries(self, name: str, make: Callable[[Any], T]) -> list[T]:
        return [_read(path, make) for path in sorted((self.folder / name).glob("*.json"))]


def _read(path: Path, make: Callable[[Any], T]) -> T:
    try:
        return make(json.loads(path.read_text()))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        damaged = DamagedAccount(f"{path} was not written by the rehearsal's engine: {error!r}")
        damaged.hint = f"correct the file, or delete it: the engine then no longer knows of the resource, and `{typed('trn recover --orphans')}` looks for it"
        raise damaged from error


def _held(entry: dict[str, Any]) -> Held:
    return Held(
        _registration(entry["registration"]),
        entry["init_error"],
        entry.get("pending_replacement", False),
        tuple(entry.get("saved", (0, 0))),
    )


def _pending(entry: dict[str, Any]) -> Pending:
    return Pending(_registration(entry["registration"]), entry["doing"], entry["remaining_s"])


def _plain(registration: Registration) -> dict[str, Any]:
    entry = {item.name: getattr(registration, item.name) for item in dataclasses.fields(registration)}
    entry |= {name: sorted(entry[name]) for name in _SETS}
    return entry | {"property_dependencies": {key: sorted(urns) for key, urns in registration.property_dependencies.items()}}


def _registration(entry: dict[str, Any]) -> Registration:
    links = {key: frozenset(urns) for key, urns in entry["property_dependencies"].items()}
    whole: dict[str, Any] = entry | {name: frozenset(entry[name]) for name in _SETS} | {"property_dependencies": links}
    return Registration(**whole)
