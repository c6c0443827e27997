"""Checkpoints, a file or a folder each: written in one piece, the newest ones kept, due after so many seconds or steps.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. What is in a file is the framework's matter.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import progress_lines

NAME = re.compile("step-([0-9]{9})")


def newest(folder: str) -> tuple[int, Path] | None:
    """Step and path of the newest whole checkpoint; None where there is none."""
    found = _all(folder)
    return found[-1] if found else None


def write(folder: str, step: int, save: Callable[[Path], None], keep: int, stalled_s: float | None = None) -> None:
    """Writes a checkpoint of one file under its step by `save`, then deletes all but the newest `keep`.

    `stalled_s`: how long training waited for it, where that is less than the time that writing takes.
    """
    began = time.monotonic()
    Path(folder).mkdir(parents=True, exist_ok=True)
    clear(folder)
    save(begin(folder, step))
    finish(folder, step, keep, began, stalled_s)


class Background:
    """Writes checkpoints of one file while training goes on, one at a time. One worker has it.

    A step that is done while one is written is not in it: a job that is killed then resumes from the one before.
    """

    def __init__(self, folder: str, keep: int) -> None:
        self.folder, self.keep = folder, keep
        self.thread: threading.Thread | None = None
        self.error: BaseException | None = None

    def write(self, step: int, copied: Callable[[], Callable[[Path], None]]) -> None:
        """Waits for the one before, lets `copied` copy what is to be saved to where no step changes it, and goes on while what it gives writes the copy."""
        began = time.monotonic()
        self.wait()
        save = copied()
        stalled_s = time.monotonic() - began
        self.thread = threading.Thread(target=self._run, args=(step, save, stalled_s))
        self.thread.start()

    def _run(self, step: int, save: Callable[[Path], None], stalled_s: float) -> None:
        try:
            write(self.folder, step, save, self.keep, stalled_s)
        except BaseException as error:
            self.error = error

    def wait(self) -> None:
        """Until what was begun is on disk; raises what went wrong with it."""
        if self.thread is not None:
            self.thread.join()
        self.thread = None
        if self.error is not None:
            raise self.error


def differences(there: Mapping[str, object], here: Mapping[str, object]) -> str:
    """What a checkpoint's training and this one do not share, in a sentence; empty where they are the same."""
    both = json.loads(json.dumps(dict(here), default=str))
    keys = sorted({*there, *both})
    wrong = [f"{key} is {there.get(key)} there and {both.get(key)} here" for key in keys if there.get(key) != both.get(key)]
    return "; ".join(wrong)


def same_training(folder: str, about: Mapping[str, object], first: bool) -> None:
    """Leaves with a sentence where a folder has checkpoints of another model, mesh or data; for formats that have no place for it.

    `first`: of all workers the one that writes it down at the first start.
    """
    if not folder:
        return
    path = Path(folder, "training.json")
    if path.exists():
        refuse(path, json.loads(path.read_text()), about)
    elif first:
        Path(folder).mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".new")
        temporary.write_text(json.dumps(dict(about), default=str) + "\n")
        os.replace(temporary, path)


def refuse(path: Path, there: Mapping[str, object], here: Mapping[str, object]) -> None:
    """Leaves with a sentence where a checkpoint is of another training."""
    if wrong := differences(there, here):
        sys.exit(f"{path} is of another training: {wrong}; take another folder, or the same options")


def clear(folder: str) -> None:
    """Deletes what a save that was cut off has left. One worker calls this while nobody writes: at the start of a training that saves in parts."""
    for leftover in Path(folder).glob("partial-*"):
        _delete(leftover)


def begin(folder: str, step: int) -> Path:
    """Where a checkpoint is written, by one worker or by all of them, until it is whole."""
    return Path(folder, f"partial-{step:09}")


def finish(folder: str, step: int, keep: int, began: float, stalled_s: float | None = None) -> None:
    """Gives a checkpoint its name when it is on disk: one that was cut off by a crash is never taken for whole. One worker calls this.

    `began`: `time.monotonic()` when writing began.
    """
    partial, whole = begin(folder, step), Path(folder, f"step-{step:09}")
    files = [path for path in (partial, *partial.rglob("*")) if path.is_file()]
    for path in files:
        _flush(path)
    if whole.exists():
        _delete(whole)
    os.replace(partial, whole)
    _flush(Path(folder))
    for _, old in _all(folder)[:-keep]:
        _delete(old)
    tell(step, whole, began, stalled_s)


def tell(step: int, path: str | Path, began: float, stalled_s: float | None = None) -> None:
    """Says that a checkpoint is whole: `trn data status` knows by its path and bytes whether it is in S3.

    `path`: of its file or folder, or what the names of its files begin with, as TensorFlow's; `began`: `time.monotonic()` when writing began.
    """
    whole = Path(path)
    files = [each for each in (whole, *whole.rglob("*"), *whole.parent.glob(f"{whole.name}.*")) if each.is_file()]
    size = sum(each.stat().st_size for each in files)
    taken = round(time.monotonic() - began, 3)
    stalled = taken if stalled_s is None else round(stalled_s, 3)
    progress_lines.event("saved", step=step, path=str(whole), bytes=size, seconds=taken, stalled_s=stalled)


def _flush(path: Path) -> None:
    """Waits until a file, or the names in a folder, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def _delete(path: Path) -> None:
    """A file, or a folder with its files."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def _all(folder: str) -> list[tuple[int, Path]]:
    """Whole checkpoints, oldest first."""
    named = [(NAME.fullmatch(path.name), path) for path in Path(folder).glob("step-*")]
    return sorted((int(name[1]), path) for name, path in named if name)


class Due:
    """When the next checkpoint is due. Only one worker's clock decides; the others learn it with the next step."""

    def __init__(self, interval_s: float, steps: int = 0) -> None:
        """After so many seconds or steps, whichever comes first; 0 leaves it out."""
        self.interval_s, self.steps = interval_s, steps
        self.written = time.monotonic()

    def now(self, step: int) -> bool:
        """Whether one is due after this step."""
        late = self.interval_s > 0 and time.monotonic() - self.written >= self.interval_s
        return late or (self.steps > 0 and step % self.steps == 0)

    def wrote(self) -> None:
        """Starts the interval again."""
        self.written = time.monotonic()


def from_environment(environment: Mapping[str, str]) -> tuple[str, float, int]:
    """Folder (empty for no checkpoints), interval in seconds, and how many stay, as the job file says."""
    return (
        environment.get("TRN_CHECKPOINTS", ""),
        float(environment.get("TRN_CHECKPOINT_INTERVAL_S") or 0),
        int(environment.get("TRN_CHECKPOINTS_KEPT") or 3),
    )
