"""What a change does to a resource: which inputs changed, whether it is replaced, and whether the old one is deleted first."""

from collections.abc import Iterable, Mapping
from typing import Any

from facts.resources.kubernetes import OBJECTS
from facts.resources.table import TYPES

_OBJECTS = frozenset(kind.token for kind in OBJECTS)


def changed_paths(old: Any, new: Any, path: str = "") -> list[str]:
    """Dotted paths at which two values differ; a list that differs counts as one path."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found: list[str] = []
        for key in sorted({*old, *new}):
            if not str(key).startswith("__"):
                found += changed_paths(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        return found
    return [] if old == new else [path]


def replacing_paths(resource_type: str, changed: Iterable[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Those of the changed paths that force a replacement; KeyError for a type that has no entry."""
    forcing, depending = TYPES[resource_type].changes.replacing, TYPES[resource_type].changes.one_way
    return [
        path
        for path in changed
        if any(path == key or path.startswith(f"{key}.") for key in forcing)
        or any((path == key or path.startswith(f"{key}.")) and forces(old, new) for key, forces in depending.items())
    ]


def deletes_first(resource_type: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a replacement deletes the old resource before it makes the new one; never of what is no resource, such as a provider."""
    if resource_type in _OBJECTS:
        names = [(item.get("metadata", {}).get("name"), item.get("metadata", {}).get("namespace")) for item in (old, new)]
        return names[0] == names[1]
    if resource_type not in TYPES:
        return False
    changes = TYPES[resource_type].changes
    return changes.deletes_first or (changes.name is not None and new.get(changes.name) is not None)
