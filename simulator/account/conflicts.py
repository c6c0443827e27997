"""What identifies an object among all of its type, and the errors of services for a duplicate."""

from collections.abc import Mapping
from typing import Any

from facts.resources.table import TYPES
from simulator.recording import Registration


def identity(registration: Registration) -> str | None:
    """What identifies this object among all of its type; None where nothing does."""
    return _identity(registration.type, registration.inputs)


def wording(resource_type: str, inputs: Mapping[str, Any]) -> tuple[str, str] | None:
    """Code and text for a new object where one of its name, or in its place, is there; None for a type that takes a second one."""
    found = TYPES[resource_type].conflict if resource_type in TYPES else None
    if found is None:
        return None
    if not found.text:
        return found.code, f"{_identity(resource_type, inputs)} already exists"
    return found.code, found.text.format(**{path.rsplit(".", 1)[-1]: _at(inputs, path) for path in found.fields})


def repeats(resource_type: str) -> bool:
    """Whether the creation is a put call, which may be made twice."""
    return resource_type in TYPES and TYPES[resource_type].second == "same"


def _identity(resource_type: str, inputs: Mapping[str, Any]) -> str | None:
    return TYPES[resource_type].identity(inputs) if resource_type in TYPES else None


def _at(inputs: Mapping[str, Any], path: str) -> Any:
    value: Any = inputs
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
