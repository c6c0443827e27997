"""When a capacity block can be used: from its start until EC2 begins to take its instances, 30 minutes before its end.

Sources: EC2 user guide, capacity-blocks-how and capacity-blocks-purchase; EKS user guide, capacity-blocks-mng; Karpenter 1.14,
designs/capacity-block-support.md; all read in November 2026.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

TERMINATION = timedelta(minutes=30)
"""How long before the end of a block EC2 begins to terminate instances that still run in it (EC2 user guide, capacity-blocks-how)."""
EKS_SCALE_DOWN = timedelta(minutes=40)
"""How long before the end EKS sets a managed node group to zero by itself, with a scheduled action of the group's Auto Scaling
group (EKS user guide, capacity-blocks-mng). The same moment at which EC2 sends its warning event."""
KARPENTER_DRAIN = timedelta(minutes=40)
"""How long before the end Karpenter drains its nodes of the block: 10 minutes before the first is terminated
(karpenter.sh/docs/tasks/odcrs)."""
ENDS_AT = time(11, 30)
"""Time of day, UTC, at which every capacity block ends, wherever it is (EC2 user guide, capacity-blocks-using)."""
LONGEST = timedelta(days=182)
"""Longest block, with all its extensions (EC2 user guide, capacity-blocks-extend)."""


@dataclass(frozen=True)
class Window:
    """One capacity block in time."""

    starts: datetime
    ends: datetime

    @property
    def length(self) -> timedelta:
        """From start to end."""
        return self.ends - self.starts

    @property
    def terminates(self) -> datetime:
        """When EC2 begins to terminate what still runs."""
        return self.ends - TERMINATION

    def emptied(self, before_end: timedelta) -> datetime:
        """When nodes are drained: this long before the end."""
        return self.ends - before_end

    def holds(self, moment: datetime) -> bool:
        """Whether instances can be launched into the block at a moment."""
        return self.starts <= moment < self.terminates


@dataclass(frozen=True)
class Use:
    """A block as jobs meet it: nodes from its start on, drained before its end, terminated later."""

    window: Window
    drained_before_end: timedelta

    @property
    def drained(self) -> datetime:
        """When jobs get SIGTERM."""
        return self.window.emptied(self.drained_before_end)

    @property
    def usable(self) -> timedelta:
        """From the start until jobs get SIGTERM."""
        return self.drained - self.window.starts

    @property
    def to_save(self) -> timedelta:
        """From SIGTERM until EC2 terminates the first instance."""
        return self.drained_before_end - TERMINATION


def window(starts_at: str, ends_at: str) -> Window:
    """The window between two times of the form `facts.text_formats.INSTANT`, in UTC."""
    return Window(datetime.fromisoformat(starts_at).astimezone(UTC), datetime.fromisoformat(ends_at).astimezone(UTC))


def ends_as_sold(moment: datetime) -> bool:
    """Whether a block can end at a moment: all end at one time of day."""
    return moment.astimezone(UTC).time() == ENDS_AT
