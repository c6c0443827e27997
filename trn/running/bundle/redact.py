"""Takes secrets out of texts and objects, and remembers them, so that one seen under its name is also found where it has none."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote as url_quoted

import yaml

from facts.yaml_text import write_yaml
from trn.running.bundle.secrets import (
    LONG,
    REDACTED,
    SAFE_VARIABLES,
    TOKENS,
    WORDS,
    has_hint,
    is_place,
    is_random,
    is_secret_name,
    is_telling,
)

_FLAGS = re.VERBOSE | re.IGNORECASE | re.MULTILINE
_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|\Z)", re.DOTALL)
"""Whole blocks, and those whose end is cut off."""
_PEM_END = re.compile(r"^[^\n]*-----END [A-Z0-9 ]+-----", re.MULTILINE)
_PEM_LINE = re.compile(r"[A-Za-z0-9+/=]+\s*")
_URL_USER = re.compile(r"(?<=://)(?:[^\s/@'\"]{0,200}:[^\s@'\"]{0,200}|[^\s/@'\"]{1,200})@")
_BEARER = re.compile(r"\b(bearer|basic)(\s+)(?=[\w+/.~-]*[\d=A-Z])[\w+/.~=-]{8,}", re.IGNORECASE)
_QUOTED = r"""(?: \\"(?:(?!\\").)*\\" | "(?:\\.|[^"\\\n])*" | '(?:''|[^'\n])*' )"""
_ASSIGNED = re.compile(
    rf"""(?P<name>{WORDS}[\w.\[\]-]{{0,64}}) (?P<sign>\\?["']?\s*(?:=>|:=|[:=])[ \t]*) (?P<value>{_QUOTED}|[^\s"']+)""", _FLAGS
)
_LINE = re.compile(
    rf"""^(?P<begin>[ \t]*(?:-[ \t]+|export[ \t]+|\?[ \t]+)?["']?[\w.:/-]{{0,80}}?) (?P<name>{WORDS}[\w.-]{{0,64}})
    (?P<sign>["']?[ \t]*[:=])(?P<value>[ \t]+\S.*|[^\s:=].*|[ \t]*)$""",
    _FLAGS,
)
"""A line that is a key and its value: all of the value is the secret, blanks too."""
_OPEN = re.compile(rf"""(?P<name>{WORDS}[\w.-]{{0,64}}) ["']?\s*[:=][ \t]* (?P<quote>["'])(?:(?!(?P=quote)).)*$""", _FLAGS)
_QUOTED_LINES = 50
"""A value whose quotes end on a later line, and how many lines are then hidden at most."""
_OPTION = re.compile(rf"""(?<![\w-])(?P<name>--?[\w-]{{0,40}}?{WORDS}[\w-]{{0,40}})[ \t]+(?P<value>{_QUOTED}|(?!-)\S+)""", _FLAGS)
_USER_OPTION = re.compile(r"(?<![\w-])(-u|--user|--userpwd|--proxy-user)([ \t=]+)[^\s:'\"]+:[^\s'\"]+")
_SHORT_OPTION = re.compile(
    r"\b((?:sshpass|mysql\w*|mariadb\w*|docker login|podman login|helm registry login|curl)\b[^\n]{0,400}?\s-p)([ \t]?)\S+"
)
_SECRET_OF_PULUMI = "4dabf18193072939515e22adb298388d"
"""Key of the objects by which Pulumi's state marks special values, secrets among them (pulumi/pulumi sdk/go/common/resource)."""
_VARIABLES = ("env", "envs", "env_vars", "environment")
_PAIRS = (("name", "value"), ("key", "value"), ("Key", "Value"), ("Name", "Value"))
"""A name and its value side by side: variables, headers, tags."""
_ALIAS = re.compile(r"(?<![\w])\*\w")
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_COPY = "kubectl.kubernetes.io/last-applied-configuration"


