"""What released versions of the program left in a state, and whether today's program would replace or delete any of it.

A recorded state has of each resource its URN, its type and the inputs of which a change replaces it, with ids as the simulated account
draws them. `make state` writes that of the present version; docs/contributing/release.md says when.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facts.resources.table import TYPES
from simulator.recording import Recording, Registration
from simulator.replacements import changed_paths, replacing_paths
from tests.stacks.samples import recorded

FOLDER = Path(__file__).parent
STACKS = ("shipped", "everything", "existing network", "capacity block")
"""Stacks of which each version has a state."""
SHORTEST_ID = 6
"""Characters of the shortest text that is followed from one recording to the other."""


@dataclass(frozen=True)
class Kept:
    """One resource of a recorded state."""

    urn: str
    type: str
    id: str
    inputs: Mapping[str, Any]
    """Those that decide over a replacement."""
    outputs: Mapping[str, str]
    """Texts that others refer to."""


def compact(recording: Recording) -> list[Kept]:
    """What of a recording is kept, by URN."""
    items = sorted(recording.resources(), key=lambda item: item.urn)
    deciding = {item.urn: _deciding(item) for item in items}
    said = json.dumps(list(deciding.values()))
    return [Kept(item.urn, item.type, item.id, deciding[item.urn], _referred(item, said)) for item in items]


def _deciding(item: Registration) -> dict[str, Any]:
    """Inputs of which a change may replace the resource."""
    changes, found = TYPES[item.type].changes, dict[str, Any]()
    for path in (*changes.replacing, *changes.one_way):
        value: Any = item.inputs
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            _put(found, path, value)
    return found


def _put(inputs: dict[str, Any], path: str, value: Any) -> None:
    *sections, last = path.split(".")
    for key in sections:
        inputs = inputs.setdefault(key, {})
    inputs[last] = value


def _referred(item: Registration, said: str) -> dict[str, str]:
    """Outputs that stand in such inputs of others: they are followed where they are drawn anew."""
    texts = {key: value for key, value in item.outputs.items() if isinstance(value, str) and len(value) >= SHORTEST_ID}
    return {key: value for key, value in texts.items() if value != item.id and value in said}


def written(version: str) -> Path:
    """The file of a version."""
    return FOLDER / f"{version}.json"


def write(version: str) -> Path:
    """Record the states of the present program as those of a version."""
    stacks = {name: [vars(kept) for kept in compact(recorded(name))] for name in STACKS}
    lines = [
        f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(kept, sort_keys=True) for kept in rows) + "\n]" for name, rows in stacks.items()
    ]
    written(version).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return written(version)


def read(version: str) -> dict[str, list[Kept]]:
    """The states of a version, by stack."""
    return {name: [Kept(**row) for row in rows] for name, rows in json.loads(written(version).read_text()).items()}


def deployment(version: str) -> Path:
    """What `pulumi stack export` printed of the stack with few add-ons, brought up by a version on the simulated cloud."""
    return FOLDER / "engine" / f"{version}.json"


def versions() -> list[str]:
    """Versions with a recorded state."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def lost(before: list[Kept], now: Recording) -> Iterator[str]:
    """Resources of a state that the program would replace or delete, a sentence each."""
    today = {urn: item for item in now.resources() for urn in (item.urn, *former_urns(item, now))}
    pairs = [(kept, today.get(kept.urn)) for kept in before]
    renamed = dict(text for kept, item in pairs if item is not None for text in _renamed(kept, item))
    for kept, item in pairs:
        if item is None:
            yield f"{kept.urn} would be deleted: a resource that is renamed, or has another parent or type, needs an alias"
            continue
        inputs = _followed(_deciding(item), renamed)
        changed = changed_paths(kept.inputs, inputs)
        forced = replacing_paths(kept.type, changed, kept.inputs, inputs) if kept.type == item.type else ["its type"]
        if forced:
            yield f"{kept.urn} would be replaced: {', '.join(forced)}"


def _renamed(kept: Kept, item: Registration) -> Iterator[tuple[str, str]]:
    for today, before in ((item.id, kept.id), *((str(item.outputs.get(key, "")), text) for key, text in kept.outputs.items())):
        if today != before and len(today) >= SHORTEST_ID:
            yield today, before


def _followed(value: Any, renamed: Mapping[str, str]) -> Any:
    """A value of today's recording with the ids of the recorded one."""
    if isinstance(value, str):
        for today, before in renamed.items():
            value = value.replace(today, before)
        return value
    if isinstance(value, Mapping):
        return {key: _followed(item, renamed) for key, item in value.items()}
    return [_followed(item, renamed) for item in value] if isinstance(value, list) else value


def former_urns(item: Registration, recording: Recording) -> list[str]:
    """URNs that a resource may have had, by its aliases and those of its parents.

    Source: pulumi/pulumi sdk/proto pulumi/alias.proto: an alias is a URN, or what differs of name, type and parent.
    """
    found: list[str] = []
    head, tail = item.urn.split("::")[:2], item.urn.split("::", 3)
    parents = [
        item.parent,
        *(former_urns(recording.registrations[item.parent], recording) if item.parent in recording.registrations else []),
    ]
    for alias in [{"spec": {}}, *(item.options.get("aliases") or ())]:
        if "urn" in alias:
            found.append(alias["urn"])
            continue
        spec = alias.get("spec") or {}
        own = [spec["parentUrn"]] if spec.get("parentUrn") else [""] if spec.get("noParent") else parents
        for parent in own:
            chain = parent.split("::")[2] if parent and "pulumi:pulumi:Stack" not in parent.split("::")[2] else ""
            kind = spec.get("type") or item.type
            found.append("::".join([*head, f"{chain}${kind}" if chain else kind, spec.get("name") or tail[3]]))
    return [urn for urn in found if urn != item.urn]
