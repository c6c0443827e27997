"""Reads a manifest of Kubernetes: all documents of a file as plain values, with the line of every key."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from stacks.stack_yaml import MAX_DEPTH, MAX_VALUES
from training.lint.finding import Document, Path
from trn.cli.errors import MISUSE, CommandError


@dataclass(frozen=True)
class Manifest:
    """The documents of a file."""

    documents: list[Document]
    lines: Mapping[tuple[int, Path], int]
    """Line of a key or list entry, from 1, by document and path."""

    def line(self, document: int, path: Path) -> int:
        """Line of a path, or of the nearest thing around it that is there."""
        while path and (document, path) not in self.lines:
            path = path[:-1]
        return self.lines.get((document, path), 1)


def read_manifest(text: str, where: str) -> Manifest:
    """All documents that are objects.

    `where`: the name of the file. Raises CommandError for what is no YAML, or has more values or is deeper than any manifest.
    """
    # Kubernetes reads YAML 1.1, as this loader does: `yes` is a boolean.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_depth(yaml.parse(text, Loader=loader), where)
        nodes = list(yaml.compose_all(text, Loader=loader))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        hint = "fix the line it names; a template is rendered first, such as by `helm template`"
        raise CommandError(
            f"{where} is not valid YAML: {getattr(error, 'problem', None) or 'nested too deep'}{line}", hint, code=MISUSE
        ) from error
    builder = _Builder(where)
    values = [(index, builder.value(node, index, ())) for index, node in enumerate(nodes) if node is not None]
    return Manifest([Document(index, value) for index, value in values if isinstance(value, dict)], builder.lines)


def _refuse_depth(events: Iterable[yaml.Event], where: str) -> None:
    """Raises CommandError for what is nested too deep: libyaml's composer calls itself for each level, until the process dies."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _too_much(where)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_much(where: str) -> CommandError:
    wrong = f"{where} has more than {MAX_VALUES:,} values, or is nested more than {MAX_DEPTH} levels deep"
    return CommandError(wrong, "no manifest is", code=MISUSE)


@dataclass
class _Builder:
    """Plain values of nodes, counted: an alias is a value each time."""

    where: str
    lines: dict[tuple[int, Path], int] = field(default_factory=dict)
    count: int = 0

    def value(self, node: Any, document: int, path: Path) -> Any:
        self.count += 1
        if self.count > MAX_VALUES or len(path) > MAX_DEPTH:
            raise _too_much(self.where)
        self.lines.setdefault((document, path), node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            found: dict[str, Any] = {}
            for key, item in node.value:
                name = str(key.value) if isinstance(key, yaml.ScalarNode) else ""
                self.lines[document, (*path, name)] = key.start_mark.line + 1
                found[name] = self.value(item, document, (*path, name))
            return found
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, document, (*path, index)) for index, item in enumerate(node.value)]
        return _scalar(node)


def _scalar(node: yaml.ScalarNode) -> Any:
    """Numbers and booleans as such, everything else as its text."""
    kind = node.tag.rpartition(":")[2]
    if kind == "int" and node.value.lstrip("+-").isdigit():
        return int(node.value) if len(node.value) < 16 else node.value
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    return None if kind == "null" else node.value