class Redactor:
    """Redacts all parts of one bundle."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known`: secrets that are looked for wherever they stand."""
        self._known = {value for value in known if is_telling(value)}

    def text(self, text: str, *, is_yaml: bool = False) -> str:
        """A text without its secrets. `is_yaml`: what is indented below a secret's key belongs to its value."""
        # Colours of a terminal stand between a name and its value.
        text = _COLOURS.sub("", text)
        text = self._yaml(text) if is_yaml else text
        text = _without_pem(text)
        text = _URL_USER.sub(f"{REDACTED}@", text)
        text = _BEARER.sub(rf"\1\2{REDACTED}", text)
        text = self._lines(text, is_yaml=is_yaml)
        text = TOKENS.sub(REDACTED, text)
        return LONG.sub(lambda found: REDACTED if is_random(found[0]) else found[0], text)

    def value(self, value: Any, *, name: str = "") -> Any:
        """An object of JSON without its secrets; `name` is the key that it is under."""
        if isinstance(value, Mapping):
            return self._mapping(value, name)
        if isinstance(value, list | tuple):
            return self._items(value, name)
        if not isinstance(value, str):
            return REDACTED if is_secret_name(name) and isinstance(value, int | float) and not isinstance(value, bool) else value
        if is_secret_name(name):
            return self._kept_back(value)
        if value[:1] in ("{", "[") and (inner := _parsed(value)) is not None:
            return json.dumps(self.value(inner), ensure_ascii=False)
        if name.endswith("YAML") and (inner := _parsed_yaml(value)) is not None:
            # Aliases can make a small text endlessly large.
            return REDACTED if _ALIAS.search(value) else write_yaml(self.value(inner))
        return self.text(value)

    def everywhere(self, text: str) -> str:
        """A text without all secrets that were met so far, under whatever name and encoding."""
        forms = {form for value in self._known for form in _forms(value)}
        return re.sub("|".join(map(re.escape, sorted(forms, key=len, reverse=True))), REDACTED, text) if forms else text

    def learn(self, value: str) -> None:
        """Look for a secret everywhere."""
        if is_telling(value):
            self._known.add(value)

    def _kept_back(self, value: str) -> str:
        self.learn(value)
        return REDACTED if value else value

    def _mapping(self, value: Mapping[str, Any], name: str) -> Any:
        if _SECRET_OF_PULUMI in value or "secure" in value or value.get("kind") == "Secret":
            return REDACTED
        for named, valued in _PAIRS:
            if isinstance(value.get(named), str) and isinstance(value.get(valued), str):
                kept = name in _VARIABLES and not SAFE_VARIABLES.fullmatch(value[named])
                return {**value, valued: self._variable(value[named], value[valued], kept_back=kept)}
        if name in _VARIABLES and "valueFrom" not in value:
            return {key: self._variable(key, item, kept_back=not SAFE_VARIABLES.fullmatch(key)) for key, item in value.items()}
        inner = {key: item for key, item in value.items() if key not in (_COPY, "managedFields")}
        # What is below a secret's key is secret too, but for what says where it is.
        within = is_secret_name(name)
        return {key: self.value(item, name=name if within and not is_place(key) else key) for key, item in inner.items()}

    def _variable(self, name: str, value: Any, *, kept_back: bool) -> Any:
        """The value of a variable: a user's own may be a secret whatever its name is; only named ones are looked for elsewhere."""
        redacted = self.value(value, name=name)
        return REDACTED if kept_back and isinstance(value, str) and value and not value.startswith("$(") else redacted

    def _items(self, items: "list[Any] | tuple[Any, ...]", name: str) -> list[Any]:
        """Entries of a list; what follows an option such as `--password` is its value."""
        made, option = list[Any](), ""
        for item in items:
            is_option = isinstance(item, str) and item.startswith("-") and "=" not in item and " " not in item
            made.append(self._kept_back(item) if option and isinstance(item, str) and not is_option else self.value(item, name=name))
            option = item if is_option and is_secret_name(item) else ""
        return made

    def _lines(self, text: str, *, is_yaml: bool) -> str:
        """Each line without what stands beside a secret's name, and without what is indented below one."""
        made, below, quote, left = list[str](), -1, "", 0
        for line in text.split("\n"):
            indent = len(line) - len(line.lstrip(" \t"))
            if below >= 0 and (indent > below or not line.strip()):
                self.learn(line.strip())
                made.append(line[:indent] + REDACTED if line.strip() else line)
                continue
            below = -1
            if quote and left:
                quote, left = ("" if quote in line else quote), left - 1
                self.learn(line.strip())
                made.append(REDACTED)
                continue
            if has_hint(line):
                opened = _OPEN.search(line)
                quote, left = (opened["quote"], _QUOTED_LINES) if opened and is_secret_name(opened["name"]) else ("", 0)
                found = _LINE.match(line)
                if found is not None and is_secret_name(found["name"]):
                    value = found["value"].strip()
                    below = indent if is_yaml or not value or value[0] in "|>" else -1
                    if value and value[0] not in "|>":
                        self.learn(value.strip("\"',"))
                        blank = " " if found["value"][0].isspace() else ""
                        line = f"{found['begin']}{found['name']}{found['sign']}{blank}{REDACTED}"
                line = self._options(_ASSIGNED.sub(self._assigned, line))
            made.append(line)
        return "\n".join(made)

    def _yaml(self, text: str) -> str:
        """YAML without the values of secret keys, wherever and however they are written; as it is where it is no YAML."""
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError):
            return text
        for start, end in sorted(_secret_places(root), reverse=True):
            self.learn(text[start:end].strip().strip("\"'"))
            text = f"{text[:start]}{REDACTED}{chr(10) if text[start:end].endswith(chr(10)) else ''}{text[end:]}"
        return text

    def _options(self, line: str) -> str:
        line = _OPTION.sub(self._option, line)
        line = _USER_OPTION.sub(rf"\1\2{REDACTED}", line)
        return _SHORT_OPTION.sub(rf"\1\2{REDACTED}", line)

    def _learn_parts(self, value: str) -> None:
        """Learn a value of a line: as it is, and without what may follow it there."""
        bare = value.strip("\\\"'")
        for part in (bare, bare.rstrip("}])>,;"), re.split("[&,;]", bare)[0]):
            self.learn(part)

    def _assigned(self, found: "re.Match[str]") -> str:
        if not is_secret_name(found["name"]) or found["value"].startswith("[redacted"):
            return found[0]
        self._learn_parts(found["value"])
        return f"{found['name']}{found['sign']}{REDACTED}"

    def _option(self, found: "re.Match[str]") -> str:
        if not is_secret_name(found["name"]) or found["value"].startswith("[redacted"):
            return found[0]
        self._learn_parts(found["value"])
        return f"{found['name']} {REDACTED}"


