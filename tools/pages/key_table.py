"""Tables of all keys of a file, as its models define them."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from tools.pages.configuration_keys import section_in

HEAD = ("| key | type | default | what it does |", "| --- | --- | --- | --- |")


def key_page(title: str, introduction: Sequence[str], model: type[BaseModel]) -> str:
    """A whole page of reference: paragraphs, then every key."""
    return "\n".join([f"# {title}", "", *(line for text in introduction for line in (text, "")), *key_table(model)]) + "\n"


def key_table(model: type[BaseModel]) -> list[str]:
    """Lines of the table, with type, default and effect of every key."""
    return [*HEAD, *(f"| `{path}` | {kind} | {default} | {text} |" for path, kind, default, text in _keys(model, ""))]


def _keys(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    schema = model.model_json_schema(by_alias=True)
    for info in model.model_fields.values():
        field, path, text = schema["properties"][info.alias], f"{prefix}{info.alias}", info.description or ""
        section = section_in(info.annotation)
        if section is None:
            default = "**required**" if info.is_required() else _default(info.get_default(call_default_factory=True))
            yield path, _kind(field), default, text
        elif field.get("type") == "object":
            yield path, "sections by name", "", text
            yield from _keys(section, f"{path}.NAME.")
        elif field.get("type") == "array":
            yield path, "list of sections", "", text
            yield from _keys(section, f"{path}[].")
        else:
            yield path, "section", "", text
            yield from _keys(section, f"{path}.")


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_kind(option) for option in field["anyOf"] if option.get("type") != "null")
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    if field.get("type") == "object":
        return "mapping"
    return {"string": "text", "integer": "number", "boolean": "yes or no"}.get(str(field.get("type")), str(field.get("type")))


def _default(value: Any) -> str:
    if value is None or value == {} or value == ():
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{', '.join(map(str, value)) if isinstance(value, tuple) else value}`"
