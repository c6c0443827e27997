"""What a command has to say reaches the user on any terminal: one that cannot redraw, one without colours, one of 40 columns."""

import io
import os

import pytest
from rich.console import Console

from operations import output
from operations.output import can_redraw, gauge, step_line, tracked
from operations.rehearse.progress import Progress
from simulator.account.world import World
from simulator.engine.schedule import run_up
from tests.simulator.small_programs import by_hand
from tests.terminal import ENVIRONMENTS, pin, terminal


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_tests_run_on_the_same_terminal_whatever_the_shell_says(name: str):
    """Else a test would pass on one machine and fail on the next."""
    here = dict(os.environ)
    environment = {key: value for key, value in here.items() if key != "TERM"} | ENVIRONMENTS[name]
    pin(environment)
    assert environment == here


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
    recording = by_hand(("long", "aws:fsx/lustreFileSystem:LustreFileSystem", ()))
    with terminal(name):
        console = screen()
        with Progress(console, quiet=False, speed=500) as progress:
            run_up(recording, World(), seed=0, listener=lambda clock, step, ended: progress.watch("up", recording, clock, step, ended))
    verb = "making" if name != "dumb" else "made"
    assert f"{verb} LustreFileSystem long" in text_on(console)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_steps_are_reported(name: str, monkeypatch: pytest.MonkeyPatch):
    """A wait of twenty minutes without a word looks like a hang."""
    with terminal(name):
        console = screen()
        monkeypatch.setattr(output, "errors", lambda: console)
        with step_line() as tell:
            tell("nodes are being drained; 3 left")
            console.print("a line")
    assert "nodes are being drained" in text_on(console)


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
