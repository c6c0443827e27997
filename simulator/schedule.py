"""Runs up and destroy of a recording with a virtual clock, by the engine's own rules of order."""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from simulator import engine_order, latencies
from simulator.recording import Recording, Registration
from simulator.world import World

Operation = Literal["create", "delete"]


@dataclass(frozen=True)
class Step:
    """One operation on one resource, in virtual seconds since its phase began."""

    urn: str
    operation: Operation
    start: float
    end: float
    attempts: int = 1
    error: str | None = None


Listener = Callable[[float, Step, bool], None]
"""Told at (clock, step, whether it has ended); steps are told in the order of the clock."""


@dataclass(frozen=True)
class Phase:
    """A finished up or destroy."""

    steps: Mapping[str, Step]
    """By URN; operations that never started are missing."""
    order: tuple[str, ...]
    """URNs in the order in which they ended."""
    predecessors: Mapping[str, str | None]
    """What each operation waited for last: None where it waited for nothing."""

    @property
    def seconds(self) -> float:
        """When the last operation ended."""
        return max((step.end for step in self.steps.values()), default=0.0)

    @property
    def errors(self) -> list[Step]:
        """Operations that were refused, by URN."""
        return [self.steps[urn] for urn in sorted(self.steps) if self.steps[urn].error]


def run_up(
    recording: Recording,
    world: World,
    *,
    seed: int,
    parallel: int = engine_order.DEFAULT_PARALLEL,
    begin: float = 0.0,
    listener: Listener | None = None,
) -> Phase:
    """Make everything. `begin`: when the program has started to register resources."""
    needs = engine_order.creation_dependencies(recording)
    clock = _Clock(parallel, listener)
    dependents: dict[str, list[str]] = {}
    missing = {urn: len(names) for urn, names in needs.items()}
    for urn, names in needs.items():
        for name in names:
            dependents.setdefault(name, []).append(urn)
    for urn in sorted(urn for urn, count in missing.items() if count == 0):
        clock.offer(urn, begin, None)
    while (ended := clock.next(lambda urn: latencies.seconds(recording.registrations[urn], "create", seed), "create")) is not None:
        world.create(recording.registrations[ended.urn])
        for urn in sorted(dependents.get(ended.urn, ())):
            missing[urn] -= 1
            if missing[urn] == 0:
                clock.offer(urn, ended.end, ended.urn)
    stuck = sorted(urn for urn, count in missing.items() if count > 0)
    if stuck:
        raise ValueError(f"dependency cycle among {stuck}")
    return clock.phase()


def run_destroy(
    recording: Recording, world: World, *, seed: int, parallel: int = engine_order.DEFAULT_PARALLEL, listener: Listener | None = None
) -> Phase:
    """Delete everything, level by level. A refusal lets its own level finish and stops the run there."""
    clock = _Clock(parallel, listener)
    barrier, last = 0.0, None
    for level in engine_order.deletion_levels(recording):
        for urn in level:
            clock.offer(urn, barrier, last)
        refused = False
        while (ended := clock.next(lambda urn: latencies.seconds(recording.registrations[urn], "delete", seed), "delete")) is not None:
            refusal = world.delete(recording.registrations[ended.urn])
            if refusal is not None:
                clock.fail(ended, str(refusal))
                refused = True
            if ended.end > barrier or last is None:
                barrier, last = ended.end, ended.urn
        if refused:
            break
    return clock.phase()


class _Clock:
    """A queue by (time, URN) and a number of hands: ties leave in the order of their names, so one seed gives one trace."""

    def __init__(self, parallel: int, listener: Listener | None) -> None:
        self._parallel, self._listener = parallel, listener
        self._ready: list[tuple[float, str]] = []
        self._running: list[tuple[float, str]] = []
        self._now = 0.0
        self._steps: dict[str, Step] = {}
        self._order: list[str] = []
        self._predecessors: dict[str, str | None] = {}

    def offer(self, urn: str, at: float, predecessor: str | None) -> None:
        self._predecessors[urn] = predecessor
        heapq.heappush(self._ready, (at, urn))

    def next(self, duration: Callable[[str], float], operation: Operation) -> Step | None:
        """Start what can be started, then let the next operation end; None when nothing is left."""
        while self._ready and len(self._running) < self._parallel:
            at, urn = self._ready[0]
            if self._running and self._running[0][0] < max(at, self._now):
                break
            heapq.heappop(self._ready)
            start = max(at, self._now)
            if start > at and self._order:
                # It was ready before, and waited for a hand: the operation that freed it is what it waited for last.
                self._predecessors[urn] = self._order[-1]
            step = Step(urn, operation, round(start, 1), round(start + duration(urn), 1))
            self._steps[urn] = step
            heapq.heappush(self._running, (step.end, urn))
            self._tell(start, step, False)
        if not self._running:
            return None
        self._now, urn = heapq.heappop(self._running)
        self._order.append(urn)
        self._tell(self._now, self._steps[urn], True)
        return self._steps[urn]

    def fail(self, step: Step, error: str) -> None:
        self._steps[step.urn] = Step(step.urn, step.operation, step.start, step.end, step.attempts, error)

    def phase(self) -> Phase:
        return Phase(self._steps, tuple(self._order), self._predecessors)

    def _tell(self, at: float, step: Step, ended: bool) -> None:
        if self._listener is not None:
            self._listener(at, step, ended)


def critical_path(recording: Recording, phase: Phase) -> list[Registration]:
    """The chain of waits that ends last, first one first; components and providers, which take no time, are left out."""
    if not phase.steps:
        return []
    urn: str | None = max(sorted(phase.steps), key=lambda name: phase.steps[name].end)
    chain: list[Registration] = []
    while urn is not None:
        registration = recording.registrations[urn]
        if phase.steps[urn].end > phase.steps[urn].start:
            chain.append(registration)
        urn = phase.predecessors[urn]
    return chain[::-1]
