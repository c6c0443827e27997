"""Blocks and reservations of a stack in time, beside its jobs and their limits: what does not fit, as findings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from facts.capacity_blocks import EKS_SCALE_DOWN
from facts.names import CLUSTER_TAG, GROUP_LABEL, POOL_LABEL
from facts.typed import typed
from stacks.settings import Settings
from trn.aws.zones import Reservation
from trn.before.capacity.ways import LIVING
from trn.cli.findings import Finding, failed, passed, warned
from trn.engine.needs import purchases
from trn.kubernetes.claimed import is_neuron
from trn.kubernetes.jobs.job import FoundJob
from trn.kubernetes.jobs.look import View

_LIMIT = "activeDeadlineSeconds"
"""Kubernetes API, PodSpec and JobSpec; what launchers write a job's `timeLimit` into."""


@dataclass(frozen=True)
class Held:
    """A reservation or block, and what of the stack is on it."""

    reservation: Reservation
    paths: tuple[str, ...]
    """Sections of the stack file that name it."""
    groups: tuple[str, ...]
    """Node groups among them."""
    emptied: datetime | None
    """When its nodes are drained; None for one without an end."""
    other: str = ""
    """Another cluster that it was bought for; empty where none is known."""


@dataclass(frozen=True)
class RunningJob:
    """A job that is not over."""

    name: str
    group: str
    """Node group on which it runs, or that it asks for; empty where neither is known."""
    starts: datetime
    """When its pods started; the present for one that waits."""
    is_running: bool
    limit: timedelta | None
    """None where nothing ends it."""
    pool: str = ""
    """Pool of Karpenter's, in place of a node group."""

    @property
    def path(self) -> str:
        """Section of the stack file that its nodes come from; empty where it is not known."""
        if self.pool:
            return f"addons.karpenter.neuronPools.{self.pool}"
        return f"nodeGroups.{self.group}" if self.group else ""

    @property
    def ends(self) -> datetime | None:
        """At the latest, if it starts now at the latest."""
        return None if self.limit is None else self.starts + self.limit


@dataclass(frozen=True)
class Calendar:
    """Everything in time."""

    now: datetime
    held: tuple[Held, ...]
    """In the order of their starts."""
    jobs: tuple[RunningJob, ...]
    unseen: str
    """Why the jobs are not known; empty where they are."""
    findings: tuple[Finding, ...]


def calendar(settings: Settings, found: Mapping[str, Reservation], jobs: Sequence[RunningJob], unseen: str, now: datetime) -> Calendar:
    """Join the account's reservations of the stack's types with the stack file and the jobs. `unseen`: why jobs are not known."""
    held = [_held(settings, one) for one in found.values()]
    shown = sorted((one for one in held if _is_shown(one, now)), key=lambda one: (one.reservation.starts or now, one.reservation.id))
    told = [
        *_of_file(settings, found, now),
        *_unused(shown),
        *_gaps(shown),
        *_of_jobs(shown, jobs),
        *_of_nights(settings, jobs, now),
        *_starts(settings, shown, now),
    ]
    return Calendar(now, tuple(shown), tuple(jobs), unseen, tuple(told))


def _is_shown(one: Held, now: datetime) -> bool:
    return one.reservation.state in LIVING and (one.reservation.ends is None or one.reservation.ends > now)


def _held(settings: Settings, one: Reservation) -> Held:
    paths = tuple(item.path for item in purchases(settings) if item.capacity_reservation_id == one.id)
    groups = tuple(name for name, group in settings.node_groups.items() if group.capacity_reservation_id == one.id)
    margins = [
        group.capacity_block.checkpoint_minutes for name in groups if (group := settings.node_groups[name]).capacity_block is not None
    ]
    margin = max([EKS_SCALE_DOWN, *(timedelta(minutes=minutes) for minutes in margins)])
    cluster = one.tags.get(CLUSTER_TAG, "")
    other = "" if paths or cluster == settings.name else cluster
    return Held(one, paths, groups, one.ends - margin if one.ends is not None and one.is_block else one.ends, other)


