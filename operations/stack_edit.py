"""Changes single keys in the text of a stack file; comments, order and form of everything else stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from operations.errors import CommandError
from operations.stack_names import stack_path
from operations.text_files import read_text, write_text
from stacks.namespace import NAMESPACE
from stacks.stack_yaml import MAX_BYTES

_HINT = "check that it is a file that you may read and write"


@dataclass(frozen=True)
class Edit:
    """One key of a stack file."""

    path: tuple[str, ...]
    """From the section on, without the namespace: `("controlPlane", "kubernetesVersion")`."""
    value: str | None
    """Text that it is set to, in quotes where YAML needs them or the old one had them; None removes the key."""

    @property
    def key(self) -> str:
        """As documents name it: `controlPlane.kubernetesVersion`."""
        return ".".join(self.path)

    def __str__(self) -> str:
        return f"{self.key}: {self.value}" if self.value is not None else f"{self.key} removed"


def edit_stack(stack: str, edits: Sequence[Edit], start: Path | None = None) -> bool:
    """Write the changed file, whole or not at all; whether anything differed. Raises CommandError."""
    path = stack_path(stack, start)
    before = read_text(path, MAX_BYTES, _HINT)
    after = edited(before, edits)
    if after == before:
        return False
    write_text(path, after, _HINT)
    return True


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with the keys set or removed. Raises CommandError where a path leads through something that is no section."""
    for edit in edits:
        text = _edited(text, edit)
    return text


def _edited(text: str, edit: Edit) -> str:
    place = yaml.compose(text, yaml.SafeLoader)
    keys = ("config", f"{NAMESPACE}:{edit.path[0]}", *edit.path[1:])
    for depth, key in enumerate(keys):
        if not isinstance(place, yaml.MappingNode):
            wrong = f"`{edit.key}` cannot be set: `{'.'.join(keys[:depth])}` is no section of the stack file"
            raise CommandError(wrong, "write the sections as keys with values below them")
        entry = next(((name, value) for name, value in place.value if name.value == key), None)
        if entry is None:
            return text if edit.value is None else _inserted(text, place, keys[depth:], edit.value)
        if depth == len(keys) - 1:
            return _removed(text, place, *entry) if edit.value is None else _set(text, entry[1], edit.value)
        place = entry[1]
    raise AssertionError(edit)


def _set(text: str, node: yaml.Node, value: str) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value == value and node.tag == "tag:yaml.org,2002:str":
        return text
    assert node.start_mark is not None
    assert node.end_mark is not None
    start, end = node.start_mark.index, node.end_mark.index
    # A key without a value has no text of its own: its node begins and ends behind the colon.
    space = " " if start == end and text[start - 1] == ":" else ""
    is_plain = isinstance(node, yaml.ScalarNode) and start < end and text[start] not in "'\"" and yaml.safe_load(value) == value
    return f"{text[:start]}{space}{value if is_plain else _quoted(value)}{text[end:]}"


def _inserted(text: str, place: yaml.MappingNode, keys: Sequence[str], value: str) -> str:
    """A key at the end of a section's first entry's line, or in the braces: before the section's other entries and their comments."""
    nested = _quoted(value)
    for key in reversed(keys[1:]):
        nested = f"{{{key}: {nested}}}"
    new = f"{keys[0]}: {nested}"
    assert place.start_mark is not None
    start = place.start_mark.index
    if place.flow_style:
        rest = ", " if place.value else ""
        return f"{text[: start + 1]}{new}{rest}{text[start + 1 :]}"
    return f"{text[:start]}{new}\n{' ' * place.start_mark.column}{text[start:]}"


def _quoted(value: str) -> str:
    """In quotes: `1.30` alone would be a number."""
    return f'"{value}"'


def _removed(text: str, place: yaml.MappingNode, name: yaml.Node, value: yaml.Node) -> str:
    assert name.start_mark is not None
    assert value.end_mark is not None
    start, end = name.start_mark.index, value.end_mark.index
    if len(place.value) == 1 and not place.flow_style:
        # A section without entries would be no section.
        return f"{text[:start]}{{}}{text[end:]}"
    if place.flow_style:
        after = len(text[end:]) - len(text[end:].lstrip(" "))
        if text[end + after : end + after + 1] == ",":
            end += after + 1
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        else:
            start = text.rindex(",", 0, start) if len(place.value) > 1 else start
        return text[:start] + text[end:]
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    return text[:line_start] + (text[line_end + 1 :] if line_end >= 0 else "")
