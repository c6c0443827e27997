"""The virtual clock: a queue by (time, key), at most N operations at once. Ties go by key, so one seed gives one trace."""

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from simulator.account.rule import Refusal
from simulator.engine.jobs import Job, Same

Operation = Literal["create", "update", "delete"]
OPERATIONS: Mapping[str, Operation] = {"creating": "create", "updating": "update", "deleting": "delete"}


@dataclass(frozen=True)
class Step:
    """One operation on one resource, in virtual seconds since its run began."""

    urn: str
    operation: Operation
    start: float
    end: float
    attempts: int = 1
    refusal: Refusal | None = None
    cut: bool = False
    """Whether the run was killed before it ended."""
    slot_wait_s: float = 0.0
    """How long it was ready before its start: as many operations as the engine runs at once were under way."""

    @property
    def error(self) -> str | None:
        """What the engine prints where it was refused."""
        return None if self.refusal is None else str(self.refusal)


Listener = Callable[[float, Step, bool], None]
"""Called with (clock, step, whether it has ended), in the order of the clock."""


class Clock:
    """Runs jobs, at most `parallel` at once."""

    def __init__(self, parallel: int, listener: Listener | None, jobs: Mapping[str, Job]) -> None:
        self._parallel, self._listener, self._jobs = parallel, listener, jobs
        self._ready: list[tuple[float, str]] = []
        self._events: list[tuple[float, str]] = []
        self._running: set[str] = set()
        self._order: list[str] = []
        self.now = 0.0
        self.steps: dict[str, Step] = {}
        self.predecessors: dict[str, str | None] = {}
        self.planned: dict[str, float] = {}
        """When each operation would end if nothing came between."""
        self.stopping = False
        """Nothing new is started any more."""

    @property
    def order(self) -> tuple[str, ...]:
        """Keys in the order in which they ended."""
        return tuple(self._order)

    @property
    def running(self) -> list[str]:
        """Keys of operations under way."""
        return sorted(self._running)

    def idle(self) -> bool:
        """Whether what asks is all that is under way and nothing waits for a free slot."""
        return len(self._running) <= 1 and not (self._ready and not self.stopping)

    def offer(self, key: str, at: float, predecessor: str | None) -> None:
        """A job may start from a time on; `predecessor` is what it depends on and waited for last."""
        self.predecessors[key] = predecessor
        heapq.heappush(self._ready, (at, key))

    def next(self, until: Callable[[], float | None] = lambda: None) -> str | None:
        """Let the next job end, and give its key; None when nothing is under way, or when the clock would pass `until`.

        `until` is asked anew after each start: what begins may be what it depends on.
        """
        while True:
            self._start()
            latest = until()
            if not self._events or (latest is not None and self._events[0][0] > latest):
                return None
            self.now, key = heapq.heappop(self._events)
            more = self._jobs[key].event(self.now)
            if more is None:
                self._end(key)
                return key
            assert more >= 0.1, f"{key} asks again at once, for ever"
            heapq.heappush(self._events, (round(self.now + more, 1), key))

    def _start(self) -> None:
        while self._ready and len(self._running) < self._parallel and not self.stopping:
            at, key = self._ready[0]
            if self._events and self._events[0][0] < max(at, self.now):
                return
            heapq.heappop(self._ready)
            start = max(at, self.now)
            self.now = start
            job = self._jobs[key]
            self._running.add(key)
            seconds = job.begin(start)
            step = Step(
                job.registration.urn, OPERATIONS[job.doing], round(start, 1), round(start + seconds, 1), slot_wait_s=round(start - at, 1)
            )
            self.steps[key] = step
            self.planned[key] = step.end
            heapq.heappush(self._events, (step.end, key))
            self._tell(start, step, False)

    def _end(self, key: str) -> None:
        job = self._jobs[key]
        self._running.discard(key)
        self._order.append(key)
        begun = self.steps[key]
        self.steps[key] = replace(begun, end=round(self.now, 1), attempts=job.attempts, refusal=job.refusal)
        self._tell(self.now, self.steps[key], True)

    def stop_at(self, at: float) -> None:
        """The run is killed: no end is recorded of what is under way."""
        self.now = at
        for key in self._running:
            self.steps[key] = replace(self.steps[key], end=round(at, 1), cut=True)

    def took_time(self, key: str) -> bool:
        """Whether a job changes something outside the engine."""
        return not isinstance(self._jobs[key], Same)

    def _tell(self, at: float, step: Step, ended: bool) -> None:
        if self._listener is not None:
            self._listener(at, step, ended)
