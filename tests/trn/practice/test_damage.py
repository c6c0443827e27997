"""Practice files that are damaged, names that are none, and commands that are stopped: a clear sentence, and the next command works."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.account import disk
from tests.sharing import mostly_long
from tests.trn.practice.commands import UP, leftovers, trn
from trn.engine.stack_file import read_stack_file
from trn.practice.engine.locks import remove_dead_locks
from trn.practice.engine.project import practice_folder

FILES = (
    "account/aws.ec2.Vpc/*.json",
    "account/creations.json",
    "account/format.json",
    "rehearsal/resources/*.json",
    "rehearsal/stack.json",
)
DAMAGE = {"cut": lambda text: text[: len(text) // 2], "empty": lambda _: "", "other": lambda _: '{"made by": "another version"}'}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_is_named_with_what_to_do(up: Path, how: str):
    """Whichever file it is; nothing is written over it."""
    for pattern in FILES:
        file = sorted(practice_folder("dev").root.glob(pattern))[0]
        whole = file.read_text()
        file.write_text(DAMAGE[how](whole))
        code, _, err = trn("--practice recover dev --yes")
        if (pattern, how) == ("account/creations.json", "other"):
            # Counts of URNs: these two are counted, and nothing asks for them.
            assert code in (0, 1)
        else:
            assert (code, str(file) in err, "hint: " in err) == (1, True, True), (pattern, err)
            assert file.read_text() == DAMAGE[how](whole)
        file.write_text(whole)
    assert trn("--practice status dev")[0] == 0


def test_an_account_of_another_format_is_refused(up: Path):
    """By a version of trn that would misread it."""
    (practice_folder("dev").account / "format.json").write_text(json.dumps({"format": disk.FORMAT + 1}))
    code, _, err = trn("--practice status dev")
    assert (code, f"this version of trn reads format {disk.FORMAT}" in err, "to begin again" in err) == (1, True, True)


def test_an_account_without_its_format_is_refused(up: Path):
    """The file was deleted; whatever version wrote the rest, this one would take it for its own."""
    (practice_folder("dev").account / "format.json").unlink()
    code, _, err = trn("--practice status dev")
    assert (code, "format.json is not there" in err, f'write {{"format": {disk.FORMAT}}} there' in err) == (1, True, True)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("type", "no-type", "unknown type no-type"),
        ("id", 5, "id and urn are texts"),
        ("inputs", [], "inputs is no mapping"),
        ("inputs", {"metadata": "training"}, "inputs.metadata is no mapping"),
        ("state", {"tags": ["a"]}, "state.tags is no mapping"),
    ],
)
def test_an_object_edited_to_another_form_is_named(up: Path, key: str, value: object, says: str):
    """A slip while editing: rules look into these, and would stop with Python's words."""
    file = next(iter(sorted(practice_folder("dev").root.glob("account/kubernetes.*/*.json"))))
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    code, _, err = trn("--practice status dev")
    assert (code, f"{file} is no object of the simulated account: {says}" in err, "hint: correct the file" in err) == (1, True, True)


def test_a_folder_that_is_none_is_named(up: Path):
    """A file in its place, say."""
    folder = practice_folder("dev").account
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("")
    code, _, err = trn("--practice status dev")
    assert (code, f"cannot use `{folder}`" in err) == (1, True)


@pytest.mark.parametrize("command", ["practice job dev x", "practice down dev --quiet", "--practice drain dev --yes"])
def test_a_full_disk_ends_a_command_with_a_sentence(up: Path, monkeypatch: pytest.MonkeyPatch, command: str):
    """What was written before is whole: with room again, the next command goes on. The error of a full disk names no file."""
    assert trn("practice event dev claim-in-use")[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", _refuse_to_write)
        code, _, err = trn(command)
    assert (code, "error: cannot write `" in err, "No space left on device" in err) == (1, True, True)
    assert trn("--practice recover dev --yes")[0] == 0
    assert trn("--practice destroy dev --yes")[0] == 0


def test_a_report_that_meets_a_full_disk_names_its_folder(project: Path, monkeypatch: pytest.MonkeyPatch):
    """The error itself names no file."""
    monkeypatch.setattr(Path, "write_bytes", _refuse_to_write)
    code, _, err = trn("rehearse dev --quiet --output build/there")
    assert (code, "error: cannot write `build/there/report.json`: No space left on device" in err) == (1, True)


def _refuse_to_write(_path: Path, _content: str | bytes, _encoding: str | None = None) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["a/b", "a b", "..", "x" * 300, "ä", ""])
def test_a_name_that_no_stack_has_is_refused(project: Path, name: str):
    """Before any folder is made."""
    for command in ("practice up", "practice down", "--practice status", "engine --stack"):
        if command != "engine --stack":
            code, _, err = trn(f"{command} '{name}'")
            assert (code, "is not the name of a stack" in err) == (2, True)
    assert not (project / "build").exists()


# Stopped


class Killed(BaseException):
    """The process is gone."""


class Stop:
    """In place of the function that writes files: Ctrl-C comes at one of its calls, or the process dies and writes nothing more."""

    def __init__(self, at: int, how: type[BaseException]) -> None:
        self.calls, self._at, self._how, self._write, self._unlink = 0, at, how, disk.write_whole, Path.unlink

    @property
    def is_dead(self) -> bool:
        """Whether nothing may be written any more."""
        return self._how is Killed and self.calls >= self._at

    def write(self, path: Path, text: str) -> None:
        """Write, or stop."""
        self.calls += 1
        if self.calls == self._at or self.is_dead:
            raise self._how
        self._write(path, text)

    def unlink(self, path: Path, **options: bool) -> None:
        """Delete, or stop."""
        if self.is_dead:
            raise self._how
        self._unlink(path, **options)


