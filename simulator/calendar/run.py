"""Runs the days: schedules call EKS, EKS and Karpenter empty their nodes before a block ends, EC2 takes what is left, the job moves.

Sources: EKS user guide, capacity-blocks-mng; EC2 user guide, capacity-blocks-how; karpenter-provider-aws, designs/capacity-block-support;
all November 2026. Each change of a size is judged by the simulated account.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from facts.capacity_blocks import EKS_SCALE_DOWN, KARPENTER_DRAIN
from simulator import latencies
from simulator.account import kinds, view
from simulator.account.world import World
from simulator.calendar.plan import Firing, Place, Work
from simulator.calendar.watch import EVERY, Sight, Watch
from simulator.recording import Registration

JOB_START = timedelta(minutes=5)
"""From nodes to the first step: images, restore of the checkpoint; ours, docs/jobs.md has what it depends on."""
POOL_BOOT = timedelta(minutes=6)
"""A node of Karpenter's: inferred, as one of a node group of the same type."""
DRAIN = timedelta(minutes=30)
"""How long a node that leaves its group waits for its pods: the group's termination hook (EKS user guide, managed-node-update-behavior)."""


@dataclass(frozen=True)
class Entry:
    """One line of the calendar."""

    moment: datetime
    subject: str
    """A group, a pool, or `job`."""
    what: str
    is_bad: bool = False


@dataclass
class Stay:
    """Nodes of one place over the days."""

    place: Place
    nodes: int = 0
    node_hours: float = 0.0
    since: datetime | None = None
    """When its nodes began to be paid for; None while there are none."""
    ready: datetime | None = None
    spans: list[tuple[datetime, datetime, int]] = field(default_factory=list)
    """From when to when how many nodes were paid for."""
    generation: int = 0
    """Grows with each change, so that what was planned before it is not done."""

    def begin(self, moment: datetime, nodes: int) -> None:
        """Nodes are launched."""
        self.nodes, self.since, self.ready = nodes, moment, None
        self.generation += 1

    def end(self, moment: datetime) -> None:
        """Its nodes are gone."""
        if self.since is not None:
            self.node_hours += self.nodes * (moment - self.since).total_seconds() / 3600
            self.spans.append((self.since, moment, self.nodes))
        self.nodes, self.since, self.ready = 0, None, None
        self.generation += 1


@dataclass
class Progress:
    """The job over the days."""

    done_hours: float = 0.0
    """What its newest checkpoint holds."""
    lost_hours: float = 0.0
    """What it did and has to do again."""
    where: str | None = None
    since: datetime | None = None
    """Since when it makes steps; None while it starts, and while it does not run."""
    stops: int = 0
    ended: datetime | None = None


@dataclass
class Days:
    """What happened."""

    start: datetime
    end: datetime
    entries: list[Entry] = field(default_factory=list)
    stays: dict[str, Stay] = field(default_factory=dict)
    job: Progress = field(default_factory=Progress)


