"""Changes some keys of a stack file and leaves every other character as it is: comments, order, quotes and line ends.

The text is cut where the parser says that a value stands. What comes out is read again and must hold the old values with exactly
these changes; a file in which that cannot be done, such as one with anchors, is refused, with the lines to be typed by hand.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from facts.yaml_text import is_text_only_in_quotes
from stacks.namespace import NAMESPACE
from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml
from trn.cli.errors import CommandError
from trn.cli.text_files import read_text, write_text
from trn.engine.stack_names import stack_path

ROOT = "config"
"""Key of a stack file below which all configuration is."""

_COMMENT = re.compile(r"(?<=\s)#[^\r\n]*")
HINT = "check that it is a file that you may read and write"


@dataclass(frozen=True)
class Edit:
    """One key of the stack file with its new value."""

    path: tuple[str, ...]
    """Without the namespace."""
    value: Any
    """None: the key is deleted. A mapping takes the place of all that is below the key."""

    @property
    def key(self) -> str:
        """As documents name it: `controlPlane.kubernetesVersion`."""
        return ".".join(self.path)

    @property
    def keys(self) -> tuple[str, ...]:
        """The path from the top of the file."""
        return (ROOT, f"{NAMESPACE}:{self.path[0]}", *self.path[1:])

    def __str__(self) -> str:
        return f"{self.key}: {self.value}" if self.value is not None else f"{self.key} removed"


def edit_stack(stack: str, edits: Sequence[Edit], start: Path | None = None) -> bool:
    """Write the changed file, whole or not at all; whether anything differed. Raises CommandError."""
    before = stack_text(stack, start)
    after = edited(before, edits)
    if after == before:
        return False
    write_text(stack_path(stack, start), after, HINT)
    return True


def stack_text(stack: str, start: Path | None = None) -> str:
    """The stack file as it is written. Raises CommandError."""
    return read_text(stack_path(stack, start), MAX_BYTES, HINT)


def refuse_uneditable(stack: str, edits: Sequence[Edit], start: Path | None = None) -> None:
    """Raises CommandError where `edit_stack` would fail: asked before something is done that the file must then hold. Writes nothing."""
    path = stack_path(stack, start)
    edited(stack_text(stack, start), edits)
    if not os.access(path, os.W_OK):
        raise CommandError(f"cannot write `{path}`: it is read-only for this user", HINT)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text of a stack file with some keys changed. Raises CommandError where that cannot be done without touching others."""
    _refuse_values(text, edits)
    wanted = changed_data(read_yaml(text), edits)
    try:
        made = text
        for edit in edits:
            made = _applied(made, edit.keys, edit.value)
        holds = read_yaml(made) == wanted
    except (_Uneditable, YamlError, yaml.YAMLError):
        holds, made = False, text
    if not holds:
        hint = "\n".join(["type it yourself:", *as_yaml(edits)])
        raise CommandError("the stack file is written in a way in which these keys cannot be changed alone", hint)
    return made


def changed_data(data: Any, edits: Sequence[Edit]) -> Any:
    """What a stack file holds, with the keys changed. The data that is passed in stays as it is."""
    for edit in edits:
        data = _with(data if isinstance(data, dict) else {}, edit.keys, edit.value)
    return data


