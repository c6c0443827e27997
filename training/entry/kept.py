"""Keeps beside the checkpoints what a node's log would lose with its pod: lines of progress, TensorBoard's events, and the last lines.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. A thread writes: a file system that does not
answer holds up neither the log nor the workers, and one that is full ends no training.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections import deque
from pathlib import Path

import figures
import tensorboard_events

LINES, WIDTH = 60, 500
"""Of the end of a log that are kept, and their characters."""
EVERY_S = 2.0
CLOSE_S = 5.0
"""Longest wait at the end."""


class Kept:
    """What one node keeps; nothing where the job has no checkpoints."""

    def __init__(self, checkpoints: str, rank: int, progress: bool) -> None:
        """`progress`: whether this node's lines are the job's, as those of the first are."""
        self.folder, self.progress = Path(checkpoints, figures.FOLDER), progress
        self.log = self.folder / f"node-{rank:04}.log"
        self.previous = self._last_lines()
        self.tail: deque[bytes] = deque(maxlen=LINES)
        self.new: list[bytes] = []
        self.changed, self.lock, self.closed = False, threading.Lock(), threading.Event()
        self.events: Path | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def take(self, line: bytes) -> None:
        """A line of the log."""
        with self.lock:
            self.tail.append(line.rstrip(b"\n")[:WIDTH])
            self.changed = True
            if self.progress and figures.MARK in line:
                self.new.append(line[line.find(figures.MARK) :])

    def close(self) -> None:
        """Writes what is left, where the file system answers."""
        self.closed.set()
        self.thread.join(CLOSE_S)

    def _last_lines(self) -> list[str]:
        """What the start before this one said last."""
        try:
            return self.log.read_text(errors="replace").splitlines()[-LINES:]
        except OSError:
            return []

    def _run(self) -> None:
        ending = False
        while not ending:
            ending = self.closed.wait(EVERY_S)
            with contextlib.suppress(OSError):
                self._write()

    def _write(self) -> None:
        with self.lock:
            tail, changed = list(self.tail), self.changed
            new, self.new, self.changed = self.new, [], False
        if changed:
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary = self.log.with_suffix(".new")
            temporary.write_bytes(b"\n".join(tail) + b"\n")
            os.replace(temporary, self.log)
        if new:
            with open(self.folder / figures.FILE, "a+b") as file:
                # One that was cut off by a kill must not take the next line along.
                if file.seek(0, os.SEEK_END) and not _ends_line(file.fileno()):
                    file.write(b"\n")
                file.write(b"".join(new))
            self._write_events(new)

    def _write_events(self, lines: list[bytes]) -> None:
        """One file of TensorBoard's for each start: it shows them as runs of one folder."""
        found = []
        for said in map(figures.said_by, lines):
            if said is not None and said.get("trn") == "step" and type(said.get("step")) is int:
                values = {name: float(value) for name, value in said.items() if type(value) in (int, float) and name not in _NO_SCALARS}
                finite = {name: value for name, value in values.items() if math.isfinite(value) and abs(value) < 3e38}
                found.append(tensorboard_events.scalars(said["step"], float(said["time"]), finite))
        if found:
            if self.events is None:
                began = time.time()
                self.events = self.folder / f"events.out.tfevents.{began:.0f}.{os.getpid()}"
                found.insert(0, tensorboard_events.version(began))
            with open(self.events, "ab") as file:
                file.write(b"".join(found))


_NO_SCALARS = ("step", "time", "rank")


def _ends_line(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return os.pread(handle, 1, size - 1) == b"\n"
