"""Signals that end a command from outside: all are treated as Ctrl-C, after which the command removes what it started."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

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


@dataclass
class Kept:
    """Signals that have arrived and were kept back."""

    numbers: list[int] = field(default_factory=list)
    pass_on: Callable[[int], None] = lambda number: None
    """Called with each."""

    def take(self, number: int, _frame: object) -> None:
        """Keep one back."""
        self.numbers.append(number)
        self.pass_on(number)


@contextmanager
def signals_kept() -> Iterator[Kept]:
    """Keeps Ctrl-C and the other signals back within the block; raises KeyboardInterrupt at its end if one has arrived.

    For what must not be cut off: another process is ended by the same signal, and is waited for.
    """
    kept = Kept()
    # Only the main thread of Python gets signals.
    numbers = (signal.SIGINT, *ENDS) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, kept.take) for number in numbers}
    try:
        yield kept
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if kept.numbers:
        raise KeyboardInterrupt
