"""A watch over the cluster: it looks every few minutes and may set groups to zero. What it sees, and what it does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

EVERY = timedelta(minutes=5)
"""From one look to the next."""


@dataclass(frozen=True)
class Sight:
    """The cluster at one moment."""

    now: datetime
    nodes: Mapping[str, tuple[int, datetime]]
    """Nodes that are ready, by place, and since when."""
    desired: Mapping[str, int]
    """What EKS wants, by group."""
    busy: str | None
    """Where the job runs."""
    waits: bool
    """Whether it waits for nodes."""


@dataclass(frozen=True)
class Act:
    """What is done after a look."""

    group: str
    what: str
    """For the calendar."""
    empties: bool


Watch = Callable[[Sight], Sequence[Act]]
