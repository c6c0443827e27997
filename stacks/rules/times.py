"""Rules on when node groups and pools have nodes: capacity blocks with their times, and schedules."""

from collections.abc import Iterator
from datetime import timedelta

from addons.karpenter import KarpenterSettings
from facts import capacity_blocks, cron
from facts.capacity_blocks import Window
from facts.names import SCHEDULED_GROUP_NAME_LIMIT
from facts.problems import Problem
from facts.typed import typed
from stacks.settings import NodeGroup, Settings, sized_by_time


def block_times(settings: Settings) -> Iterator[Problem]:
    """Times of a block belong to a group, or pool, on a block, and are ones in which blocks are sold."""
    for name, group in settings.node_groups.items():
        if group.capacity_block is None:
            continue
        base = f"nodeGroups.{name}"
        if group.capacity_type != "CAPACITY_BLOCK":
            hint = f"set `{base}.capacityType: CAPACITY_BLOCK` with the block's id, or remove `{base}.capacityBlock`"
            yield Problem(f"{base}.capacityType", group.capacity_type, "times of a capacity block without one", "CAPACITY_BLOCK", hint)
        yield from _window(f"{base}.capacityBlock", group.capacity_block.window, group.capacity_block.ends_at)
        if group.capacity_block.window.length <= timedelta(minutes=group.capacity_block.checkpoint_minutes):
            minutes = int(group.capacity_block.window.length.total_seconds() // 60)
            if minutes > 0:
                wrong = "the group would be emptied before it is filled"
                path = f"{base}.capacityBlock.checkpointMinutes"
                yield Problem(path, group.capacity_block.checkpoint_minutes, wrong, f"less than {minutes}", "lower it")
        if not group.size:
            hint = "set it to the instances of the block: the group has that many from the start on, and none before it"
            yield Problem(f"{base}.size", 0, "a capacity block whose instances are never launched", "1 and more", hint)
    karpenter = settings.addons.of(KarpenterSettings)
    for name, pool in karpenter.neuron_pools.items():
        if pool.capacity_block is None:
            continue
        base = f"addons.karpenter.neuronPools.{name}"
        if pool.capacity_type != "CAPACITY_BLOCK":
            hint = f"set `{base}.capacityType: CAPACITY_BLOCK` with the block's id, or remove `{base}.capacityBlock`"
            yield Problem(f"{base}.capacityType", pool.capacity_type, "times of a capacity block without one", "CAPACITY_BLOCK", hint)
        yield from _window(f"{base}.capacityBlock", pool.capacity_block.window, pool.capacity_block.ends_at)


def _window(base: str, window: Window, ends_at: str) -> Iterator[Problem]:
    if window.ends <= window.starts:
        allowed = f"after {window.starts:%Y-%m-%dT%H:%M:%SZ}"
        yield Problem(
            f"{base}.endsAt", ends_at, "a capacity block that ends before it starts", allowed, "exchange the two, or correct the day"
        )
        return
    if not capacity_blocks.ends_as_sold(window.ends):
        hint = "`aws ec2 describe-capacity-reservations --capacity-reservation-ids ID` shows EndDate: copy it"
        allowed = f"{window.ends:%Y-%m-%d}T{capacity_blocks.ENDS_AT:%H:%M}:00Z"
        yield Problem(f"{base}.endsAt", ends_at, "all capacity blocks end at 11:30 UTC", allowed, hint)
    # The first day of a block may be longer than 24 hours: a block that starts at another time ends at 11:30 as well.
    longest = capacity_blocks.LONGEST + timedelta(days=1)
    if window.length >= longest:
        hint = "a later time takes a second block, in a group of its own"
        allowed = f"before {window.starts + longest:%Y-%m-%dT%H:%M:%SZ}"
        yield Problem(f"{base}.endsAt", ends_at, "no capacity block is as long, with all its extensions", allowed, hint)


def sizes_by_time(settings: Settings) -> Iterator[Problem]:
    """A group that schedules size can be emptied, and nothing else sizes it."""
    for name, group in settings.node_groups.items():
        if not sized_by_time(group):
            continue
        base, key = f"nodeGroups.{name}", "capacityBlock" if group.capacity_block is not None else "schedule"
        if group.min_size:
            hint = "set it to 0, or remove it"
            yield Problem(f"{base}.minSize", group.min_size, f"a group with `{key}` is emptied, which a smallest size forbids", "0", hint)
        if group.autoscaled:
            hint = f"set it to false, or remove `{base}.{key}`"
            wrong = f"an autoscaler would undo what `{key}` does to the group's size"
            yield Problem(f"{base}.autoscaled", True, wrong, "false", hint)
        if len(name) > SCHEDULED_GROUP_NAME_LIMIT:
            hint = "take a shorter one: the names of schedules are built from it, and EventBridge Scheduler takes 64 characters"
            wrong, allowed = f"a name too long for a group with `{key}`", f"at most {SCHEDULED_GROUP_NAME_LIMIT} characters"
            yield Problem("nodeGroups", name, wrong, allowed, hint)
        if group.schedule is not None:
            yield from _schedule(base, group)


def _schedule(base: str, group: NodeGroup) -> Iterator[Problem]:
    schedule = group.schedule
    assert schedule is not None
    if group.capacity_type == "CAPACITY_BLOCK":
        hint = "remove it: a block is paid in advance, whether its instances run or not"
        yield Problem(f"{base}.schedule", schedule.down_at, "a schedule saves nothing on a capacity block", hint=hint)
    if not group.size:
        hint = "set it to the nodes of the day, or remove the schedule: at 0 the group is empty at all times"
        yield Problem(f"{base}.size", 0, "a schedule for a group without nodes", "1 and more", hint)
    if schedule.up_at is not None and cron.coincide(schedule.down_at, schedule.up_at):
        hint = "let the group go down at one time and up at another"
        yield Problem(f"{base}.schedule.upAt", schedule.up_at, "a schedule that goes up and down at one time", hint=hint)


def time_notices(settings: Settings) -> Iterator[str]:
    """What times do that the keys do not say."""
    for name, group in settings.node_groups.items():
        if group.capacity_type == "CAPACITY_BLOCK" and group.capacity_block is None:
            yield (
                f"nodeGroups.{name} is on a capacity block without `capacityBlock`: before the block begins it must have `size: 0`, and"
                " nodes are not drained earlier than 40 minutes before its end"
            )
        if group.schedule is not None:
            until = f"until {group.schedule.up_at}" if group.schedule.up_at else f"until `{typed('trn scale')}`"
            yield (
                f"nodeGroups.{name} has no nodes from {group.schedule.down_at} {until} ({group.schedule.time_zone}): jobs there get SIGTERM and"
                f" save a checkpoint; a changed `size` takes effect the next time it goes up, or with `{typed('trn scale')}`"
            )
