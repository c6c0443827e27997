"""Finds, reads and changes a stack's configuration file; it is read in the form in which Pulumi passes it to the program."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stacks.namespace import NAMESPACE
from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml
from trn.cli.errors import CommandError
from trn.cli.text_files import read_text
from trn.engine.stack_edit import ROOT, Edit, changed_data
from trn.engine.stack_names import StackFileError, project_root, stack_path

_READABLE, _TOO_LARGE = "check that it is a file that you may read", "keep data out of the stack file"


@dataclass(frozen=True)
class StackFile:
    """One `Pulumi.NAME.yaml` with its project."""

    root: Path
    """Folder of `Pulumi.yaml` and `__main__.py`."""
    project: str
    stack: str
    pairs: dict[str, Any]
    """Full keys to values."""

    @property
    def configuration(self) -> dict[str, Any]:
        """Keys of our own namespace, without it."""
        prefix = f"{NAMESPACE}:"
        return {key.removeprefix(prefix): value for key, value in self.pairs.items() if key.startswith(prefix)}

    @property
    def as_pulumi(self) -> dict[str, str]:
        """Text values as the engine passes them: structured ones as JSON."""
        return {key: _as_text(value) for key, value in self.pairs.items()}


def _as_text(value: Any) -> str:
    """One value as `pulumi config` gives it to the program: nothing as empty text."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def as_pulumi(configuration: dict[str, Any]) -> dict[str, str]:
    """Keys without a namespace as the engine passes them: full keys, structured values as JSON."""
    pairs = {f"{NAMESPACE}:{key}": value for key, value in configuration.items()}
    return StackFile(Path(), "", "", pairs).as_pulumi


def project_of(start: Path | None = None) -> tuple[Path, str]:
    """Folder and name of the project that `start`, or the working folder, belongs to.

    Raises StackFileError where there is none.
    """
    root = project_root(start or Path.cwd())
    return root, str(_yaml(root / "Pulumi.yaml").get("name"))


def read_stack_file(stack: str, start: Path | None = None) -> StackFile:
    """The stack's file, in the folder `start` or the nearest one above it that holds a Pulumi.yaml.

    Raises StackFileError, with a hint, where there is none.
    """
    return parsed(stack, _text(stack_path(stack, start)), start)


def parsed(stack: str, text: str, start: Path | None = None) -> StackFile:
    """The same of a text that is in no file yet. Raises StackFileError."""
    root, project = project_of(start)
    name = f"Pulumi.{stack}.yaml"
    pairs = _parsed(name, text).get("config") or {}
    if not isinstance(pairs, dict):
        raise StackFileError(f"`config` in {name} is no mapping", "see Pulumi.dev.yaml for the form")
    bare = [key for key in pairs if ":" not in str(key)]
    if bare:
        wrong = f"{name} has keys without a namespace: {', '.join(map(str, bare))}"
        raise StackFileError(wrong, f"write `{NAMESPACE}:{bare[0]}` for `{bare[0]}`")
    return StackFile(root, project, stack, pairs)


def with_edits(stack_file: StackFile, edits: Sequence[Edit]) -> StackFile:
    """The stack file as it will be; nothing is written."""
    data = changed_data({ROOT: stack_file.pairs}, edits)
    return replace(stack_file, pairs=data[ROOT])


def changed_keys(before: StackFile, after: StackFile) -> list[str]:
    """Keys whose values differ, as documents name them, each with its value before and after."""
    old, new = (dict(_leaves(file.pairs, ())) for file in (before, after))
    paths = [path for path in sorted({*old, *new}) if old.get(path, _NONE) != new.get(path, _NONE)]
    return [f"{'.'.join(path).removeprefix(f'{NAMESPACE}:')}: {_shown(new, path)}, was {_shown(old, path)}" for path in paths]


def refuse_edited(planned: StackFile, now: StackFile) -> None:
    """Raises CommandError where the stack file is no longer the one that a plan was made from."""
    changed = changed_keys(planned, now)
    if changed:
        wrong = f"Pulumi.{now.stack}.yaml has been edited since the plan was made: {'; '.join(changed)}"
        raise CommandError(wrong, "take the edit back, or run it again: it plans anew")


_NONE = object()


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each value that has no key below it, by the keys that lead to it."""
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _leaves(below, (*path, str(key)))
    else:
        yield path, value


def _shown(leaves: Mapping[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    return _as_text(leaves[path]) if path in leaves else "not there"


def _yaml(path: Path) -> dict[str, Any]:
    return _parsed(path.name, _text(path))


def _text(path: Path) -> str:
    try:
        return read_text(path, MAX_BYTES, _READABLE, too_large=_TOO_LARGE)
    except CommandError as error:
        raise StackFileError(str(error.args[0]), error.hint) from error


def _parsed(name: str, text: str) -> dict[str, Any]:
    try:
        loaded = read_yaml(text)
    except YamlError as error:
        raise StackFileError(f"{name}: {error}", error.hint) from error
    return loaded if isinstance(loaded, dict) else {}