@dataclass
class _Run:
    world: World
    work: Work
    days: Days
    seed: int
    queue: list[tuple[datetime, bool, int, Callable[[datetime], None]]] = field(default_factory=list)
    count: int = 0

    def at(self, moment: datetime, act: Callable[[datetime], None], *, last: bool = False) -> None:
        """`last`: behind all else of that moment."""
        self.count += 1
        heapq.heappush(self.queue, (moment, last, self.count, act))

    def tell(self, moment: datetime, subject: str, what: str, *, is_bad: bool = False) -> None:
        self.days.entries.append(Entry(moment, subject, what, is_bad))

    # Nodes

    def call(self, firing: Firing, caller: str = "a schedule") -> Callable[[datetime], None]:
        """UpdateNodegroupConfig, as EKS and EC2 take it at that moment."""

        def act(now: datetime) -> None:
            group = _group(self.world, firing.group)
            if group is None:
                self.tell(now, firing.group, f"{caller} calls for a group that is not there: ResourceNotFoundException", is_bad=True)
                return
            if view.desired_size(group) == firing.size:
                return
            self._resize(now, group, firing.size, caller)

        return act

    def _resize(self, now: datetime, old: Registration, size: int, caller: str) -> None:
        name = str(old.inputs["nodeGroupName"])
        stay = self.days.stays[name]
        new = _sized(old, size)
        self.world.state.now = now
        took = timedelta(seconds=latencies.update_seconds(old, new, self.seed))
        if size < view.desired_size(old):
            self.world.update(old, new)
            self.tell(now, name, f"{caller} sets it to {size}: its nodes are drained")
            self._drain(now, stay, now + DRAIN if stay.place.block is None else stay.place.block.terminates)
            return
        refusal = self.world.update(old, new) or self.world.settle(new)
        if refusal is not None:
            self.world.state.put(old)
            self.tell(now, name, f"{caller} sets it to {size}, and EC2 launches nothing: {refusal}", is_bad=True)
            return
        self.tell(now, name, f"{caller} sets it to {size}")
        self._launch(now, stay, size, took)

    def _launch(self, now: datetime, stay: Stay, nodes: int, boot: timedelta) -> None:
        stay.end(now)
        stay.begin(now, nodes)
        generation = stay.generation

        def ready(then: datetime) -> None:
            if stay.generation == generation:
                stay.ready = then
                self.tell(then, stay.place.name, f"{nodes} {'node is' if nodes == 1 else 'nodes are'} ready")
                self.place_job(then)

        self.at(now + boot, ready)

    def _drain(self, now: datetime, stay: Stay, forced: datetime) -> None:
        """Pods get SIGTERM; the nodes are gone when the job has saved, or when they are taken by force."""
        if stay.since is None:
            return
        stay.ready = None
        saved = self._stop_job(now, stay.place.name, forced)
        generation = stay.generation

        def gone(then: datetime) -> None:
            if stay.generation == generation:
                self.tell(then, stay.place.name, "its nodes are gone")
                stay.end(then)
                self.place_job(then)

        if saved <= forced or stay.place.block is None:
            self.at(min(saved, forced), gone)

    def terminate(self, stay: Stay) -> Callable[[datetime], None]:
        """EC2 takes what still runs in the block, without waiting for pods."""

        def act(now: datetime) -> None:
            if stay.since is None:
                return
            self.tell(now, stay.place.name, f"EC2 terminates {stay.nodes} nodes that still run, 30 minutes before the end", is_bad=True)
            self._stop_job(now, stay.place.name, now)
            stay.end(now)

        return act

    def pool_down(self, stay: Stay) -> Callable[[datetime], None]:
        """Karpenter drains its nodes 10 minutes before EC2 terminates the first."""

        def act(now: datetime) -> None:
            assert stay.place.block is not None
            if stay.since is not None:
                self.tell(now, stay.place.name, "Karpenter drains its nodes, 40 minutes before the end of the block")
                self._drain(now, stay, stay.place.block.terminates)

        return act

    def look(self, watch: Watch) -> Callable[[datetime], None]:
        """One look of a watch, and what comes of it."""

        def act(now: datetime) -> None:
            for done in watch(self._sight(now)):
                self.tell(now, done.group, done.what)
                if done.empties:
                    self.call(Firing(now, done.group, 0), "the idle guard")(now)
            self.at(now + EVERY, act, last=True)

        return act

    def _sight(self, now: datetime) -> Sight:
        stays, job = self.days.stays, self.days.job
        groups = {name: group for name in stays if (group := _group(self.world, name)) is not None}
        return Sight(
            now,
            {name: (stay.nodes, stay.ready) for name, stay in stays.items() if stay.ready is not None},
            {name: view.desired_size(group) for name, group in groups.items()},
            job.where,
            job.where is None and job.ended is None,
        )

    # The job

    def place_job(self, now: datetime) -> None:
        """The job starts on the first place that has nodes, where it does not run."""
        job = self.days.job
        if job.where is not None or job.ended is not None:
            return
        for stay in self.days.stays.values():
            if stay.ready is not None:
                job.where, job.since = stay.place.name, None
                again = f"again, from {job.done_hours:.1f} hours" if job.stops else ""
                self.tell(now, "job", f"starts on {stay.place.name} {again}".rstrip())
                self._run_job(now + JOB_START, job.stops)
                return
        for stay in self.days.stays.values():
            block = stay.place.block
            if stay.place.is_pool and stay.since is None and block is not None and block.starts <= now < block.ends - KARPENTER_DRAIN:
                self.tell(now, stay.place.name, f"Karpenter launches {stay.place.nodes} for the waiting job")
                self._launch(now, stay, stay.place.nodes, POOL_BOOT)
                return

    def _run_job(self, first_step: datetime, stops: int) -> None:
        job = self.days.job

        def step(now: datetime) -> None:
            if job.stops == stops and job.where is not None:
                job.since = now
                self.at(now + timedelta(hours=self.work.hours - job.done_hours), end)

        def end(now: datetime) -> None:
            if job.stops == stops and job.where is not None:
                job.done_hours, job.where, job.since, job.ended = self.work.hours, None, None, now
                self.tell(now, "job", f"is done: {self.work.hours:g} hours of work")

        self.at(first_step, step)

    def _stop_job(self, now: datetime, name: str, forced: datetime) -> datetime:
        """The job gets SIGTERM on a place; when its pods end by themselves."""
        job = self.days.job
        if job.where != name:
            return now
        made = (now - job.since).total_seconds() / 3600 if job.since is not None else 0.0
        fits = now + self.work.grace <= forced
        kept = made if fits else made - made % (self.work.interval.total_seconds() / 3600)
        job.done_hours += kept
        job.lost_hours += made - kept
        job.stops += 1
        job.where = job.since = None
        ends = now + self.work.grace
        if fits:
            self.tell(ends, "job", f"has saved its checkpoint: {job.done_hours:.1f} of {self.work.hours:g} hours")
        else:
            minutes = int((forced - now).total_seconds() // 60)
            wrong = f"had {minutes} minutes for a checkpoint that takes {self.work.grace.total_seconds() / 60:.0f}: {made - kept:.1f} hours are lost"
            self.tell(forced, "job", wrong, is_bad=True)
        return ends


def run_days(
    world: World,
    places: Sequence[Place],
    calls: Sequence[Firing],
    work: Work,
    start: datetime,
    end: datetime,
    *,
    before: Mapping[str, int] | None = None,
    watch: Watch | None = None,
    seed: int = 0,
) -> Days:
    """The days from `start` to `end` of an account in which the cluster is up. The account is changed.

    `before`: sizes that schedules had given to groups by then; others have the size that they were made with. `watch`: looks
    at the cluster all the time.
    """
    for name, size in (before or {}).items():
        group = _group(world, name)
        if group is not None:
            world.state.put(_sized(group, size))
    days = Days(start, end, stays={place.name: Stay(place) for place in places})
    run = _Run(world, work, days, seed)
    for stay in days.stays.values():
        group = None if stay.place.is_pool else _group(world, stay.place.name)
        if group is not None and view.desired_size(group):
            stay.begin(start, view.desired_size(group))
            stay.ready = start
    for firing in calls:
        run.at(firing.moment, run.call(firing))
    for stay in days.stays.values():
        block = stay.place.block
        if block is None:
            continue
        if stay.place.is_pool:
            run.at(block.starts, run.place_job)
            run.at(block.ends - KARPENTER_DRAIN, run.pool_down(stay))
        else:
            run.at(block.ends - EKS_SCALE_DOWN, run.call(Firing(block.ends - EKS_SCALE_DOWN, stay.place.name, 0), "EKS itself"))
        run.at(block.terminates, run.terminate(stay), last=True)
    run.at(start, run.place_job)
    if watch is not None:
        run.at(start, run.look(watch), last=True)
    while run.queue and run.queue[0][0] < end:
        moment, _, _, act = heapq.heappop(run.queue)
        act(moment)
    for stay in days.stays.values():
        stay.end(end)
    job = days.job
    if job.since is not None:
        job.done_hours += (end - job.since).total_seconds() / 3600
    days.entries.sort(key=lambda entry: entry.moment)
    return days


def _sized(group: Registration, size: int) -> Registration:
    return replace(group, inputs={**group.inputs, "scalingConfig": {**group.inputs["scalingConfig"], "desiredSize": size}})


def _group(world: World, name: str) -> Registration | None:
    return next((item for item in world.state.ready(kinds.NODE_GROUP) if item.inputs["nodeGroupName"] == name), None)
