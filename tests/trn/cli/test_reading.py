"""A whole line is read before typer sees it: its command, its stack, and the same line with both in one place."""

import re
from typing import Any

import pytest
import typer.main
from hypothesis import given
from hypothesis import strategies as st

from tests.support import ROOT
from trn.app import app
from trn.cli.placement import Unplaced
from trn.cli.reading import read
from trn.commands import grammar_of

GRAMMAR = grammar_of(typer.main.get_command(app))
STACKS = ("dev", "night")
READ = {
    "logs dev bert -n x": "logs --stack dev -n x -- bert",
    "logs -nx bert --stack=night": "logs --stack night -n x -- bert",
    "--practice check night": "--practice check --stack night",
    "-- check night": "check --stack night",
    "data stage job.yaml /fsx/set": "data stage --stack dev -- job.yaml /fsx/set",
    "rehearse -q night": "rehearse --stack night -q",
    "rehearse night crash": "rehearse crash --stack night",
    "rehearse --stack night crash -q": "rehearse crash --stack night -q",
    "shell night -- ls -l": "shell --stack night -- ls -l",
    "engine --time-scale 0.1 night --nosuch -- up": "engine --stack night --time-scale 0.1 -- --nosuch -- up",
    "engine night -- up --stack x": "engine --stack night -- up --stack x",
    "practice up night --kubernetes": "practice up --stack night --kubernetes any",
    "rehearse rules": "rehearse rules",
    "rehearse rules night --help": "rehearse rules --help",
    "check night --help": "check --stack night --help",
}
"""Lines, and what typer reads."""
REFUSED = {
    "--practice": "missing command",
    "chek": "no such command: `chek`",
    "-": "no such command: `-`",
    "check --nosuch": "no such option: --nosuch",
    "sweep --jsn x": "no such option: --jsn; did you mean `--json` or `--yes`?",
    "check -x": "no such option: -x",
    "check --json": "option '--json' requires an argument",
    "sweep --yes=1": "option '--yes' does not take a value",
    "check dev --practice": "`--practice` comes before the command",
    "rehearse -q crash": "`--quiet` stands before `crash`, which would not see it",
}


@pytest.mark.parametrize("line", READ)
def test_a_line_is_read_as_typer_reads_it_without_asking(line: str):
    """The stack as an option, the arguments behind `--`."""
    assert " ".join(read(GRAMMAR, line.split(), STACKS).args) == READ[line]


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_read_is_refused_with_what_can(line: str):
    """The usage of the very command."""
    with pytest.raises(Unplaced) as refusal:
        read(GRAMMAR, line.split(), STACKS)
    assert str(refusal.value) == REFUSED[line]
    assert refusal.value.hint.startswith(("trn", "`trn", "did you mean", "options follow"))


words = st.sampled_from(
    [
        "check",
        "logs",
        "rehearse",
        "crash",
        "engine",
        "data",
        "stage",
        "dev",
        "night",
        "x",
        "--",
        "-q",
        "--json",
        "--stack",
        "-snight",
        "-h",
        "/a",
    ]
)


@given(st.lists(words, max_size=7))
def test_a_line_that_was_read_is_read_the_same_again(line: list[str]):
    """Nothing is moved twice, and no word becomes another's value."""
    try:
        reading = read(GRAMMAR, line, STACKS)
    except Unplaced:
        return
    again = read(GRAMMAR, reading.args, STACKS)
    assert (again.path, again.args) == (reading.path, reading.args)


@given(st.lists(words, max_size=7))
def test_the_shell_gets_a_reading_of_any_line(line: list[str]):
    """Whoever types has not ended: nothing is refused, and the command is that of the whole line."""
    reading = read(GRAMMAR, line, STACKS, is_whole=False)
    assert reading.path.startswith("trn")


def test_only_what_typer_publishes_is_used():
    """Its private modules change with any release: the bounds in pyproject.toml would not be true."""
    private: Any = re.compile(r"typer\._|_protected_args|_custom_shell_complete|\bfrom click|\bimport click")
    own = (path for folder in ("trn", "tools", "tests") for path in (ROOT / folder).rglob("*.py") if path.name != "test_reading.py")
    assert [path.name for path in own if private.search(path.read_text())] == []
