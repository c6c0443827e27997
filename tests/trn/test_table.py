"""The table of commands and the command line are the same thing."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import typer.main

from tests.support import ROOT
from trn import table
from trn.app import app
from trn.cli.placement import StackUse
from trn.cli.reading import Grammar
from trn.commands import grammar_of
from trn.engine.early import refuse_early
from trn.rights import RIGHTS
from trn.table import ENTRIES, CommandEntry, InPractice

GRAMMAR = grammar_of(typer.main.get_command(app))


def leaves(grammar: Grammar) -> Iterator[str]:
    """Everything that can be carried out, as it is typed behind `trn`."""
    if grammar.line is not None:
        yield grammar.path.removeprefix("trn ")
    for each in grammar.commands.values():
        yield from leaves(each)


def parameters(place: str) -> Mapping[str, Any]:
    """Of a command's function."""
    return inspect.signature(ENTRIES[place].function).parameters


def test_every_command_has_one_row_and_every_row_is_a_command():
    """The command line is made of the rows, and a second row of a place would hide the first."""
    rows = [row.place for rows in table.SECTIONS.values() for row in rows]
    assert sorted(leaves(GRAMMAR)) == sorted(ENTRIES)
    assert len(rows) == len(set(rows))


def test_every_command_function_has_a_row():
    """A command that was written and not entered would be code that nothing calls."""
    modules = {entry.run.partition(":")[0] for entry in ENTRIES.values()}
    written = {path.relative_to(ROOT / "trn").with_suffix("").as_posix().replace("/", ".") for path in (ROOT / "trn").rglob("command.py")}
    assert written <= modules


@pytest.mark.parametrize("place", ENTRIES)
def test_a_row_says_of_the_stack_what_the_function_takes(place: str):
    """A row that is about no stack has no such option."""
    assert (ENTRIES[place].stack is StackUse.NONE) == ("stack" not in parameters(place))


@pytest.mark.parametrize("place", ENTRIES)
def test_a_row_names_options_and_commands_that_there_are(place: str):
    """By the names of the function's parameters, and by places."""
    entry = ENTRIES[place]
    assert ({*entry.unchecked, *entry.unchecked.values()} - {""}) <= {*parameters(place)}
    assert {*entry.next} <= {*ENTRIES} - {place}
    assert bool(entry.file_hint) == bool({"file", "log"} & {*parameters(place)})


@pytest.mark.parametrize("place", [place for place, entry in ENTRIES.items() if not entry.changes])
def test_what_does_not_change_a_cluster_takes_no_lock(place: str):
    """A command with these options is carried out on a cluster: its row says that it changes something, and the matrix walks it."""
    assert not {"break_lock"} & {*parameters(place)}


def test_what_reads_a_cluster_can_be_practised():
    """Rights in Kubernetes are listed for commands that there are, each of which has a simulated cluster."""
    assert [place for place in RIGHTS if ENTRIES[place].in_practice is not InPractice.SIMULATED] == []


def test_a_name_is_looked_up_unless_the_row_says_otherwise():
    """With an option, or never."""
    entry = CommandEntry("x", "x:x", unchecked={"stack": "log", "fault": ""})
    assert [entry.skips("stack", {"log": "a"}), entry.skips("stack", {"log": None}), entry.skips("fault", {}), entry.skips("group", {})] == [
        True, False, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "given"),
    [
        ("capacity buy", {"stack": "dev", "group": "nosuch", "instance_type": "trn1.32xlarge"}),
        ("engine", {"stack": "dev", "fault": ["of-the-engine@x"]}),
    ],
)
def test_what_may_be_new_is_not_refused_early(place: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    """A group that is made for a block, and faults that the engine alone has; of any other command they are names that there are not."""
    monkeypatch.chdir(ROOT)
    refuse_early(ENTRIES[place], given)
    with pytest.raises(Exception, match=r"nosuch|of-the-engine"):
        refuse_early(CommandEntry("x", "x:x"), given)


def test_the_table_loads_no_command():
    """It is read from below the commands too: by what practice says, and by what is refused early."""
    assert re.findall(r"^(?:from|import) (trn\S*)", (ROOT / "trn/table.py").read_text(), re.MULTILINE) == ["trn.cli.placement"]
