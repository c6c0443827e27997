"""What a command has to say reaches the user on any terminal: one that cannot redraw, one without colours, one of 40 columns."""

import io
import os
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.account.world import World
from simulator.engine.schedule import run_up
from simulator.recording import Recording
from tests.simulator.small_programs import by_hand
from tests.terminal import ENVIRONMENTS, pin, terminal
from trn.cli import output
from trn.cli.lines import print_lines
from trn.cli.output import can_redraw, gauge, print_table, tracked
from trn.cli.progress import Progress


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_tests_run_on_the_same_terminal_whatever_the_shell_says(name: str):
    """Else a test would pass on one machine and fail on the next."""
    here = dict(os.environ)
    environment = {key: value for key, value in here.items() if key != "TERM"} | ENVIRONMENTS[name]
    pin(environment)
    assert environment == here


LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"


def screen() -> Console:
    """A terminal of the environment's kind."""
    return Console(file=io.StringIO(), force_terminal=True)


def text_on(console: Console) -> str:
    """What has been written to it, line breaks made to blanks."""
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_rehearsal_says_what_it_makes(name: str, monkeypatch: pytest.MonkeyPatch):
    """A terminal that cannot redraw gets the lines of a pipe."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    (made,) = by_hand(("long", LUSTRE, ())).resources()
    made = replace(made, urn=f"urn:pulumi:test::trn::trn:components:Lustre${LUSTRE}::long")
    recording = Recording("trn", "test", {made.urn: made})
    with terminal(name):
        console = screen()
        with Progress(console, quiet=False, speed=500) as progress:
            run_up(recording, World(), seed=0, listener=lambda clock, step, ended: progress.watch("up", recording, clock, step, ended))
    verb = "making" if name != "dumb" else "made"
    assert f"{verb} LustreFileSystem long" in text_on(console)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_bars_leave_nothing_behind_on_a_terminal_that_cannot_erase_them(name: str, monkeypatch: pytest.MonkeyPatch):
    """Control characters would be all that is seen of them."""
    with terminal(name):
        console = screen()
        monkeypatch.setattr(output, "errors", lambda: console)
        assert list(tracked("ab", "looking")) == ["a", "b"]
        with gauge("emptying", console) as move:
            move(1, 2)
        assert can_redraw(console) is (name != "dumb")
    assert ("looking" in text_on(console)) is (name != "dumb")
    assert ("emptying" in text_on(console)) is (name != "dumb")


def test_a_gauge_without_a_word_draws_nothing():
    """It would be drawn over a shell that has the terminal."""
    with terminal("no colour"):
        console = screen()
        with gauge("", console) as move:
            move(1, 2)
    assert text_on(console) == ""


@pytest.mark.parametrize("name", ["narrow", "no colour"])
def test_labelled_lines_cut_nothing(name: str):
    """An ARN or a key is there to be copied."""
    arn = "arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000-1-of-a-long-name"
    with terminal(name):
        console = screen()
        print_lines(console, [("cause", Text(f"the key is {arn}"))])
    assert arn in Text.from_ansi(text_on(console)).plain.replace(" ", "")


@pytest.mark.parametrize("name", ["narrow", "no colour"])
def test_a_table_that_has_no_room_becomes_sentences(name: str):
    """At 40 columns its cells would be a character wide."""
    table = Table(title="steps", box=None)
    for head in ("step", "at least", "stops", ""):
        table.add_column(head)
    table.add_row("nodes of trn1-32xl 1.36", "28 min 24 s", Text("jobs on them stop, one node after the other"), "###")
    table.add_row("together", "1 h 10 min", "")
    with terminal(name):
        console = screen()
        print_table(console, table, 60)
    assert ("steps nodes of trn1-32xl 1.36: at least 28 min 24 s; stops jobs on" in text_on(console)) is (name == "narrow")
    assert ("together: at least 1 h 10 min" in text_on(console)) is (name == "narrow")
