"""Signals: the CLI gets each once, whether a terminal or a process sends it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import ROOT

CLI = """
import signal, sys, time
from pathlib import Path
got = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: got.append(number))
Path(sys.argv[1]).write_text("ready")
deadline = time.monotonic() + 30
while not got and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.3)  # a second signal would come now
Path(sys.argv[1]).write_text(" ".join(signal.Signals(number).name for number in got))
sys.exit(3)
"""
RUN = """
import os, sys
from pathlib import Path
from trn.practice.engine.process import run_cli
sys.exit(run_cli([sys.executable, "-c", sys.argv[1], sys.argv[2]], os.environ, Path(sys.argv[2]).parent))
"""
TERMINAL = """
import os, pty, sys, time
from pathlib import Path
note = Path(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
while not (note.exists() and note.read_text()):
    time.sleep(0.01)
os.write(terminal, b"\\x03")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
"""Runs a command on a terminal of its own, and types Ctrl-C once it listens."""


def when_ready(note: Path, then: Callable[[], None]) -> None:
    """Do something once the CLI listens."""
    deadline = time.monotonic() + 30
    while not (note.exists() and note.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    then()


def command(note: Path) -> list[str]:
    """Ours, which runs a CLI that notes the signals it gets."""
    return [sys.executable, "-c", RUN, CLI, str(note)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_us_reaches_the_cli_once(tmp_path: Path, number: signal.Signals):
    """As from a build server that ends a job; the exit code is the CLI's."""
    note = tmp_path / "note"
    with subprocess.Popen(command(note), cwd=ROOT, stdin=subprocess.DEVNULL) as process:
        when_ready(note, lambda: process.send_signal(number))
    assert process.returncode == 3
    assert note.read_text() == number.name


def test_a_signal_to_our_whole_group_reaches_the_cli_once(tmp_path: Path):
    """As from a shell without a terminal that ends a pipeline: a second one would end the engine at once."""
    note = tmp_path / "note"
    with subprocess.Popen(command(note), cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        when_ready(note, lambda: os.killpg(process.pid, signal.SIGINT))
    assert process.returncode == 3
    assert note.read_text() == "SIGINT"


def test_ctrl_c_on_a_terminal_reaches_the_cli_once(tmp_path: Path):
    """The terminal sends it to all; we must not add another."""
    note = tmp_path / "note"
    done = subprocess.run([sys.executable, "-c", TERMINAL, str(note), *command(note)], cwd=ROOT, check=False)
    assert done.returncode == 3
    assert note.read_text() == "SIGINT"


def test_a_cli_that_was_killed_gives_the_shells_exit_code(tmp_path: Path):
    """128 and the signal's number."""
    script = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", RUN, script, str(tmp_path / "note")], cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 128 + 9