def _without_pem(text: str) -> str:
    """A text without PEM blocks, those among them whose beginning is cut off: the tail of a log."""
    text = _PEM.sub(REDACTED, text)
    while found := _PEM_END.search(text):
        before = text[: found.start()].split("\n")[:-1]
        while before and _PEM_LINE.fullmatch(before[-1]):
            before.pop()
        text = "\n".join([*before, REDACTED]) + text[found.end() :]
    return text


def _secret_places(root: Any) -> Iterator[tuple[int, int]]:
    """Where in a YAML text the values of secret keys begin and end."""
    seen, waiting = set[int](), [root]
    while waiting:
        node = waiting.pop()
        # An alias leads to a node a second time.
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if is_secret_name(str(key.value)) and value.start_mark.index < value.end_mark.index:
                    seen.add(id(value))
                    yield value.start_mark.index, value.end_mark.index
                else:
                    waiting += [key, value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _parsed(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _parsed_yaml(text: str) -> Any:
    """Such as a RayJob's `runtimeEnvYAML`."""
    try:
        found = {} if _ALIAS.search(text) else yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None


def _forms(value: str) -> Iterable[str]:
    """A secret as it may be written: plain, in JSON, in a URL, in base64."""
    yield from (value, json.dumps(value)[1:-1], url_quoted(value, safe=""), base64.b64encode(value.encode()).decode().rstrip("="))
