"""How help shows arguments and options, and the sections of the commands."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperArgument

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Every day": ("rehearse", "init", "cost", "check", "status", "submit", "jobs", "why", "watch", "logs", "cancel"),
    "Jobs and data": ("lint", "precompile", "image", "data"),
    "The cluster": (
        "import",
        "network",
        "capacity",
        "plan",
        "upgrade",
        "verify",
        "top",
        "scale",
        "roll",
        "shell",
        "kubeconfig",
        "iam",
        "addons",
        "images",
    ),
    "Its end, and what went wrong": ("drain", "destroy", "recover", "sweep", "bundle"),
    "Without an account": ("practice", "engine"),
}
"""Commands of `trn` as its help shows them. What is in none comes last."""
_FOLDERS = ("folder", "output")
_OF_TYPES: Mapping[type, str] = {str: "TEXT", int: "N", float: "NUMBER", Path: "FILE"}


def name_of(param: Any) -> str:
    """An argument as the help shows it: `JOB`."""
    return str(param.metavar or param.name.upper())


def value_of(param: Any) -> str:
    """An option's value as the help shows it; nothing for a switch."""
    if param.is_flag:
        return ""
    if param.metavar:
        return str(param.metavar)
    if param.name in _FOLDERS:
        return "FOLDER"
    descriptor = param.type_descriptor
    if descriptor.choices:
        return "|".join(str(choice) for choice in descriptor.choices)
    inner = get_args(descriptor.annotation)[0] if descriptor.is_list else descriptor.annotation
    return _OF_TYPES.get(inner, "TEXT")


def arguments_of(command: Any, context: Any, *, in_usage: bool = False) -> list[tuple[str, str]]:
    """Each argument with its help; in the line of usage, in brackets where it may be left out."""
    return list(_arguments(command, context, in_usage=in_usage))


def _arguments(command: Any, context: Any, *, in_usage: bool) -> Iterator[tuple[str, str]]:
    for param in command.params:
        if not isinstance(param, TyperArgument):
            continue
        record = param.get_help_record(context)
        name = name_of(param)
        if in_usage and param.nargs == -1:
            name = f"-- {name}..."
        yield f"[{name}]" if in_usage and not param.required else name, record[1] if record else ""


def options_of(command: Any, context: Any) -> list[tuple[str, str]]:
    """Each option with its value and help."""
    rows = []
    for param in command.get_params(context):
        record = None if isinstance(param, TyperArgument) else param.get_help_record(context)
        if record is not None:
            names = ", ".join(sorted((*param.opts, *param.secondary_opts), key=lambda name: name.startswith("--")))
            rows.append((f"{names} {value_of(param)}".strip(), record[1]))
    return rows


def sections_of(names: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Titles with the commands of a group below them, in order; one section where the group is none of `SECTIONS`."""
    listed = {name for section in SECTIONS.values() for name in section}
    if not listed.issuperset(names[:1]):
        yield "Commands", names
        return
    for title, section in SECTIONS.items():
        if found := [name for name in section if name in names]:
            yield title, found
    if rest := [name for name in names if name not in listed]:
        yield "Other commands", rest
