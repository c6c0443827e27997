"""Whether Neuron nodes are idle, and what to do: pure, from what was seen and what is remembered.

In doubt nothing is emptied: a node too many costs money, a node too few costs a job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

HOUR_S = 3600.0
REMIND_S = 24 * HOUR_S
"""Until a message is repeated while nothing changes."""
GAP_S = 0.5 * HOUR_S
"""Longest time between two looks: in a longer one a job may have run and gone without having been seen."""


@dataclass(frozen=True)
class Group:
    """What the stack says of one group of Neuron nodes."""

    name: str
    usd_per_node_hour: float | None
    """None where no price is known, or it is paid all the same."""
    keeps: str = ""
    """Why the guard never empties it; empty where it may."""


@dataclass(frozen=True)
class Settings:
    """What the guard was made with."""

    cluster: str
    region: str
    idle_hours: float
    empties: bool
    """Whether idle groups are set to zero nodes."""
    groups: Sequence[Group]
    stays: Sequence[tuple[str, float]] = ()
    """What bills without any Neuron node, with USD an hour."""


@dataclass(frozen=True)
class Node:
    """A Kubernetes node of a group. Times are seconds since 1970."""

    group: str
    created: float
    is_ready: bool = True
    is_cordoned: bool = False


@dataclass(frozen=True)
class Pod:
    """A pod that asks for Neuron, or stands on a Neuron node."""

    name: str
    group: str = ""
    """Of its node; empty while it has none."""
    wants_neuron: bool = True
    is_daemon: bool = False
    """Whether it belongs to its node, as those of DaemonSets do."""
    ended: float | None = None
    """When it ended; None while it may still run."""


@dataclass(frozen=True)
class Scaling:
    """How EKS has a group at this moment."""

    desired: int
    least: int
    is_active: bool = True
    """Whether no change of it is under way."""


@dataclass(frozen=True)
class Seen:
    """The cluster at one moment."""

    now: float
    nodes: Sequence[Node] = ()
    pods: Sequence[Pod] = ()
    waiting: Sequence[str] = ()
    """Gangs and workloads that wait for nodes and have no pods yet."""
    scaling: Mapping[str, Scaling] = field(default_factory=dict)
    """By group; only of those that the guard may empty."""


@dataclass(frozen=True)
class Memory:
    """What is kept of one group from look to look."""

    used: float
    """When it was last used, or began to be looked at."""
    told: float | None = None
    """When a message was sent last."""
    desired: int | None = None
    looked: float | None = None
    """When it was looked at last; None where that is not known, and then nothing is concluded from it."""


@dataclass(frozen=True)
class Idle:
    """One idle group, and what becomes of it."""

    group: str
    node_count: int
    since: float
    empty: bool
    kept_by: str = ""
    """Why it is not emptied; empty where it is, or where the guard only sends messages."""
    usd_per_hour: float | None = None
    is_due: bool = True
    """Whether a message is due; otherwise there is one only where it is emptied indeed, and none each time that EKS refuses."""


@dataclass(frozen=True)
class Decision:
    """What follows from a look."""

    memory: Mapping[str, Memory]
    idle: Sequence[Idle] = ()
    """All groups that are idle for long enough."""
    tell: Sequence[Idle] = ()
    """Those of them that a message is due about."""

    @property
    def empty(self) -> tuple[str, ...]:
        """Groups that are set to zero nodes."""
        return tuple(item.group for item in self.idle if item.empty)


def decide(settings: Settings, seen: Seen, memory: Mapping[str, Memory]) -> Decision:
    """What to remember, whom to tell and what to empty. A group without nodes is forgotten."""
    kept, idle, tell = dict[str, Memory](), list[Idle](), list[Idle]()
    for group in settings.groups:
        nodes = [node for node in seen.nodes if node.group == group.name]
        if not nodes:
            continue
        scaling = seen.scaling.get(group.name)
        before = memory.get(group.name)
        used = _used(group.name, nodes, seen, before)
        told = before.told if before is not None and before.used == used else None
        kept[group.name] = Memory(used, told, scaling.desired if scaling else None, seen.now)
        if seen.now - used < settings.idle_hours * HOUR_S or (scaling is not None and scaling.desired == 0):
            continue
        why = _kept_by(group, nodes, scaling) if settings.empties else ""
        usd = None if group.usd_per_node_hour is None else group.usd_per_node_hour * len(nodes)
        is_due = told is None or seen.now - told >= REMIND_S
        item = Idle(group.name, len(nodes), used, settings.empties and not why, why, usd, is_due)
        idle.append(item)
        if item.empty or is_due:
            tell.append(item)
        if is_due:
            kept[group.name] = replace(kept[group.name], told=seen.now)
    return Decision(kept, tuple(idle), tuple(tell))


def _used(group: str, nodes: Sequence[Node], seen: Seen, before: Memory | None) -> float:
    """When a group was last used. What is not placed yet may want any group; a new node, or a new size, is a use."""
    if before is None or seen.waiting:
        return seen.now
    # A clock that was ahead would keep the guard silent until then; after a time without looks the hours are counted anew.
    if before.used > seen.now or (before.looked is not None and not 0 <= seen.now - before.looked <= GAP_S):
        return seen.now
    scaling = seen.scaling.get(group)
    if scaling is not None and before.desired is not None and scaling.desired > before.desired:
        return seen.now
    there = [pod for pod in seen.pods if pod.group in ("", group)]
    for pod in there:
        # A pod of any kind that is no part of its node: it was put there on purpose.
        if pod.ended is None and (pod.wants_neuron or (pod.group and not pod.is_daemon)):
            return seen.now
    ends = [pod.ended for pod in there if pod.group and pod.ended is not None and not pod.is_daemon]
    return max(before.used, *(node.created for node in nodes), *ends)


def _kept_by(group: Group, nodes: Sequence[Node], scaling: Scaling | None) -> str:
    """Why an idle group is not emptied; empty where it may be."""
    if group.keeps:
        return group.keeps
    if scaling is None:
        return "EKS did not say how large it is"
    if not scaling.is_active:
        return "EKS is changing it"
    if scaling.least > 0:
        return f"its smallest size is {scaling.least}"
    if any(node.is_cordoned for node in nodes):
        return "a node of it is cordoned"
    if not all(node.is_ready for node in nodes):
        return "a node of it is not ready: what runs there is not known"
    if scaling.desired != len(nodes):
        return f"it has {len(nodes)} nodes and EKS wants {scaling.desired}: it is growing or shrinking"
    return ""


def subject(settings: Settings, told: Sequence[Idle]) -> str:
    """First line of the message; SNS takes 99 characters of ASCII."""
    count = sum(item.node_count for item in told)
    nodes = "1 Neuron node" if count == 1 else f"{count} Neuron nodes"
    return f"{settings.cluster}: {nodes} idle"[:99]


def text(settings: Settings, told: Sequence[Idle], failed: Mapping[str, str], now: float, *, is_done: bool = True) -> str:
    """The message. `failed`: groups that could not be emptied, with what EKS said. `is_done`: whether EKS has answered; it is not known
    otherwise, since the guard was stopped."""
    lines = [f"Cluster {settings.cluster} in {settings.region}, {_time(now)}.", ""]
    for item in told:
        hours = (now - item.since) / HOUR_S
        nodes = "1 node" if item.node_count == 1 else f"{item.node_count} nodes"
        lines.append(f"{item.group}: {nodes}, not used since {_time(item.since)}, {hours:.1f} hours ago.")
        if item.usd_per_hour is not None:
            lines.append(f"  {item.usd_per_hour:,.2f} USD an hour, {item.usd_per_hour * hours:,.2f} USD since then, at list price.")
        if item.group in failed:
            lines.append(f"  It could not be set to zero nodes: {failed[item.group]}")
        elif item.empty and not is_done:
            lines.append(
                f"  It was about to be set to zero nodes when the guard stopped. `trn scale STACK {item.group} {item.node_count}` brings them back."
            )
        elif item.empty:
            lines.append(f"  It was set to zero nodes. `trn scale STACK {item.group} {item.node_count}` brings them back.")
        else:
            lines.append(
                f"  Nothing was changed{': ' + item.kept_by if item.kept_by else ''}. `trn scale STACK {item.group} 0` stops them."
            )
    if settings.stays:
        total = sum(usd for _, usd in settings.stays)
        lines += ["", f"Without any Neuron node the cluster bills {total:,.2f} USD an hour:"]
        lines += [f"  {usd:.3f}  {what}" for what, usd in settings.stays]
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
