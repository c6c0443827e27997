"""Sections of a node group that say when it has nodes: the times of a capacity block, and hours of every week."""

from typing import Annotated

from pydantic import Field

from facts import text_formats
from facts.capacity_blocks import Window, window
from facts.cron import CRON
from facts.hours import Hours
from facts.section import Formed, Section


class CapacityBlock(Section):
    """When the group's capacity block begins and ends: the group goes up at the start, and is emptied before the end."""

    starts_at: Annotated[str, Formed(text_formats.INSTANT)]
    """Start of the block, with its time zone and in quotes. The group has 0 nodes before it, and `size` nodes from then on."""
    ends_at: Annotated[str, Formed(text_formats.INSTANT)]
    """End of the block, with its time zone and in quotes: 11:30 UTC, as for all capacity blocks. An extension moves it."""
    checkpoint_minutes: int = Field(default=60, ge=45, le=1440)
    """Minutes before the end at which the group is set to 0: its nodes are drained, and jobs save a checkpoint on SIGTERM. EKS itself empties the group 40 minutes before the end, and EC2 begins to terminate instances at 30."""

    @property
    def window(self) -> Window:
        """The same as moments."""
        return window(self.starts_at, self.ends_at)


class Schedule(Section):
    """Hours in which the group has no nodes, each day or each week."""

    down_at: Annotated[str, Formed(CRON)]
    """When the group is set to 0, as cron with five fields, such as `0 20 * * MON-FRI`: minute, hour, day of the month, month, weekday by name."""
    up_at: Annotated[str, Formed(CRON)] | None = None
    """When the group is set to `size` again, such as `0 7 * * MON-FRI`. Without it, the group stays at 0 until `trn scale`."""
    time_zone: Annotated[str, Formed(text_formats.TIME_ZONE)] = "UTC"
    """Time zone of both, by its IANA name, such as `Europe/Berlin`: daylight saving is followed."""

    @property
    def hours(self) -> Hours:
        """Both times, as what reads them takes them."""
        return Hours(self.down_at, self.up_at, self.time_zone)
