"""Reads YAML as Pulumi's CLI reads a stack file, or refuses it with the line and a fix.

Pulumi reads with gopkg.in/yaml.v3: YAML 1.2's core schema, so that `yes` is text, and a key given twice is an error. What
yaml.v3 reads in ways that surprise (dates, `0x1F`, `010`, `1_000`, tags) is refused here: written as text in quotes, or
as a plain decimal number, both readers agree. Limits keep a file written to hurt from using the machine up.
Source: gopkg.in/yaml.v3 3.0.1 resolve.go and decode.go; pulumi/pulumi sdk/go/common/resource/config/object.go, read 2026-11.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import events

MAX_BYTES = 1_000_000
"""Largest stack file. Pulumi has no limit; a stack file of this program has some kilobytes."""
MAX_DEPTH = 40
"""Deepest nesting; the configuration needs 8."""
MAX_VALUES = 50_000
"""Most values, those that aliases repeat counted each time."""
CHARACTERS_PER_VALUE = 1_000
"""Text of this length counts as a further value, so that aliases of long text are bounded as well."""
MAX_DIGITS = 15
"""Longest number: beyond it, JSON numbers are no longer exact."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NUMBER_IN_GO = re.compile(
    r"[-+]?(0[xX]_?[0-9a-fA-F_]+|0[bB]_?[01_]+|0[oO]?_?[0-7_]+|[0-9][0-9_]*(\.[0-9_]*)?([eE][-+]?[0-9_]+)?)|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")
_NOT_TEXT = re.compile("[\ud800-\udfff]")


class YamlError(Exception):
    """The text is not YAML that Pulumi and this program read alike."""

    def __init__(self, wrong: str, line: int, hint: str) -> None:
        super().__init__(f"{wrong}, line {line}" if line else wrong)
        self.line, self.hint = line, hint


