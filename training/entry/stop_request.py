"""Whether this worker was asked to stop, and the exit code that says it did so with a checkpoint.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import signal

STOPPED = 75
"""Stopped after a checkpoint, start again (sysexits.h, EX_TEMPFAIL)."""


class StopRequest:
    """Notes SIGTERM and SIGINT, which may reach the workers at different steps: they must agree on one before they stop.

    Make it after the framework's own start: `jax.distributed.initialize` installs a handler of its own.
    """

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGINT, self._note)

    def _note(self, _number: int, _frame: object) -> None:
        self.asked = True
