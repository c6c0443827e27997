"""Hours in which a node group has no nodes: when its schedule empties it next, and fills it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from facts import cron

FAR = timedelta(days=400)
"""How far ahead the next time is looked for: each date of a year but February 29 is nearer."""


@dataclass(frozen=True)
class Hours:
    """Both times as `facts.cron` reads them, in one time zone."""

    down_at: str
    up_at: str | None
    """None: the group stays empty until it is sized by hand."""
    time_zone: str

    def next_down(self, now: datetime) -> datetime | None:
        """In UTC; None where it is farther away than FAR."""
        return self._next(self.down_at, now)

    def next_up(self, now: datetime) -> datetime | None:
        """In UTC; None also where nothing fills the group."""
        return None if self.up_at is None else self._next(self.up_at, now)

    def _next(self, text: str, now: datetime) -> datetime | None:
        found = next(cron.moments(text, self.time_zone, now, now + FAR), None)
        return None if found is None else found.astimezone(UTC)
