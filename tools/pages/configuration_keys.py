"""All keys of the configuration, as the models define them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from stacks.settings import Settings


@dataclass(frozen=True)
class Key:
    """One key that holds a value, and no section."""

    path: str
    """Dotted; `NAME` is a name of the user's choice."""
    default: Any
    """None where there is none."""
    choices: tuple[Any, ...]
    """Values allowed, where they can be listed."""


def keys(model: type[BaseModel] = Settings, prefix: str = "") -> list[Key]:
    """Every key below a model, in the order of the models."""
    return list(_keys(model, prefix))


def section_in(annotation: Any) -> type[BaseModel] | None:
    """The section that a field holds, alone or by name; None for a field that holds a value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for argument in getattr(annotation, "__args__", ()) if (found := section_in(argument)) is not None), None)


def _keys(model: type[BaseModel], prefix: str) -> Iterator[Key]:
    schema = model.model_json_schema(by_alias=True)
    for info in model.model_fields.values():
        field, path = schema["properties"][info.alias], f"{prefix}{info.alias}"
        section = section_in(info.annotation)
        if section is None:
            default = None if info.is_required() else info.get_default(call_default_factory=True)
            yield Key(path, default, tuple(field.get("enum", ())))
        else:
            yield from _keys(section, f"{path}.NAME." if field.get("type") == "object" else f"{path}.")
