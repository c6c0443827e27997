"""A process of this machine that may not be a child: known by its id and start, since ids are used again."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """One process, for as long as it lives."""

    pid: int
    start: str
    """Its start in clock ticks since boot, from /proc."""

    @property
    def alive(self) -> bool:
        """Runs: neither gone nor a zombie."""
        return _start(self.pid) == self.start

    def signal(self, number: int) -> None:
        """Send a signal; one that is gone gets none."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def kill(self) -> None:
        """SIGKILL."""
        self.signal(signal.SIGKILL)


def process(pid: int) -> Process:
    """The process that has this id now; one that is gone already is never alive."""
    return Process(pid, _start(pid) or "gone")


def _start(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *rest = text.rpartition(")")[2].split()
    return None if state in "ZX" else rest[18]


def pidfd(wanted: Process) -> int | None:
    """A descriptor that becomes readable when the process ends, for the caller to close; None for one that has ended."""
    try:
        descriptor = os.pidfd_open(wanted.pid)
    except OSError:
        return None
    if wanted.alive:
        return descriptor
    os.close(descriptor)
    return None
