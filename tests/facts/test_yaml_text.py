"""YAML that the project writes: what is text stays text, whichever library reads it."""

import ast
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from facts.yaml_text import is_text_only_in_quotes, write_yaml
from tests.support import PACKAGES, ROOT

WORDS = (
    *("y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"),
    *("true", "True", "TRUE", "false", "False", "FALSE", "null", "Null", "NULL", "~", "", "<<", "="),
    *(
        "1",
        "-1",
        "+1",
        "007",
        "089",
        "017",
        "0o17",
        "-0o7",
        "0O17",
        "0x1F",
        "+0X1f",
        "0b11",
        "-0b11",
        "0b-1",
        "1_000",
        "0_x1F",
        "-_1",
        "0_",
    ),
    *("1e3", "1e-4", "1E5", "+1e+3", "12345e7", "1.", "1.5", "1.30", ".5", "-.5", ".5e3", "1_0.2_5", "1.e3"),
    *(".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.INF", ".nan", ".NaN", ".NAN"),
    *("2026-11-23", "2026-1-2", "2026-01-02T03:04:05Z", "2026-01-02t03:04:05.5+01:00", "2026-01-02 03:04:05"),
    *("12:30", "1:2:3", "-12:30:45.5", "190:20:30"),
)
"""Of each rule of YAML 1.1 and of the two Go libraries, some words that are something else without quotes."""
PLAIN = (
    *("trn1.32xlarge", "10.0.0.0/16", "1.35.4-20260505", "--lr", "-", "yep", "2Gi", "100m", "30d", "v1", "a:b", "0.0.0.0:80"),
    *("aws-node", "2026-11-23-run", "e3", "inf", "NaN", "1.2.3"),
)
"""Text that every one of them reads as text: quotes around it all would make the files harder to read."""


def reads_in_go(text: str) -> str:
    """What go-yaml's second or third version takes a scalar without quotes for, restated from `resolve` and `parseTimestamp` in their
    resolve.go (go.yaml.in/yaml/v2 2.4.3, which kubectl has by sigs.k8s.io/yaml 1.6.0; go.yaml.in/yaml/v3 3.0.5): text, or what else."""
    maps = {
        "bool": "y Y yes Yes YES true True TRUE on On ON n N no No NO false False FALSE off Off OFF",
        "null": "~ null Null NULL",
        "float": ".nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF",
        "merge": "<<",
    }
    if not text:
        return "null"
    for kind, words in maps.items():
        if text in words.split():
            return kind
    if text[0] == ".":
        return "float" if re.fullmatch(r"\.[0-9]+([eE][-+]?[0-9]+)?", text) else "text"
    if text[0] not in "+-0123456789":
        return "text"
    if re.fullmatch(
        r"\d{4}-\d{1,2}-\d{1,2}([Tt]\d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?(Z|[-+]\d\d:\d\d)| +\d{1,2}:\d{1,2}:\d{1,2}([.,]\d+)?)?", text, re.A
    ):
        return "timestamp"
    return _number_in_go(text.replace("_", ""))


def _number_in_go(plain: str) -> str:
    # strconv.ParseInt with base 0; base 8 also without the o, which the pattern of floats holds.
    whole = plain.lstrip("+-") if plain[:2] not in ("++", "--", "+-", "-+") else ""
    for prefix, base in (("0x", 16), ("0b", 2), ("0o", 8)):
        if whole.lower().startswith(prefix) and _is_number(whole[2:], base):
            return "int"
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", plain):
        return "float"
    for prefix, base in (("0b", 2), ("0o", 8)):
        # Only the prefix is cut: what follows may have a sign of its own.
        if plain.startswith(prefix) and _is_number(plain[2:].removeprefix("-").removeprefix("+"), base):
            return "int"
    return "text"


def _is_number(digits: str, base: int) -> bool:
    return bool(digits) and all(digit in "0123456789abcdef"[:base] for digit in digits.lower())


def scalar(text: str) -> yaml.ScalarEvent:
    """How a text is written: the parser's event says whether it has quotes."""
    (event,) = (event for event in yaml.parse(write_yaml([text]), Loader=yaml.SafeLoader) if isinstance(event, yaml.ScalarEvent))
    assert event.value == text
    return event


@pytest.mark.parametrize("word", WORDS, ids=repr)
def test_what_a_reader_takes_for_something_else_has_quotes(word: str):
    """`--lr 1e-4` of a job came out without them: kubectl sent a number, and the API server refused the pod."""
    assert reads_in_go(word) != "text" or word in ("=", "0O17", "12:30", "1:2:3", "-12:30:45.5", "190:20:30")
    assert scalar(word).style == "'"


@pytest.mark.parametrize("word", PLAIN, ids=repr)
def test_what_all_read_as_text_has_none(word: str):
    """Most of a manifest is such text."""
    assert reads_in_go(word) == "text"
    assert not is_text_only_in_quotes(word)


@given(
    st.one_of(
        st.text(max_size=12),
        st.text(alphabet="0123456789abcdefxoBXOE_+-.:", max_size=8),
        st.from_regex(r"[-+]?[0-9_]{1,4}(\.[0-9_]{0,3})?([eE][-+]?[0-9_]{1,2})?", fullmatch=True),
        st.from_regex(r"2026-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9:.Z+-]{0,14})?", fullmatch=True),
        st.sampled_from(WORDS).flatmap(lambda word: st.sampled_from([word.lower(), word.upper(), f" {word}", f"{word}\n", f"-{word}"])),
    )
)
def test_no_text_is_read_as_anything_else(text: str):
    """Whatever is written without quotes, Go's two libraries read as text, and PyYAML reads back as it was; as a value and as a key."""
    written = write_yaml({text: text})
    assert yaml.safe_load(written) == {text: text}
    for event in yaml.parse(written, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.style is None:
            assert reads_in_go(event.value) == "text", written


def test_lines_stay_lines_and_what_is_there_twice_is_written_twice():
    """A script in a manifest is read by people, and a file with aliases cannot be edited in one place."""
    shared: dict[str, Any] = {"script": "set -e\necho y\n"}
    written = write_yaml({"a": shared, "b": shared}, [1])
    assert written == "a:\n  script: |\n    set -e\n    echo y\nb:\n  script: |\n    set -e\n    echo y\n---\n- 1\n"


def test_nothing_else_writes_yaml():
    """PyYAML's own dumper leaves `1e3`, `y` and `0o17` without quotes."""
    files = [path for folder in PACKAGES for path in (ROOT / folder).rglob("*.py") if path != ROOT / "facts/yaml_text.py"]
    calls = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files
        if "yaml" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "yaml" and "dump" in node.attr.lower()
    ]
    assert calls == []
