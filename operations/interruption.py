"""Ends of a command that come from outside: all of them are taken for Ctrl-C, after which what was started is removed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

ENDS = (signal.SIGTERM, signal.SIGHUP)
"""A pipeline that is cancelled, and a terminal that is closed."""


@contextmanager
def ended_like_by_hand() -> Iterator[None]:
    """KeyboardInterrupt for each of them, within the block."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
