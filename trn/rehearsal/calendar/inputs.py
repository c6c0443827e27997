"""From the settings of a stack to the days that are rehearsed: places, blocks, and when to look."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from addons.idle_guard import IdleGuardSettings
from addons.karpenter import KarpenterSettings
from facts.capacity_blocks import Window
from facts.catalogue import NEURON_TYPES, InstanceType
from simulator.calendar.plan import Place
from stacks.settings import NodeGroup, Settings, largest_size, sized_by_time
from trn.cli.errors import MISUSE, CommandError

ORDINARY_MONDAY = datetime(2027, 1, 11, tzinfo=UTC)
"""A week without a change of the clocks, in which schedules are rehearsed where no block says when."""
AROUND = timedelta(hours=1)
"""What is shown before the first block and after the last."""


def places_of(settings: Settings) -> list[Place]:
    """Groups that blocks or schedules size, or that the idle guard watches, and pools on a block, in the order of the stack file.

    Raises CommandError where there is none.
    """
    found = [*_groups(settings), *_pools(settings)]
    if not found:
        hint = "give a group `capacityBlock` or `schedule` (docs/capacity-blocks.md), or switch `addons.idleGuard` on (docs/money.md)"
        raise CommandError("no node group has times: all have their size day and night", hint, code=MISUSE)
    return found


def _groups(settings: Settings) -> Iterator[Place]:
    guarded = settings.addons.of(IdleGuardSettings).enabled
    for name, group in settings.node_groups.items():
        if sized_by_time(group) or (guarded and group.size > 0):
            yield Place(name, _nodes(group), _price(NEURON_TYPES[group.instance_type], group), _window(group))


def _nodes(group: NodeGroup) -> int:
    return min(group.size, largest_size(group))


def _window(group: NodeGroup) -> Window | None:
    return group.capacity_block.window if group.capacity_block is not None else None


def _price(instance: InstanceType, group: NodeGroup) -> float | None:
    if group.capacity_type == "CAPACITY_BLOCK":
        return instance.block_price_usd_per_hour
    return None if group.capacity_type == "SPOT" else instance.price_usd_per_hour


def _pools(settings: Settings) -> Iterator[Place]:
    karpenter = settings.addons.of(KarpenterSettings)
    for name, pool in karpenter.neuron_pools.items() if karpenter.enabled else ():
        if pool.capacity_block is not None:
            price = NEURON_TYPES[pool.instance_type].block_price_usd_per_hour
            yield Place(name, pool.max_nodes, price, pool.capacity_block.window, is_pool=True)


def blocks_of(settings: Settings) -> dict[str, Window]:
    """Capacity blocks of node groups, by reservation id."""
    groups = settings.node_groups.values()
    return {
        group.capacity_reservation_id: group.capacity_block.window
        for group in groups
        if group.capacity_block is not None and group.capacity_reservation_id is not None
    }


def span(places: list[Place], days: int | None) -> tuple[datetime, datetime]:
    """First and last moment: all blocks, or a week; `days` says how long in either case."""
    windows = [place.block for place in places if place.block is not None]
    start = min((window.starts for window in windows), default=ORDINARY_MONDAY + AROUND) - AROUND
    end = max((window.ends for window in windows), default=start + timedelta(days=7) - AROUND) + AROUND
    return start, start + timedelta(days=days) if days is not None else end
