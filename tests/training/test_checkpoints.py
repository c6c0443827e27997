"""Checkpoint files: whole or not there, and only so many."""

import json
import threading
from pathlib import Path

import pytest

import checkpoints
from trn.jobs.data.safety import saves


def save(text: str):
    """A writer of a small file."""
    return lambda path: path.write_text(text) and None


def test_the_newest_whole_checkpoint_is_found(tmp_path):
    for step in (10, 9, 100):
        checkpoints.write(str(tmp_path), step, save(str(step)), keep=3)
    found = checkpoints.newest(str(tmp_path))
    assert found is not None
    assert (found[0], found[1].read_text()) == (100, "100")


def test_only_the_newest_stay(tmp_path):
    for step in range(1, 6):
        checkpoints.write(str(tmp_path), step, save("x"), keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000004", "step-000000005"]


def test_one_that_was_cut_off_is_not_taken_for_whole(tmp_path):
    """A worker that is killed while it writes must not cost the checkpoint before."""
    checkpoints.write(str(tmp_path), 10, save("whole"), keep=3)

    def cut_off(path: Path) -> None:
        path.write_text("ha")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoints.write(str(tmp_path), 20, cut_off, keep=3)
    assert checkpoints.newest(str(tmp_path)) == (10, tmp_path / "step-000000010")


def test_what_a_crash_left_is_removed_with_the_next(tmp_path):
    (tmp_path / "partial-000000020").write_text("ha")
    checkpoints.write(str(tmp_path), 30, save("x"), keep=3)
    assert not list(tmp_path.glob("partial-*"))


def test_one_of_many_files_counts_when_all_are_there(tmp_path):
    """Sharded ones are folders, which every worker writes into."""
    for step in (1, 2):
        partial = checkpoints.begin(str(tmp_path), step)
        partial.mkdir()
        (partial / "worker-0").write_text("half")
        assert checkpoints.newest(str(tmp_path)) == (None if step == 1 else (1, tmp_path / "step-000000001"))
        checkpoints.finish(str(tmp_path), step, 1, 0.0)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000002"]


def test_one_that_is_written_again_replaces_the_first(tmp_path):
    """A run that resumed further back comes by the same step once more."""
    for text in ("first", "second"):
        checkpoints.write(str(tmp_path), 5, save(text), keep=3)
    found = checkpoints.newest(str(tmp_path))
    assert found is not None
    assert found[1].read_text() == "second"


def test_there_is_none_in_a_folder_that_is_not_there(tmp_path):
    assert checkpoints.newest(str(tmp_path / "later")) is None


def test_one_is_due_after_the_interval_or_the_steps(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: clock[0])
    due = checkpoints.Due(interval_s=60, steps=100)
    assert (due.now(5), due.now(100)) == (False, True)
    clock[0] = 60.0
    assert due.now(5)
    due.wrote()
    assert not due.now(5)


def test_none_is_due_where_none_was_asked_for():
    assert not checkpoints.Due(0, 0).now(100)


def test_the_job_file_says_where_and_how_often():
    asked = {"TRN_CHECKPOINTS": "/fsx/c", "TRN_CHECKPOINT_INTERVAL_S": "1800", "TRN_CHECKPOINTS_KEPT": "2"}
    assert checkpoints.from_environment(asked) == ("/fsx/c", 1800.0, 2)
    assert checkpoints.from_environment({}) == ("", 0.0, 3)


@pytest.mark.parametrize("files", [{"ckpt-2": 5}, {"ckpt-2/a": 3, "ckpt-2/b/c": 4}, {"ckpt-2.index": 1, "ckpt-2.data-00000-of-00001": 9}])
def test_a_framework_s_own_checkpoint_is_told_of_with_its_bytes(tmp_path, capsys, files):
    """A file, a folder, or files of one beginning; another checkpoint's are not counted."""
    for name, size in {**files, "ckpt-20.index": 100, "ckpt-1": 100}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(b"x" * size)
    checkpoints.tell(2, tmp_path / "ckpt-2", 0.0)
    (saved,) = saves(capsys.readouterr().out.splitlines())
    assert (saved.step, saved.path, saved.size) == (2, str(tmp_path / "ckpt-2"), sum(files.values()))


def test_training_goes_on_while_a_checkpoint_is_written(tmp_path):
    """It waits for the copy alone; the next one waits for this."""
    background, written = checkpoints.Background(str(tmp_path), 3), threading.Event()

    def slow(path: Path) -> None:
        assert written.wait(10)
        path.write_text("as it was")

    background.write(1, lambda: slow)
    assert checkpoints.newest(str(tmp_path)) is None
    written.set()
    background.write(2, lambda: save("later"))
    background.wait()
    found = [path.read_text() for path in sorted(tmp_path.glob("step-*"))]
    assert found == ["as it was", "later"]


def test_what_a_step_changes_after_the_copy_is_not_in_the_checkpoint(tmp_path):
    """The copy is made before training goes on."""
    state, background = ["before"], checkpoints.Background(str(tmp_path), 3)

    def copied():
        there = list(state)
        return lambda path: path.write_text(there[0]) and None

    background.write(1, copied)
    state[0] = "after"
    background.wait()
    assert (tmp_path / "step-000000001").read_text() == "before"


def test_a_checkpoint_that_could_not_be_written_ends_the_training(tmp_path):
    """At the next one, or at the end: a job that only seems to save would lose everything."""
    background = checkpoints.Background(str(tmp_path), 3)

    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    background.write(1, lambda: full)
    with pytest.raises(OSError, match="No space left"):
        background.wait()


def test_how_long_training_waited_is_said(tmp_path, capsys):
    """Beside the time that writing took: the bench and `trn watch` read it."""
    background = checkpoints.Background(str(tmp_path), 3)
    background.write(1, lambda: save("x"))
    background.wait()
    line = json.loads(capsys.readouterr().out)
    assert 0 <= line["stalled_s"] <= line["seconds"] + 0.001


def test_a_folder_of_another_training_is_refused(tmp_path):
    """Another model, another number of workers, other data: formats of frameworks do not say it themselves."""
    checkpoints.same_training(str(tmp_path), {"model": {"layers": 2}, "workers": 4}, first=True)
    checkpoints.same_training(str(tmp_path), {"model": {"layers": 2}, "workers": 4}, first=False)
    with pytest.raises(SystemExit, match="is of another training: workers is 4 there and 8 here; take another folder"):
        checkpoints.same_training(str(tmp_path), {"model": {"layers": 2}, "workers": 8}, first=True)
    checkpoints.same_training("", {"workers": 1}, first=True)


def test_only_the_first_worker_writes_down_what_a_training_is(tmp_path):
    checkpoints.same_training(str(tmp_path), {"workers": 8}, first=False)
    assert list(tmp_path.iterdir()) == []
