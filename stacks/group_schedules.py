"""From the times of node groups in the configuration to the schedules that set their sizes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from components.size_schedules import SizeChange
from facts import cron
from stacks.settings import NodeGroup, Settings, largest_size


def size_changes(settings: Settings) -> list[SizeChange]:
    """Every change of a size that a schedule makes, in the order of the groups."""
    return [change for name, group in settings.node_groups.items() for change in _changes(name, group)]


def _changes(name: str, group: NodeGroup) -> Iterator[SizeChange]:
    largest = largest_size(group)
    block, schedule = group.capacity_block, group.schedule
    if block is not None:
        emptied = block.window.emptied(timedelta(minutes=block.checkpoint_minutes))
        yield SizeChange(name, "up", group.size, largest, at(block.window.starts))
        yield SizeChange(name, "down", 0, largest, at(emptied))
    if schedule is not None:
        yield SizeChange(name, "down", 0, largest, cron.eventbridge(schedule.down_at), schedule.time_zone)
        if schedule.up_at is not None:
            yield SizeChange(name, "up", group.size, largest, cron.eventbridge(schedule.up_at), schedule.time_zone)


def at(moment: datetime) -> str:
    """The expression of a schedule that fires once, in UTC. AWS takes a moment that is over as well
    (localstack/localstack tests/aws/services/scheduler, validated on AWS in 2025); that it does not fire then is inferred."""
    return f"at({moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S})"