@contextlib.contextmanager
def stopping(monkeypatch: pytest.MonkeyPatch, at: int, how: type[BaseException]) -> Iterator[None]:
    """Stop whatever writes at one of its writes."""
    stop = Stop(at, how)
    with monkeypatch.context() as patch:
        patch.setattr("simulator.account.disk.write_whole", stop.write)
        patch.setattr("simulator.engine.disk.write_whole", stop.write)
        patch.setattr(Path, "unlink", lambda path, **options: stop.unlink(path, **options))
        yield
    assert stop.calls >= at, "it ended before"


def stopped(monkeypatch: pytest.MonkeyPatch, command: str, at: int) -> tuple[int, str, str]:
    """A command that gets Ctrl-C."""
    with stopping(monkeypatch, at, KeyboardInterrupt):
        return trn(command)


def killed(monkeypatch: pytest.MonkeyPatch, command: str, at: int) -> None:
    """A command that dies without a last word."""
    with stopping(monkeypatch, at, Killed), pytest.raises(Killed):
        trn(command)


@pytest.mark.parametrize("at", mostly_long([259, 260]))
def test_ctrl_c_in_the_middle_of_up_is_recovered(project: Path, monkeypatch: pytest.MonkeyPatch, at: int):
    """It says what was begun, and how to go on; the next up ends well. Also at the write of what begins: the account must not have it then."""
    code, out, _ = stopped(monkeypatch, UP, at)
    assert (code, "stopped  by Ctrl-C" in out, "next     trn --practice recover dev" in out) == (130, True, True)
    assert trn("--practice recover dev --yes")[0] == 0
    assert trn(UP)[0] == 0
    assert "is as it should be" in trn("--practice status dev")[1]


@pytest.mark.parametrize("at", mostly_long([251, 3]))
def test_an_up_that_was_killed_is_recovered(project: Path, monkeypatch: pytest.MonkeyPatch, at: int):
    """At its first writes, and among many: what the account has comes into the state, and all of it is deleted."""
    killed(monkeypatch, UP, at)
    recovered, _, err = trn("--practice recover dev --yes")
    assert recovered == 0 or "`trn practice up dev` brings it up" in err
    # At the first writes no object of the state says yet whose the cluster's name is.
    destroyed, _, err = trn("--practice destroy dev --yes --name trainium-dev")
    assert destroyed == recovered, err
    assert leftovers() == []


@pytest.mark.parametrize("command", ["practice down dev --quiet", "--practice destroy dev --yes"])
def test_what_deletes_can_be_stopped_and_run_again(up: Path, monkeypatch: pytest.MonkeyPatch, command: str):
    """By Ctrl-C, then by a kill; the next one ends it."""
    code, out, err = stopped(monkeypatch, command, 20)
    assert (code, "interrupted" in err or "Ctrl-C" in out) == (130, True)
    killed(monkeypatch, command, 20)
    # Nobody gave up the lock of the run that died.
    code, _, err = trn("--practice destroy dev --yes")
    assert (code, "is locked by" in err) == ((1, True) if "destroy" in command else (0, False))
    if code:
        assert trn("--practice destroy dev --yes --break-lock")[0] == 0
    assert leftovers() == []


def test_a_lock_of_a_dead_process_is_removed(up: Path):
    """As `pulumi cancel` would; one of a living process, of another machine, or that cannot be read, stays."""
    folder = practice_folder("dev")
    place = folder.state / ".pulumi" / "locks" / "organization" / "trn" / "dev"
    place.mkdir(parents=True)
    here = os.uname().nodename
    locks = {"dead": (2**22 + 1, here), "alive": (os.getpid(), here), "elsewhere": (2**22 + 1, f"not-{here}")}
    for name, (process, machine) in locks.items():
        (place / f"{name}.json").write_text(json.dumps({"pid": process, "hostname": machine}))
    (place / "damaged.json").write_text("{")
    assert list(remove_dead_locks(folder, read_stack_file("dev"))) == [2**22 + 1]
    assert sorted(path.stem for path in place.iterdir()) == ["alive", "damaged", "elsewhere"]


@pytest.mark.parametrize(
    "command", ["sweep dev --delete --yes --name trainium-dev", "destroy dev --yes --name trainium-dev", "recover dev --yes"]
)
def test_a_stack_whose_own_file_was_deleted_is_not_taken_for_gone(up: Path, command: str):
    """Its cluster lives: what is left over of a stack that is gone may be deleted, and this would be all of it."""
    file = practice_folder("dev").rehearsal / "stack.json"
    whole, before = file.read_text(), leftovers()
    file.unlink()
    code, _, err = trn(f"--practice {command}")
    assert (code, f"{file} is not there" in err, "hint: restore the file" in err) == (1, True, True), err
    file.write_text(whole)
    assert leftovers() == before


def test_two_commands_at_once_are_refused_with_a_hint_that_helps(up: Path):
    """No option of these commands names another folder."""
    with disk.held(practice_folder("dev").account):
        code, _, err = trn("--practice status dev")
    assert (code, "another run has the simulated account" in err, "--folder" in err) == (1, True, False)
    assert "hint: let the other command end, and run this one again" in err


@pytest.mark.parametrize("command", ["recover dev --yes", "destroy dev --yes"])
def test_a_run_that_was_killed_before_its_first_resource_is_brought_up_again(project: Path, command: str):
    """There is no backend to log in to."""
    practice_folder("dev").account.mkdir(parents=True)
    code, _, err = trn(f"--practice {command}")
    assert code != 0
    assert "pulumi" not in err
    assert "hint: `trn practice up dev` brings it up" in err
