"""The idle guard and the budget in the rehearsed days: the guard decides by the very function that runs in its pod."""

from collections.abc import Sequence

from addons.idle_guard import IdleGuardSettings
from addons.idle_guard.pod.decision import Idle, Memory, Node, Pod, Scaling, Seen, decide
from addons.idle_guard.pod.guard import settings_of as guard_settings_of
from addons.idle_guard.values import guard_settings
from simulator.calendar.run import Days, Entry
from simulator.calendar.spending import Alarm, crossings
from simulator.calendar.watch import Act, Sight, Watch
from simulator.costs import CostItem
from stacks.cluster import cluster_of
from stacks.settings import Settings
from trn.rehearsal.calendar.view import always


def watch_of(settings: Settings) -> Watch | None:
    """The stack's guard; None where it has none."""
    if not settings.addons.of(IdleGuardSettings).enabled:
        return None
    guard = guard_settings_of(guard_settings(cluster_of(settings), ""))
    memory: dict[str, Memory] = {}

    def look(sight: Sight) -> Sequence[Act]:
        decision = decide(guard, _seen(sight, settings), memory)
        memory.clear()
        memory.update(decision.memory)
        return [Act(item.group, _words(item, sight), item.empty) for item in decision.tell]

    return look


def _seen(sight: Sight, settings: Settings) -> Seen:
    nodes = [Node(name, since.timestamp()) for name, (count, since) in sight.nodes.items() for _ in range(count)]
    pods = [Pod("job", sight.busy or "")] if sight.busy or sight.waits else []
    scaling = {
        name: Scaling(desired, settings.node_groups[name].min_size)
        for name, desired in sight.desired.items()
        if name in settings.node_groups
    }
    return Seen(sight.now.timestamp(), nodes, pods, scaling=scaling)


def _words(item: Idle, sight: Sight) -> str:
    hours = (sight.now.timestamp() - item.since) / 3600
    usd = "" if item.usd_per_hour is None else f", {item.usd_per_hour * hours:,.2f} USD since then"
    kept = f"; it is kept: {item.kept_by}" if item.kept_by else ""
    return f"the idle guard sends a message: {item.node_count} nodes, not used for {hours:.1f} hours{usd}{kept}"


def add_budget(days: Days, settings: Settings, costs: list[CostItem]) -> None:
    """Lines for each part of the budget's limit that the days pass, and for its message, which comes later."""
    alarm = settings.budget.alarm
    if alarm is None:
        return
    for found in crossings(days, Alarm(alarm.limit_usd_per_month, alarm.actual_percent), always(costs)):
        limit = f"{found.percent} % of {alarm.limit_usd_per_month:,.0f} USD"
        days.entries.append(Entry(found.passed, "budget", f"the costs pass {limit}; billing data does not show it yet"))
        if found.told < days.end:
            what = f"AWS Budgets has sent its message of {limit} by now, at {found.usd_then:,.0f} USD"
            days.entries.append(Entry(found.told, "budget", what))
    days.entries.sort(key=lambda entry: entry.moment)
