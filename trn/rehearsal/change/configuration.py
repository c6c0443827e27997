"""A stack file with some keys changed on the command line."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from stacks.namespace import NAMESPACE
from stacks.stack_yaml import YamlError, read_yaml
from trn.engine.stack_file import StackFile
from trn.engine.stack_names import StackFileError


def with_settings(stack_file: StackFile, settings: Sequence[str]) -> StackFile:
    """A stack file with some keys changed.

    Raises StackFileError for a text without `=`, a value that is no YAML, or a path through something that is no section.
    """
    pairs = deepcopy(stack_file.pairs)
    for text in settings:
        path, separator, value = text.partition("=")
        if not separator or not path:
            raise StackFileError(f"`{text}` sets nothing", "write key=value, such as `nodeGroups.trn1-32xl.size=4`")
        try:
            parsed = read_yaml(value)
        except YamlError as error:
            raise StackFileError(f"the value in `{text}`: {error}", "write lists and sections as [a, b] and {key: value}") from error
        _set(pairs, path, parsed, text)
    return StackFile(stack_file.root, stack_file.project, stack_file.stack, pairs)


def _set(pairs: dict[str, Any], path: str, value: Any, text: str) -> None:
    *sections, last = path.split(".")
    keys = [*sections, last]
    keys[0] = f"{NAMESPACE}:{keys[0]}"
    place = pairs
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise StackFileError(f"`{path}` in `{text}` leads through a value that is no section", "see docs/configuration.md for the keys")
    if value is None and keys[-1] not in place:
        raise StackFileError(f"`{text}` removes a key that the stack file does not have", "see docs/configuration.md for the keys")
    if value is None:
        del place[keys[-1]]
    else:
        place[keys[-1]] = value
