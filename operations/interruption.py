"""Signals that end a command from outside: all are treated as Ctrl-C, after which the command removes what it started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDS = (signal.SIGTERM, signal.SIGHUP)
"""Sent when a pipeline is cancelled, and when a terminal is closed."""


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raises KeyboardInterrupt within the block when one of these signals arrives."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
