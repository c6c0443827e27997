"""How a command shows what it does, and passes the time."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Watching:
    """What a command is handed in place of a terminal and a clock."""

    tell: Callable[[str], None]
    """Shows one line."""
    pause: Callable[[float], None]
    """Lets seconds pass."""
    show: Callable[[int, int], None] = lambda done, total: None
    """Shows how much is done."""
