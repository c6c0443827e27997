"""However `trn` ends, it ends in one line and an exit code: Ctrl-C while modules are loaded, and a mistake of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trn import app as cli
from trn import start
from trn.cli.errors import INTERRUPTION

LOADED = """
import atexit, os, sys, warnings
def said():
    warnings.warn("old", DeprecationWarning)
    sys.stderr.write("no filter, " + os.environ.get("PYTHONWARNINGS", "no variable"))
atexit.register(said)
"""
FROM_HERE = "import sys; sys.argv = ['trn', *sys.argv[1:]]; from trn.start import main; main()"


def test_ctrl_c_while_modules_are_loaded_is_one_line(tmp_path: Path):
    """A quarter of a second in which most of them are pressed: the command was the wrong one."""
    # The module that the command line loads first, to be interrupted in.
    (tmp_path / "typer").mkdir()
    (tmp_path / "typer" / "__init__.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(start.__file__).parent.parent}"}
    done = subprocess.run([sys.executable, "-c", FROM_HERE], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", INTERRUPTION)


def test_warnings_of_the_sdks_stop_nothing():
    """They are about classes of their own, which the user of a command cannot change: with PYTHONWARNINGS=error each command failed."""
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", f"{LOADED}{FROM_HERE}", "--version"], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "no filter, no variable")


def test_ctrl_c_at_the_very_end_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """When the command has ended and the process has not."""

    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", stopped)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as ended:
        start.main()
    signal.signal(signal.SIGINT, before)
    assert (ended.value.code, capsys.readouterr().err) == (130, INTERRUPTION)


def test_a_mistake_of_trn_itself_says_what_to_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Not a traceback, which asks the reader to find the line that matters."""

    def broken() -> int:
        raise KeyError("ours")

    monkeypatch.setattr(cli, "_whole_line", broken)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == 1
    assert said.startswith("error: a mistake of trn itself: KeyError: 'ours' in ")
    assert "hint: run it again with TRN_TRACEBACK=1" in said
    monkeypatch.setenv("TRN_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli.main()