def _of_file(settings: Settings, found: Mapping[str, Reservation], now: datetime) -> Iterator[Finding]:
    """Ids and times in the stack file beside what the account has."""
    for item in purchases(settings):
        if item.capacity_reservation_id is None:
            continue
        one, key = found.get(item.capacity_reservation_id), f"{item.path}.capacityReservationId"
        if one is None:
            yield failed(
                "stack file", f"`{key}`: {item.capacity_reservation_id} is not in {settings.region}", "correct the id, or remove it"
            )
        elif one.state not in LIVING or (one.ends is not None and one.ends <= now):
            yield failed("stack file", f"`{key}`: {one.id} is {one.state}", "set the group's `size: 0`, or name another block")
    for name, group in settings.node_groups.items():
        one = found.get(group.capacity_reservation_id or "")
        if group.capacity_block is None or one is None or one.ends is None:
            continue
        window = group.capacity_block.window
        if window.ends != one.ends or (one.starts is not None and window.starts != one.starts):
            what = f"`nodeGroups.{name}.capacityBlock` is {_span(window.starts, window.ends)}, EC2 has {_span(one.starts, one.ends)}"
            yield failed("times", what, "copy EC2's times: an extension moves the end")


def _unused(held: Iterable[Held]) -> Iterator[Finding]:
    for one in held:
        if not one.paths and not one.other:
            kind = "block" if one.reservation.is_block else "reservation"
            do = "name it in `nodeGroups.NAME.capacityReservationId`: it is billed whether nodes use it or not"
            yield warned("not in the stack file", f"{kind} {one.reservation.id}, {_span(one.reservation.starts, one.reservation.ends)}", do)


def _gaps(held: Sequence[Held]) -> Iterator[Finding]:
    """Times without a block between those of one type; blocks of other clusters fill none."""
    ours = (one.reservation for one in held if one.reservation.is_block and not one.other)
    spans = [(one.instance_type, one.starts, one.ends, one.id) for one in ours if one.starts is not None and one.ends is not None]
    for kind in sorted({span[0] for span in spans}):
        until: tuple[datetime, str] | None = None
        for _, starts, ends, which in (span for span in spans if span[0] == kind):
            if until is not None and starts > until[0]:
                what = f"{_length(starts - until[0])} without {kind}, {_span(until[0], starts)}"
                yield warned("gap", what, f"jobs on {until[1]} save a checkpoint before, and go on after {starts:%Y-%m-%d %H:%M}")
            until = (ends, which) if until is None else max(until, (ends, which))


def _of_jobs(held: Sequence[Held], jobs: Iterable[RunningJob]) -> Iterator[Finding]:
    for job in jobs:
        one = next((one for one in held if job.path in one.paths), None)
        if one is None or one.emptied is None:
            continue
        until = f"{one.reservation.id} is emptied at {one.emptied:%Y-%m-%d %H:%M}"
        if job.ends is None:
            yield warned("job", f"{job.name} has no time limit; {until}", "set `timeLimit`, and save checkpoints: it is stopped there")
        elif job.ends > one.emptied:
            what = f"{job.name} may run until {job.ends:%Y-%m-%d %H:%M}; {until}"
            do = f"save a checkpoint before, or extend the block: {_length(job.ends - one.emptied)} are missing"
            yield failed("job", what, do)
        else:
            yield passed("job", f"{job.name} ends by {job.ends:%Y-%m-%d %H:%M}; {until}")


def _of_nights(settings: Settings, jobs: Iterable[RunningJob], now: datetime) -> Iterator[Finding]:
    """Jobs on groups that a schedule empties."""
    for job in jobs:
        group = settings.node_groups.get(job.group)
        if group is None or group.schedule is None:
            continue
        down = group.schedule.hours.next_down(now)
        if down is None or (job.ends is not None and job.ends <= down):
            continue
        ends = f"may run until {job.ends:%Y-%m-%d %H:%M}" if job.ends is not None else "has no time limit"
        what = f"{job.name} {ends}; the schedule of `nodeGroups.{job.group}` empties it at {down:%Y-%m-%d %H:%M}"
        again = "it goes on in the morning" if group.schedule.up_at else f"it goes on after `{typed('trn scale')}`"
        yield warned("job", what, f"save a checkpoint before: {again}; without one it starts anew")


