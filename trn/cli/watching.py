"""How a command shows what it does, and passes the time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Watching:
    """What a command is handed in place of a terminal and a clock."""

    tell: Callable[[str], None]
    """Shows one line."""
    pause: Callable[[float], None]
    """Lets seconds pass."""
    show: Callable[[int, int], None] = lambda done, total: None
    """Shows how much is done."""
    tracked: Callable[[Sequence[Any]], Sequence[Any]] = lambda items: items
    """Shows how far a list is worked off."""