def _with(data: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    first, *rest = keys
    changed = dict(data)
    if rest:
        below = changed.get(first)
        if value is not None or isinstance(below, dict):
            changed[first] = _with(below if isinstance(below, dict) else {}, rest, value)
    elif value is None:
        changed.pop(first, None)
    else:
        changed[first] = value
    return changed


def _refuse_values(text: str, edits: Sequence[Edit]) -> None:
    """Raises CommandError where a path leads through a value that has nothing below it."""
    for edit in edits:
        place = read_yaml(text)
        for depth, key in enumerate(edit.keys):
            if place is not None and not isinstance(place, dict):
                wrong = f"`{edit.key}` cannot be set: `{'.'.join(edit.keys[:depth])}` is no section of the stack file"
                raise CommandError(wrong, "write the sections as keys with values below them")
            place = (place or {}).get(key)


def as_yaml(edits: Sequence[Edit]) -> list[str]:
    """Lines of the stack file with the changed keys alone; what is deleted is a comment."""
    tree: dict[str, Any] = {}
    for edit in edits:
        *above, last = edit.keys
        place = tree
        for key in above:
            place = place.setdefault(key, {})
        place[last] = edit.value
    return list(_lines(tree.get(ROOT, {}), 1))


def _lines(tree: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{'  ' * depth}{_scalar(key)}:"
            yield from _lines(value, depth + 1)
        else:
            yield f"{'  ' * depth}# delete `{key}`" if value is None else f"{'  ' * depth}{_scalar(key)}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(_scalar(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_scalar(key)}: {_scalar(item)}' for key, item in value.items())}}}"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text if not isinstance(value, str) or _is_plain(text) else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    """Whether every reader takes a text without quotes for this text: `1.30` alone would be a number."""
    if is_text_only_in_quotes(text):
        return False
    try:
        return not set(text) & set("#{}[],&*!|>'\"%@`") and read_yaml(f"key: {text}\n") == {"key": text}
    except YamlError:
        return False


class _Uneditable(Exception):
    """A form that this module does not cut."""


def _applied(text: str, keys: Sequence[str], value: Any) -> str:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, MappingNode):
        raise _Uneditable
    node: MappingNode = root
    for depth, key in enumerate(keys):
        found = next((pair for pair in node.value if pair[0].value == key), None)
        is_last = depth == len(keys) - 1
        if found is None:
            return text if value is None else _added(text, node, keys[depth:], value)
        if is_last:
            return _removed(text, node, found) if value is None else _replaced(text, found, value)
        below = found[1]
        if not isinstance(below, MappingNode) or (not below.value and not below.flow_style):
            if value is None:
                return text
            return _replaced(text, found, _nested(keys[depth + 1 :], value))
        node = below
    raise _Uneditable


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _end(node: Node) -> int:
    """Where a value ends, without the comments and empty lines that follow it."""
    if isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    assert node.end_mark is not None
    return node.end_mark.index


def _start(node: Node) -> int:
    assert node.start_mark is not None
    return node.start_mark.index


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _added(text: str, node: MappingNode, keys: Sequence[str], value: Any) -> str:
    """A key at the end of a mapping."""
    if node.flow_style:
        inside = f"{_scalar(keys[0])}: {_scalar(_nested(keys[1:], value))}"
        at = _end(node) - 1
        before = text[:at].rstrip()
        return f"{before}{'' if before.endswith('{') else ', '}{inside}{text[at:]}"
    if not node.value:
        raise _Uneditable
    column = node.value[0][0].start_mark.column
    at = _line_end(text, _end(node.value[-1][1]) if node.value[-1][1].value else _end(node.value[-1][0]))
    block = _block(_nested(keys, value), column, _newline(text))
    gap = "" if text[:at].endswith("\n") else _newline(text)
    return f"{text[:at]}{gap}{block}{text[at:]}"


def _block(tree: Mapping[str, Any], column: int, newline: str) -> str:
    lines = _lines(tree, 0)
    return "".join(f"{' ' * column}{line}{newline}" for line in lines)


def _replaced(text: str, pair: tuple[Node, Node], value: Any) -> str:
    """Another value for a key; a list in lines that only grows gets more lines."""
    key, node = pair
    if isinstance(node, SequenceNode) and not node.flow_style and isinstance(value, list):
        old = [item.value for item in node.value if isinstance(item, ScalarNode)]
        if old == value[: len(old)] and len(old) == len(node.value):
            at, column = _line_end(text, _end(node)), _start(node) - (text.rfind("\n", 0, _start(node)) + 1)
            gap = "" if text[:at].endswith("\n") else _newline(text)
            more = "".join(f"{' ' * column}- {_scalar(item)}{_newline(text)}" for item in value[len(old) :])
            return f"{text[:at]}{gap}{more}{text[at:]}"
    colon = text.index(":", _end(key))
    if isinstance(value, dict) and not (isinstance(node, CollectionNode) and node.flow_style):
        if node.value:
            raise _Uneditable
        at = _line_end(text, colon)
        gap = "" if text[:at].endswith("\n") else _newline(text)
        assert key.start_mark is not None
        return f"{text[:at]}{gap}{_block(value, key.start_mark.column + 2, _newline(text))}{text[at:]}"
    end = max(_end(node), colon + 1)
    if isinstance(node, ScalarNode) and read_yaml(f"key: {text[_start(node) : end]}\n") == {"key": value}:
        return text
    is_quoted = isinstance(node, ScalarNode) and node.style in ("'", '"') and isinstance(value, str)
    made = f"{text[_start(key) : colon + 1]} {_quoted(str(value)) if is_quoted else _scalar(value)}{text[end:]}"
    return f"{text[: _start(key)]}{_above(text, key, _comments(text, colon, end))}{made}"


def _comments(text: str, begin: int, end: int) -> list[str]:
    """Comments between two places, such as those of the items of a list."""
    values = [(token.start_mark.index, token.end_mark.index) for token in yaml.scan(text) if isinstance(token, yaml.ScalarToken)]
    found = (match for match in _COMMENT.finditer(text, begin, end) if not any(first <= match.start() < last for first, last in values))
    return [match.group() for match in found]


def _above(text: str, key: Node, comments: Sequence[str]) -> str:
    """Comments as lines of their own before a key, which has its line to itself."""
    indent = text[text.rfind("\n", 0, _start(key)) + 1 : _start(key)]
    if comments and indent.strip():
        raise _Uneditable
    return "".join(f"{comment}{_newline(text)}{indent}" for comment in comments)


def _removed(text: str, mapping: MappingNode, pair: tuple[Node, Node]) -> str:
    """Without a key. A section of which nothing is left stays, empty: without its braces it would be null."""
    key_node, value_node = pair
    end = max(_end(value_node), _end(key_node) + 1)
    if mapping.flow_style:
        number = [name for name, _ in mapping.value].index(key_node)
        if number + 1 < len(mapping.value):
            return text[: _start(key_node)] + text[_start(mapping.value[number + 1][0]) :]
        before = _end(mapping.value[number - 1][1]) if number else _start(key_node)
        return text[:before] + text[end:]
    if len(mapping.value) == 1:
        return f"{text[: _start(key_node)]}{{}}{text[end:]}"
    begin = text.rfind("\n", 0, _start(key_node)) + 1
    if text[begin : _start(key_node)].strip():
        raise _Uneditable
    return text[:begin] + text[_line_end(text, end) :]