def _starts(settings: Settings, held: Iterable[Held], now: datetime) -> Iterator[Finding]:
    """What begins by itself, and when."""
    for one in held:
        starts = one.reservation.starts
        if starts is None or starts <= now:
            continue
        for name in one.groups:
            group = settings.node_groups[name]
            if group.capacity_block is not None:
                yield passed("start", f"`nodeGroups.{name}` goes to {group.size} nodes at {starts:%Y-%m-%d %H:%M}")
            elif group.size:
                do = f"set `nodeGroups.{name}.capacityBlock` with startsAt and endsAt, or `size: 0` until then"
                yield failed("start", f"`nodeGroups.{name}` wants {group.size} nodes before {one.reservation.id} begins", do)
            else:
                do = f"`{typed('trn scale')}` with the size, or `nodeGroups.{name}.capacityBlock`, which does it by itself"
                yield warned("start", f"`nodeGroups.{name}` has size 0: nothing starts at {starts:%Y-%m-%d %H:%M}", do)
    for name, group in settings.node_groups.items():
        if group.schedule is not None:
            up = f", to {group.size} at {group.schedule.up_at}" if group.schedule.up_at else ""
            yield passed("schedule", f"`nodeGroups.{name}` goes to 0 at {group.schedule.down_at}{up}, {group.schedule.time_zone}")


def running_jobs(view: View, now: datetime) -> list[RunningJob]:
    """Jobs of a look that a user started and that are not over."""
    labels_of = {node["metadata"]["name"]: node["metadata"].get("labels") or {} for node in view.nodes}
    return [_running(job, labels_of, now) for job in view.jobs if job.kind.chosen(job.item) and not job.phase.is_over]


def _running(job: FoundJob, labels_of: Mapping[str, Mapping[str, str]], now: datetime) -> RunningJob:
    # Where it runs, of launchers on core nodes the last; else what it asks for.
    pods = sorted(job.pods, key=lambda pod: not _asks_for_neuron(pod["spec"]))
    places = [*(labels_of.get(pod["spec"].get("nodeName", ""), {}) for pod in pods), job.pod_spec.get("nodeSelector") or {}]
    found = [(labels.get(GROUP_LABEL, ""), labels.get(POOL_LABEL, "")) for labels in places]
    group, pool = next((place for place in found if any(place)), ("", ""))
    started = sorted(pod["status"]["startTime"] for pod in job.pods if pod.get("status", {}).get("startTime"))
    limits = sorted(_limits(job.item)) or sorted(_limits(job.pod_spec))
    starts = datetime.fromisoformat(started[0]).astimezone(UTC) if started else now
    return RunningJob(job.name, group, starts, bool(started), timedelta(seconds=limits[0]) if limits else None, pool)


def _asks_for_neuron(spec: Mapping[str, Any]) -> bool:
    asked = ((container.get("resources") or {}).get("limits") or {} for container in spec.get("containers") or ())
    return any(is_neuron(name) for limits in asked for name in limits)


def _limits(value: Any) -> Iterator[int]:
    """Every time limit in an object: the shortest ends it."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == _LIMIT and isinstance(item, int):
                yield item
            else:
                yield from _limits(item)
    elif isinstance(value, list):
        for item in value:
            yield from _limits(item)


def _span(starts: datetime | None, ends: datetime | None) -> str:
    begin = f"{starts:%Y-%m-%d %H:%M}" if starts is not None else "some time ago"
    return f"{begin} to {ends:%Y-%m-%d %H:%M}" if ends is not None else f"{begin}, without an end"


def _length(span: timedelta) -> str:
    hours = span.total_seconds() / 3600
    return f"{hours:.0f} h" if hours >= 2 else f"{span.total_seconds() / 60:.0f} min"
