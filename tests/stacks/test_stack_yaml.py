"""Stack files as Pulumi reads them: odd ones are read alike, or refused with the line and a fix; none ends in a traceback."""

import contextlib
import json
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from facts.yaml_text import write_yaml
from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from stacks.stack_yaml import MAX_DEPTH, YamlError, read_yaml
from tests.stacks.odd_yaml import READ, REFUSED
from tests.support import ROOT


@pytest.mark.parametrize(("text", "value"), READ.items(), ids=[repr(text)[:40] for text in READ])
def test_what_pulumi_reads_is_read_alike(text: str, value: Any):
    """`yes` is text for Pulumi: a rehearsal that took it for true would rehearse another cluster."""
    assert read_yaml(f"key: {text}") == {"key": value}
    assert type(read_yaml(f"key: {text}")["key"]) is type(value)


@pytest.mark.parametrize(("text", "wrong"), REFUSED.items(), ids=[repr(text)[:40] for text in REFUSED])
def test_what_readers_disagree_on_is_refused_with_a_fix(text: str, wrong: str):
    """The sentence names what is wrong, and the hint what to write instead."""
    with pytest.raises(YamlError) as refusal:
        read_yaml(text)
    assert wrong in str(refusal.value)
    assert refusal.value.hint


def test_the_line_is_named():
    """A stack file has a hundred lines."""
    with pytest.raises(YamlError, match="line 3"):
        read_yaml("a: 1\nb: 2\na: 3\n")


def test_nesting_has_a_limit_and_what_is_below_it_is_read():
    """1,500 levels ended in a RecursionError."""
    assert read_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(YamlError, match="nested more than"):
        read_yaml("[" * 1500 + "]" * 1500)


@pytest.mark.parametrize("seed", ["[x, x, x, x, x, x, x, x, x]", f"[{'y' * 200_000}]"], ids=["many values", "long text"])
def test_aliases_that_repeat_each_other_are_stopped(seed: str):
    """Twelve lines of nine aliases each stand for 282 billion values: 5.8 GB before the machine gave up."""
    lines = [f"a0: &a0 {seed}"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 12)]
    with pytest.raises(YamlError, match="with those that aliases repeat"):
        read_yaml("\n".join(lines))


def test_a_few_aliases_are_read():
    """Two groups may share their settings."""
    text = "base: &base {size: 2, efa: true}\none: *base\ntwo: {<<: *base, size: 4}\nthree: {<<: [{a: 1}, {a: 2, b: 3}]}\n"
    found = read_yaml(text)
    assert found["one"] == {"size": 2, "efa": True}
    assert found["two"] == {"size": 4, "efa": True}
    assert found["three"] == {"a": 1, "b": 3}


def test_an_alias_names_the_last_anchor_above_it():
    """As YAML has it (1.2.2, 7.1): an anchor may be given again."""
    assert read_yaml("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_an_alias_counts_as_all_that_it_stands_for(monkeypatch: pytest.MonkeyPatch):
    """The mapping and its two keys, a list of two, and the same again for the alias."""
    text = "a: &x [1, 2]\nb: *x\n"
    monkeypatch.setattr("stacks.stack_yaml.MAX_VALUES", 9)
    assert read_yaml(text) == {"a": [1, 2], "b": [1, 2]}
    monkeypatch.setattr("stacks.stack_yaml.MAX_VALUES", 8)
    with pytest.raises(YamlError, match="with those that aliases repeat"):
        read_yaml(text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_any_text_is_read_or_refused(text: str):
    """Never another exception: `trn` would end in a traceback."""
    with contextlib.suppress(YamlError):
        json.dumps(read_yaml(text))


def fuzzed(number: int) -> str:
    """The shipped stack file with some characters, lines and words changed; the number replays it."""
    chance = random.Random(number)
    text = list((ROOT / "Pulumi.dev.yaml").read_text())
    pieces = [
        "yes",
        "&a ",
        "*a",
        "!!int ",
        "{",
        "[",
        "]",
        "}",
        "- ",
        ": ",
        "2026-01-02",
        "0x1",
        "'",
        '"',
        "|\n",
        "\t",
        "\u0000",
        "\ud800",
        "~",
        "? ",
    ]
    for _ in range(chance.randint(1, 12)):
        place = chance.randrange(len(text))
        change = chance.random()
        if change < 0.3:
            del text[place : place + chance.randint(1, 30)]
        elif change < 0.8:
            text.insert(place, chance.choice(pieces))
        else:
            text[place] = chance.choice(string.printable)
    return "".join(text)


def outcome(text: str) -> str:
    """What becomes of one file: `read`, `refused` by the reader, or `wrong` by the configuration's rules."""
    try:
        loaded = read_yaml(text)
    except YamlError:
        return "refused"
    pairs = loaded.get("config") if isinstance(loaded, dict) else None
    if not isinstance(pairs, dict):
        return "refused"
    try:
        parse_settings({key.removeprefix("trn:"): value for key, value in pairs.items()}, "dev", rehearsal=True)
    except ConfigurationError:
        return "wrong"
    return "read"


def test_damaged_stack_files_end_in_a_sentence():
    """`make bench` does this with 10,000."""
    outcomes = [outcome(fuzzed(number)) for number in range(150)]
    assert {"refused", "wrong", "read"} == set(outcomes)


@given(
    st.one_of(
        st.sampled_from(["1e3", "12345e7", "0o17", "-0o7", "1E5", "0x1f", "2026-01-01", "~", "yes", "<<"]),
        st.from_regex(r"[0-9a-fxoeE.+_-]{1,8}", fullmatch=True),
    )
)
def test_text_is_written_as_text(text: str):
    """A label with the commit 12345e7 would become a number on the way into the stack file."""
    assert read_yaml(write_yaml({"label": text, "list": [text]})) == {"label": text, "list": [text]}