def read_yaml(text: str) -> Any:
    """The one document of a file as dictionaries with text keys, lists, text, numbers, booleans and None.

    Raises YamlError.
    """
    if len(text) > MAX_BYTES:
        raise YamlError(f"the file has {len(text):,} characters, at most {MAX_BYTES:,} are read", 0, "keep data out of the stack file")
    if _NOT_TEXT.search(text):
        raise YamlError("the file holds half of a surrogate pair, which is no character", 0, "save it as UTF-8")
    try:
        return _Reader(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be parsed"
        raise YamlError(f"not valid YAML: {problem}", mark.line + 1 if mark else 0, "fix the line it names") from error


@dataclass
class _Reader:
    """Builds values from the parser's events; nothing is built before its place, depth and number were checked."""

    stream: Iterator[events.Event]
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """Values by anchor, with how many values each holds."""
    open_anchors: set[str] = field(default_factory=set)
    """Anchors of the mappings and lists that are still being read."""
    values: int = 0

    def document(self) -> Any:
        value: Any = None
        for event in self.stream:
            if isinstance(event, events.DocumentStartEvent):
                value = self._value(next(self.stream), 0)
            elif isinstance(event, events.DocumentEndEvent):
                after = next(self.stream)
                # Pulumi reads the first document of several and ignores the rest without a word.
                if isinstance(after, events.DocumentStartEvent):
                    raise YamlError("a second document begins", _line(after), "keep one document in the file: delete the line `---`")
                break
        return value

    def _value(self, event: events.Event, depth: int) -> Any:
        before = self.values
        self._count(1 + len(getattr(event, "value", None) or "") // CHARACTERS_PER_VALUE, event)
        if isinstance(event, events.AliasEvent):
            return self._repeated(event)
        if depth > MAX_DEPTH:
            raise YamlError(f"nested more than {MAX_DEPTH} levels deep", _line(event), "the configuration needs 8 levels")
        assert isinstance(event, events.NodeEvent)
        tag = getattr(event, "tag", None)
        if tag is not None and tag != "!":
            raise YamlError(f"a tag, `{_short(tag)}`", _line(event), "delete the tag; put text in quotes")
        anchor = event.anchor
        if anchor is not None:
            self.open_anchors.add(anchor)
        if isinstance(event, events.MappingStartEvent):
            value: Any = self._mapping(depth)
        elif isinstance(event, events.SequenceStartEvent):
            value = self._list(depth)
        else:
            assert isinstance(event, events.ScalarEvent)
            value = _scalar(event) if tag is None else event.value
        if anchor is not None:
            self.open_anchors.discard(anchor)
            self.anchors[anchor] = (value, self.values - before)
        return value

    def _repeated(self, event: events.AliasEvent) -> Any:
        name = str(event.anchor)
        if name in self.open_anchors:
            raise YamlError(f"`*{name}` is inside what `&{name}` names: it would have no end", _line(event), "write the value out")
        if name not in self.anchors:
            raise YamlError(f"`*{name}` names no anchor above it", _line(event), f"mark the value meant with `&{name}`, or write it out")
        value, count = self.anchors[name]
        self._count(count - 1, event)
        return value

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for event in self.stream:
            if isinstance(event, events.MappingEndEvent):
                break
            is_merge = isinstance(event, events.ScalarEvent) and event.value == "<<" and event.implicit[0]
            key = "<<" if is_merge else self._value(event, depth + 1)
            value = self._value(next(self.stream), depth + 1)
            if is_merge:
                merged = {**_merged(value, _line(event)), **merged}
                continue
            if not isinstance(key, str):
                raise YamlError(f"the key `{_short(key)}` is not text", _line(event), f'put it in quotes: "{_short(key)}"')
            if key in lines:
                wrong = f"the key `{_short(key)}` is there twice, first on line {lines[key]}"
                raise YamlError(wrong, _line(event), "keep one of the two: Pulumi refuses the file")
            lines[key] = _line(event)
            found[key] = value
        return {**merged, **found}

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        for event in self.stream:
            if isinstance(event, events.SequenceEndEvent):
                break
            found.append(self._value(event, depth + 1))
        return found

    def _count(self, more: int, event: events.Event) -> None:
        self.values += more
        if self.values > MAX_VALUES:
            raise YamlError(f"more than {MAX_VALUES:,} values, with those that aliases repeat", _line(event), "use fewer aliases")


def _merged(value: Any, line: int) -> dict[str, Any]:
    """What `<<` adds: one mapping, or a list of which earlier ones win."""
    given = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in given):
        raise YamlError("`<<` merges something that is no mapping", line, "name an anchor of a mapping, or write the keys out")
    joined: dict[str, Any] = {}
    for item in given:
        joined = {**item, **joined}
    return joined


def _scalar(event: events.ScalarEvent) -> Any:
    """A plain scalar by the core schema, quoted ones as text."""
    text, line = event.value, _line(event)
    if not event.implicit[0]:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    digits = sum(character.isdigit() for character in text)
    if _DECIMAL.fullmatch(text) or _FLOAT.fullmatch(text):
        leading_zero = _DECIMAL.fullmatch(text) is None and re.fullmatch(r"[-+]?0[0-9]+", text)
        if digits > MAX_DIGITS:
            raise YamlError(f"a number of {digits} digits", line, "put it in quotes if it is text, such as an account id")
        if leading_zero:
            raise YamlError(f"the number `{text}` begins with 0", line, "put it in quotes if it is text, or leave out the 0")
        return int(text) if _DECIMAL.fullmatch(text) else _finite(text, line)
    if _DATE.fullmatch(text):
        raise YamlError(f"a date, `{_short(text)}`", line, f'put it in quotes: "{_short(text)}"')
    if _NUMBER_IN_GO.fullmatch(text):
        raise YamlError(
            f"a number in a form that readers disagree on, `{_short(text)}`", line, "write it in decimal digits, or put it in quotes"
        )
    return text


def _finite(text: str, line: int) -> float | int:
    """A whole number as int: the program gets 1e3 and 4.0 from Pulumi as 1000 and 4."""
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise YamlError(f"a number too large, `{_short(text)}`", line, "put it in quotes if it is text")
    return int(value) if value.is_integer() else value


def _line(event: events.Event) -> int:
    return int(event.start_mark.line) + 1


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
