"""How help shows arguments and options, and the sections of the commands."""

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

_FOLDERS = ("folder", "output")
_OF_TYPES: Mapping[type, str] = {str: "TEXT", int: "N", float: "NUMBER", Path: "FILE"}


def name_of(param: Any) -> str:
    """An argument as the help shows it: `JOB`."""
    return str(param.metavar or param.name.upper())


def is_argument(param: Any) -> bool:
    """Whether it is a word, and no option."""
    return param.param_type_name == "argument"


def types_of(command: Any) -> Mapping[str, Any]:
    """Types of a command's parameters by name, as its function says; that of the values of a list."""
    if command.callback is None:
        return {}
    return {name: _type_of(annotation) for name, annotation in get_type_hints(inspect.unwrap(command.callback)).items()}


def _type_of(annotation: Any) -> Any:
    if get_origin(annotation) in (None, Literal):
        return annotation
    return _type_of(next(part for part in get_args(annotation) if part is not NoneType))


def choices_of(annotation: Any) -> tuple[str, ...]:
    """All values that there are, where the type says so."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def value_of(param: Any, annotation: Any) -> str:
    """An option's value as the help shows it; nothing for a switch."""
    if param.is_flag:
        return ""
    if param.metavar:
        return str(param.metavar)
    if param.name in _FOLDERS:
        return "FOLDER"
    return "|".join(choices_of(annotation)) or _OF_TYPES.get(annotation, "TEXT")


def arguments_of(command: Any, context: Any, *, is_new: bool) -> list[tuple[str, str]]:
    """Each argument with its help, the stack first. `is_new`: whether that is one that there is not yet."""
    stack = next((param for param in command.params if param.name == "stack"), None)
    rows = []
    if stack is not None:
        rows.append(("STACK", f"{stack.help}  [required]" if is_new else f"{stack.help} Also --stack, anywhere on the line."))
    records = ((param, param.get_help_record(context)) for param in command.params if is_argument(param))
    return [*rows, *((name_of(param), record[1] if record else "") for param, record in records)]


def options_of(command: Any, context: Any) -> list[tuple[str, str]]:
    """Each option with its value and help."""
    rows, types = [], types_of(command)
    for param in command.get_params(context):
        record = None if is_argument(param) else param.get_help_record(context)
        if record is not None:
            names = ", ".join(sorted((*param.opts, *param.secondary_opts), key=lambda name: name.startswith("--")))
            rows.append((f"{names} {value_of(param, types.get(param.name))}".strip(), record[1]))
    return rows


def sections_of(names: list[str], titles: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, list[str]]]:
    """Titles with the commands of a group below them, in order; one section where there are no titles."""
    for title, section in (titles or {"Commands": tuple(names)}).items():
        yield title, [name for name in section if name in names]
