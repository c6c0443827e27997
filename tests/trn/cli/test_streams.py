"""Standard streams that are closed, or full: one line that says so, and no traceback."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from trn.run_command import run_command

START = "import sys; from trn.app import main; sys.argv = ['trn', *sys.argv[1:]]; main()"


def closing(number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`trn` with one of its standard streams closed, as `<&-` does."""
    command = [sys.executable, "-c", START, *arguments]
    close = f'exec "$@" {number}{"<" if number == 0 else ">"}&-'
    return subprocess.run(["sh", "-c", close, "sh", *command], capture_output=True, text=True, check=False, cwd=ROOT)


def test_a_closed_standard_input_is_empty():
    """Python has None there, which no question, no pipe and no check for a terminal could be asked of."""
    done = closing(0, "lint", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing was checked" in done.stdout


def test_a_closed_standard_output_loses_the_result_and_nothing_else():
    """JSON is written to the stream itself."""
    done = closing(1, "lint", "/dev/null", "--json", "-")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing was checked" in done.stderr


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_device_is_reported_in_one_line(code: int, capsys: pytest.CaptureFixture[str]):
    """A report that goes to a full disk; rich and typer write to the stream themselves."""

    def command() -> int:
        raise OSError(code, os.strerror(code))

    assert run_command(command) == 1
    assert capsys.readouterr().err.startswith(f"error: cannot write all of the output: {os.strerror(code)}\n\nhint: ")


def test_output_that_does_not_fit_at_the_end_fails_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A result of a few lines stays in the buffer until the end: the exit code would be that of a success."""
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run_command(lambda: print("a result") or 0) == 1
        # Nothing is left of it: whoever flushes next, a command around this one or the interpreter at its end, does not fail again.
        full.flush()
    assert "cannot write all of the output" in capsys.readouterr().err


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
"""What tests of a full or broken stream start `trn` with: most shells do not set that variable, and some images do."""
BUFFERS = pytest.mark.parametrize("environment", [BUFFERED, {**BUFFERED, "PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])


@BUFFERS
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("lint", "--help"), ("lint", "/dev/null")])
def test_help_that_does_not_fit_is_an_error_without_a_traceback(arguments: tuple[str, ...], environment: dict[str, str]):
    """It is written before any command runs, and stays in the buffer: the interpreter must not try again at its end, and exit with 120."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", START, *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write all of the output: No space left on device\n\nhint: ")
    assert len(done.stderr.splitlines()) == 3


@pytest.mark.parametrize(("arguments", "code"), [(("lint", "/dev/null", "--json", "-"), 0), (("lint", "/nowhere"), 2)])
@BUFFERS
def test_a_full_standard_error_loses_what_is_said_and_nothing_else(environment: dict[str, str], arguments: tuple[str, ...], code: int):
    """The result goes to another device: `trn rehearse --json - 2>/dev/full` ended with 1 and an empty file."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", START, *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == code
    assert code or json.loads(done.stdout) is not None


@BUFFERS
def test_a_reader_that_is_gone_ends_the_command_without_a_word(environment: dict[str, str]):
    """`| true`, and `| head -1` of a long result."""
    read, write = os.pipe()
    os.close(read)
    try:
        command = [sys.executable, "-c", START, "lint", "/dev/null"]
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT, env=environment)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_locale_without_a_character_gets_its_escape(tmp_path: Path):
    """A curve, or a name in another alphabet, is no reason to stop."""
    manifest = tmp_path / "東.yaml"
    manifest.write_text("")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, "-c", START, "lint", str(manifest)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path}/\\u6771.yaml holds no object; nothing was checked\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_progress_that_nobody_reads_ends_the_command_and_takes_nothing_else_with_it(unbuffered: str):
    """`2>&1 >FILE | head -1`: an error that a command can clean up after, and standard output stays as it is."""
    code = """
from trn.cli.output import errors
from trn.run_command import run_command

def command():
    try:
        errors().print("progress")
    except BrokenPipeError:
        print("the result")
    return 3

raise SystemExit(run_command(command))
"""
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writing, text=True, check=False, cwd=ROOT, env=environment)
    os.close(writing)
    assert (done.returncode, done.stdout) == (3, "the result\n")
