"""Checkpoint files: written in one piece, the newest ones kept, due after so many seconds or steps.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. What is in a file is the framework's matter.
"""

from __future__ import annotations

import os
import re
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
    """Writes a checkpoint under its step by `save`, then deletes all but the newest `keep`.

    It gets its name when it is on disk: one that was cut off by a crash is never taken for whole.
    """
    began = time.time()
    Path(folder).mkdir(parents=True, exist_ok=True)
    for leftover in Path(folder).glob("partial-*"):
        leftover.unlink()
    partial, whole = Path(folder, f"partial-{step:09}"), Path(folder, f"step-{step:09}")
    save(partial)
    for path in (partial, Path(folder)):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        if path == partial:
            os.replace(partial, whole)
    for _, old in _all(folder)[:-keep]:
        old.unlink()
    size = whole.stat().st_size
    progress_lines.event("saved", step=step, path=str(whole), bytes=size, seconds=round(time.time() - began, 3))


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
