"""Files that a person names: devices, endless pipes, and files larger than any of their kind are refused in one sentence that names them."""

import io
import os
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from stacks.stack_yaml import MAX_BYTES
from tests.support import ROOT
from trn.app import app
from trn.cli import text_files
from trn.cli.errors import CommandError
from trn.cli.text_files import LONGEST_LINE, marked_lines, read_text
from trn.jobs.watch import source

READERS = {
    "submit": ("submit", "{}", "--dry-run"),
    "account": ("submit", str(ROOT / "training/recipes/bert/job.yaml"), "--dry-run", "--account", "{}"),
    "lint": ("lint", "{}"),
    "watch": ("watch", "--log", "{}"),
}


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run `trn` where the stack file is."""
    return CliRunner().invoke(app, list(arguments), input=stdin)


def refused(result: Result, *words: str) -> None:
    """It ended with one error and a hint, and no traceback."""
    assert result.exit_code == 2, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.output.count("error: ") == 1
    for word in words:
        assert word in result.output


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_is_refused(reader: str, device: str, monkeypatch: pytest.MonkeyPatch):
    """It has no end, so that reading it would take all memory."""
    monkeypatch.chdir(ROOT)
    refused(run(*(word.format(device) for word in READERS[reader])), f"{device} is neither a file nor a pipe", "hint: ")


@pytest.mark.parametrize("reader", [name for name in READERS if name != "watch"])
def test_a_file_that_is_too_large_is_refused(reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """By its name, and with how much is read."""
    monkeypatch.chdir(ROOT)
    large = tmp_path / "large.yaml"
    with large.open("wb") as file:
        file.truncate(10 * MAX_BYTES)
    refused(run(*(word.format(large) for word in READERS[reader])), f"{large} has more than 1,000,000 bytes")


def test_standard_input_is_bounded_too():
    """`yes | trn lint -` ends."""
    refused(run("lint", "-", stdin=b"y\n" * MAX_BYTES), "standard input has more than 1,000,000 bytes")
    refused(run("lint", "-", stdin=b"\xff\xfe"), "standard input is not UTF-8 text")


def test_the_null_device_is_an_empty_file():
    """As for every tool."""
    result = run("lint", os.devnull)
    assert (result.exit_code, result.output) == (0, "/dev/null holds no object; nothing was checked\n")


def pipe_of(content: bytes, path: Path) -> Path:
    """A named pipe, as a shell's process substitution makes one."""
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb") as pipe:
            pipe.write(content)

    threading.Thread(target=write, daemon=True).start()
    return path


def test_a_pipe_is_read(tmp_path: Path):
    """`trn submit <(sed s/2/4/ job.yaml)` works, with the mark that some editors write."""
    assert read_text(pipe_of(b"\xef\xbb\xbfname: bert\n", tmp_path / "pipe"), 100, "") == "name: bert\n"


def test_a_pipe_that_nothing_writes_to_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A command that waits for ever cannot say what it waits for."""
    monkeypatch.setattr(text_files, "WRITER_S", 0.1)
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe", 100, "") == ""


def test_a_pipe_that_is_open_has_the_time_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`trn submit <(make-job)`: the shell has opened it, and what makes the job may take long."""
    monkeypatch.setattr(text_files, "WRITER_S", 0.0)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    # Both ways: neither side waits for the other.
    held = os.open(path, os.O_RDWR)

    def write() -> None:
        os.write(held, b"name: bert\n")
        os.close(held)

    writer = threading.Timer(0.2, write)
    writer.start()
    assert read_text(path, 100, "") == "name: bert\n"
    writer.join()


def test_a_pipe_is_bounded(tmp_path: Path):
    """It may have no end, and has no size."""
    with pytest.raises(CommandError, match="pipe has more than 100 bytes"):
        read_text(pipe_of(b"y\n" * 100, tmp_path / "pipe"), 100, "")


def test_of_a_log_only_the_lines_of_progress_are_kept(tmp_path: Path):
    """A gigantic line is left out with all its pieces, and the line after it is read; a progress bar may stand before one."""
    log = tmp_path / "log"
    log.write_bytes(b"mark 1\n" + b"x" * (LONGEST_LINE - 2) + b"mark 2\n" + b"other\n 50%|\rmark 3\xff\r\nmark 4")
    found = list(marked_lines(log, "mark", 10 * LONGEST_LINE, "", too_large=""))
    assert found == ["mark 1", "mark 3\N{REPLACEMENT CHARACTER}", "mark 4"]
    with pytest.raises(CommandError, match="log has more than 10 bytes"):
        list(marked_lines(log, "mark", 10, "", too_large="cut it"))


def test_a_log_of_too_many_steps_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All of them are held at the same time."""
    monkeypatch.setattr(source, "MOST_LINES", 3)
    log = tmp_path / "log"
    log.write_text('{"trn": 1}\n' * 4)
    with pytest.raises(CommandError, match="log has more than 3 lines of progress"):
        source.of_file(log)
    log.write_text('{"trn": 1}\n' * 3)
    assert len(source.of_file(log)) == 3


@pytest.mark.parametrize(("reader", "code"), [("submit", 2), ("lint", 0)])
def test_an_empty_file_is_named(reader: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In the sentence itself: a script passes several."""
    monkeypatch.chdir(ROOT)
    empty = tmp_path / "empty.yaml"
    empty.write_text("")
    result = run(*(word.format(empty) for word in READERS[reader]))
    assert result.exit_code == code
    assert f"{empty} is no mapping of keys: it is empty" in result.output or f"{empty} holds no object" in result.output


def test_a_manifest_of_brackets_alone_is_refused(tmp_path: Path):
    """libyaml's composer would call itself for each of them until the process dies."""
    deep = tmp_path / "deep.yaml"
    deep.write_text("[" * 300_000)
    refused(run("lint", str(deep)), f"{deep} has more than", "nested more than 40 levels deep")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"says: x\nx: " + b"[" * 5_000, "is nested too deep"),
        (b"\xff", "is not UTF-8 text"),
        (b"says: 2026-99-99\n", "is not valid YAML: month must be in 1..12"),
        (b"#" * 1_000_001, "has more than 1,000,000 bytes"),
    ],
)
def test_a_scenario_that_cannot_be_read_is_named(content: bytes, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also one that YAML's own reader cannot take."""
    monkeypatch.chdir(ROOT)
    scenario = tmp_path / "mine.yaml"
    scenario.write_bytes(content)
    refused(run("rehearse", "-q", "--scenario", str(scenario)), f"{scenario} {words}")


def test_a_read_that_fails_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A disk that fails in the middle of it, and a path that no system takes."""

    class Failing(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(5, "Input/output error")

    file = tmp_path / "file"
    file.touch()
    with pytest.raises(CommandError, match=r"cannot read .*a.x00b"):
        read_text(Path("a\0b"), 100, "")
    monkeypatch.setattr(Path, "open", lambda *_: Failing())
    with pytest.raises(CommandError, match=r"cannot read .*file: Input/output error"):
        read_text(file, 100, "")
