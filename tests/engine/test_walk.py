"""The first hour in a real terminal of 80 columns, as a person types it: init with wrong answers, a rehearsal, a change, a fault, the cost."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from tests.support import ROOT, copy_project
from tests.terminal import pin
from trn.cli.errors import INTERRUPTION

pytestmark = pytest.mark.engine
WIDTH, PATIENCE_S, PROMPT = 80, 120, "walk> "
BEGUN = "from here on Ctrl-C is ours"
START = f"import sys; from trn.start import main; print('{BEGUN}', flush=True); sys.argv = ['trn', *sys.argv[1:]]; main()"


class Terminal:
    """A shell in a terminal, in a folder with a project, and everything that it showed."""

    def __init__(self, folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        pin(environment)
        environment |= {"PYTHONPATH": str(ROOT), "PS1": PROMPT, "HOME": str(folder), "TERM": "xterm", "HISTFILE": ""}
        # No service can be asked for the address of the caller.
        environment |= {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
        self.shell = pexpect.spawn(
            "/bin/sh", cwd=str(folder), env=environment, dimensions=(24, WIDTH), encoding="utf-8", timeout=PATIENCE_S, echo=False
        )
        self.shell.expect_exact(PROMPT)
        self.shell.sendline(f'trn() {{ "{sys.executable}" -c "{START}" "$@"; }}')
        self.shell.expect_exact(PROMPT)

    def type(self, line: str) -> None:
        """One line, as a person ends it."""
        self.shell.sendline(line)

    def answer(self, question: str, *answers: str) -> None:
        """The answers to a question that is asked until one is right."""
        for answer in answers:
            self.shell.expect(f"{question}[^\n]*: ")
            self.type(answer)

    def ended(self, code: int) -> str:
        """What was shown until the shell asked again; the exit code is this one."""
        self.shell.expect_exact(PROMPT)
        shown = str(self.shell.before)
        self.type("echo code=$?")
        self.shell.expect(r"code=(\d+)")
        found = self.shell.match
        assert isinstance(found, object)
        assert int(found.group(1)) == code, shown  # pyright: ignore[reportAttributeAccessIssue]
        self.shell.expect_exact(PROMPT)
        assert "Traceback" not in shown
        return shown


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """In a new project, closed at the end."""
    copy_project(tmp_path)
    opened = Terminal(tmp_path)
    yield opened
    opened.shell.close(force=True)


def test_the_first_hour(terminal: Terminal, tmp_path: Path):
    """Three wrong answers are explained and asked again; what is written is rehearsed, changed, broken and priced."""
    terminal.type("trn init night")
    terminal.answer("Region", "us-wset-2", "us-west-2")
    terminal.answer("Instance type", "")
    terminal.answer("Zone", "use1-az1", "usw2-az4")
    terminal.answer("Cluster name", "")
    terminal.answer("Nodes", "two", "2")
    terminal.answer("Capacity", "")
    terminal.answer("FSx", "")
    terminal.answer("Who may reach", "198.18.0.7/32")
    terminal.answer("Add-ons", "")
    shown = terminal.ended(0)
    assert "wrote Pulumi.night.yaml: " in shown
    assert "next: trn rehearse night" in " ".join(shown.split())
    assert (tmp_path / "Pulumi.night.yaml").is_file()

    terminal.type("trn rehearse night --speed 100000")
    shown = terminal.ended(0)
    assert "ready" in shown
    assert "nothing" in shown

    terminal.type("trn rehearse change night --set nodeGroups.trn1-32xl.size=4")
    assert "2 nodes added" in terminal.ended(0)

    terminal.type("trn rehearse night -q --fault no-capacity@NodeGroup/trn1-32xl")
    assert "InsufficientInstanceCapacity" in terminal.ended(0)

    terminal.type("trn cost night")
    assert "USD" in terminal.ended(0)

    terminal.type("trn rehearse crsh night")
    assert "did you mean `trn rehearse crash night`?" in " ".join(terminal.ended(2).split())


@pytest.mark.parametrize("moment", ["at once", "while it loads", "while it runs", "at a question"])
def test_ctrl_c_at_any_moment_is_one_line(terminal: Terminal, tmp_path: Path, moment: str):
    """By the key, in the terminal: 130, nothing half written, and the prompt."""
    if moment == "at a question":
        terminal.type("trn init night")
        terminal.shell.expect("Region[^\n]*: ")
    else:
        terminal.type("trn rehearse dev --speed 50")
        if moment == "while it runs":
            terminal.shell.expect("making|made")
        elif moment == "while it loads":
            terminal.shell.expect(pexpect.TIMEOUT, timeout=0.8)
        else:
            terminal.shell.expect_exact(BEGUN)  # while the interpreter itself begins it is not ours to answer
    terminal.shell.sendintr()
    terminal.shell.expect_exact(INTERRUPTION.split(":")[0])
    terminal.ended(128 + signal.SIGINT)
    assert not (tmp_path / "build" / "rehearsal").exists()
    assert not (tmp_path / "Pulumi.night.yaml").exists()
