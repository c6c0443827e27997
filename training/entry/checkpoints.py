"""Checkpoints, a file or a folder each: written in one piece, the newest ones kept, due after so many seconds or steps.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. What is in a file is the framework's matter.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import progress_lines

NAME = re.compile("step-([0-9]{9})")


def newest(folder: str) -> tuple[int, Path] | None:
    """Step and path of the newest whole checkpoint; None where there is none."""
    found = _all(folder)
    return found[-1] if found else None


def write(folder: str, step: int, save: Callable[[Path], None], keep: int) -> None:
    """Writes a checkpoint of one file under its step by `save`, then deletes all but the newest `keep`."""
    began = time.monotonic()
    Path(folder).mkdir(parents=True, exist_ok=True)
    clear(folder)
    save(begin(folder, step))
    finish(folder, step, keep, began)


def clear(folder: str) -> None:
    """Deletes what a save that was cut off has left. One worker calls this while nobody writes: at the start of a training that saves in parts."""
    for leftover in Path(folder).glob("partial-*"):
        _delete(leftover)


def begin(folder: str, step: int) -> Path:
    """Where a checkpoint is written, by one worker or by all of them, until it is whole."""
    return Path(folder, f"partial-{step:09}")


def finish(folder: str, step: int, keep: int, began: float) -> None:
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
    tell(step, whole, began)


def tell(step: int, path: str | Path, began: float) -> None:
    """Says that a checkpoint is whole: `trn data status` knows by its path and bytes whether it is in S3.

    `path`: of its file or folder, or what the names of its files begin with, as TensorFlow's; `began`: `time.monotonic()` when writing began.
    """
    whole = Path(path)
    files = [each for each in (whole, *whole.rglob("*"), *whole.parent.glob(f"{whole.name}.*")) if each.is_file()]
    size = sum(each.stat().st_size for each in files)
    progress_lines.event("saved", step=step, path=str(whole), bytes=size, seconds=round(time.monotonic() - began, 3))


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
