"""`trn roll` against a practice account: the plan is made again once the lock is held, and the stack file must be the plan's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trn.practice.commands import trn
from trn.aws.lock import Lock
from trn.change.clients import access
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file
from trn.practice.users import start_job

FILE = Path("Pulumi.dev.yaml")
ROLL = "--practice roll dev trn1-32xl --checkpoint"


@pytest.fixture
def edited(up: Path) -> Path:
    """A stack that is up, with an edit that rolls its nodes."""
    edit("size: 2\n", "size: 2\n      rootVolumeGib: 300\n")
    return up


def edit(old: str, new: str) -> None:
    """One edit of the stack file."""
    text = FILE.read_text()
    assert old in text
    FILE.write_text(text.replace(old, new, 1))


def with_the_lock(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Something happens between the question and the lock."""

    take = Lock.take

    def overtaken(self: Lock, *given: Any, **more: Any) -> None:
        act()
        take(self, *given, **more)

    monkeypatch.setattr(Lock, "take", overtaken)


def start() -> None:
    """A job of another person."""
    settings = settings_of(read_stack_file("dev"))
    api = access().aws("dev", settings.region)
    start_job(access().kubernetes(api, {}), settings, "dev", "late", 1)


def test_a_job_that_begins_while_the_question_stands(edited: Path, monkeypatch: pytest.MonkeyPatch):
    """Is shown and asked about; `--yes` was said of another plan."""
    with_the_lock(monkeypatch, start)
    code, _, err = trn(f"{ROLL} --yes")
    assert (code, "jobs.batch.volcano.sh/late in training has begun on trn1-32xl" in err) == (1, True), err
    monkeypatch.undo()
    monkeypatch.chdir(edited)
    code, _, err = trn(f"{ROLL} --yes")
    assert (code, "is asked to stop" in err) == (0, True), err


def test_a_roll_that_another_person_has_done_is_not_done_again(edited: Path, monkeypatch: pytest.MonkeyPatch):
    """Two people at once: the second finds nothing left to do, and says so."""
    do, inner = trn, list[str]()

    def first() -> None:
        if not inner:
            inner.append("begun")
            access().close()  # type: ignore[attr-defined]
            inner.append(str(do(f"{ROLL} --yes")[0]))

    with_the_lock(monkeypatch, first)
    code, _, err = trn(f"{ROLL} --yes")
    assert inner == ["begun", "0"]
    assert (code, "another run was faster" in err) == (0, True), err
