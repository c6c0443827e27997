"""One operation each, as the clock meets it: when it is asked again, when it ends, and what it leaves."""

from collections.abc import Callable
from typing import Protocol

from facts.typed import typed
from simulator import latencies
from simulator.account.rule import Refusal
from simulator.account.world import World
from simulator.engine.state import Doing, State
from simulator.recording import Registration, exists_in_cloud

POLL_S = 10.0
"""Between two tries of the same request, and two looks at something that is not ready."""
REFUSED_S = 1.0
"""Until a service has answered a request that it refuses."""
WEBHOOK_RETRY_S, WEBHOOK_TRIES = 5.0, 100
"""A resource with an error hook is tried again after a failed webhook call. How long the hook waits is the program's own
business, here it is always the same; the engine stops at 100 (pulumi/pulumi, 3.260)."""
_WEBHOOK_FAILED = "failed calling webhook"


class Job(Protocol):
    """An operation. Its times are virtual seconds."""

    doing: Doing

    @property
    def registration(self) -> Registration:
        """What it is about."""
        ...

    @property
    def attempts(self) -> int:
        """Tries so far."""
        ...

    @property
    def refusal(self) -> Refusal | None:
        """Why it has ended without success."""
        ...

    def begin(self, now: float, /) -> float:
        """Start; seconds until something happens."""
        ...

    def event(self, now: float, /) -> float | None:
        """Take the next step: seconds until the one after it; None when the job has ended, well or with a refusal."""
        ...

    def saved(self, state: State) -> None:
        """Write down how it ended."""
        ...


class _Asking:
    """A request that may be refused for a while."""

    doing: Doing

    def __init__(self, registration: Registration, world: World, seconds: float, idle: Callable[[], bool]) -> None:
        self.registration, self.attempts = registration, 1
        self.refusal: Refusal | None = None
        self._world, self._seconds, self._idle = world, seconds, idle
        self._began, self._accepted, self._over = 0.0, False, False

    def begin(self, now: float, /) -> float:
        self._began = now
        return self._ask(now)

    def event(self, now: float, /) -> float | None:
        if self._over:
            return None
        return self._look(now) if self._accepted else self._ask(now)

    def _request(self) -> Refusal | None:
        raise NotImplementedError

    def _ask(self, now: float) -> float:
        refusal = self._request()
        if refusal is None:
            self._accepted = True
            return self._seconds
        wait = self._wait(now, refusal)
        if wait is not None:
            return wait
        self._world.faults.ended(self.registration)
        if _WEBHOOK_FAILED in refusal.text and self.registration.options.get("hooks") and self.attempts < WEBHOOK_TRIES:
            self.attempts += 1
            return WEBHOOK_RETRY_S
        self.refusal, self._over = refusal, True
        return REFUSED_S

    def _look(self, now: float, /) -> float | None:
        raise NotImplementedError

    def _wait(self, now: float, refusal: Refusal) -> float | None:
        """Seconds until the next try; None when the time for tries is over."""
        left = refusal.retry_s - (now - self._began)
        # The clock knows tenths.
        if left < 0.1:
            return None
        self.attempts += 1
        # When nothing else is under way nothing will change: only the end of the tries is left to wait for.
        return left if self._idle() else min(POLL_S, left)


class Create(_Asking):
    """Making something and awaiting it."""

    doing: Doing = "creating"

    def __init__(
        self, registration: Registration, world: World, seconds: float, idle: Callable[[], bool], *, replaced: bool = False
    ) -> None:
        """`replaced`: it is made in place of a live one, which is deleted when all else is done."""
        super().__init__(registration, world, seconds, idle)
        self._replaced = replaced

    def _request(self) -> Refusal | None:
        return self._world.begin_create(self.registration)

    def _look(self, now: float, /) -> float | None:
        refusal = self._world.settle(self.registration)
        if refusal is not None:
            wait = self._wait(now, refusal)
            if wait is not None:
                return wait
            self._world.abandon(self.registration, refusal)
            self.refusal = refusal
        self._world.faults.ended(self.registration)
        return None

    def saved(self, state: State) -> None:
        if self.refusal is None:
            state.save(self.registration, replaced=self._replaced)
        elif self.refusal.leaves != "nothing":
            state.save(self.registration, self.refusal.text, replaced=self._replaced)


class Update(_Asking):
    """Changing something in place, or awaiting again what did not become ready."""

    doing: Doing = "updating"

    def __init__(self, old: Registration, new: Registration, world: World, seconds: float, idle: Callable[[], bool]) -> None:
        super().__init__(new, world, seconds, idle)
        self.old = old

    def _request(self) -> Refusal | None:
        return self._world.update(self.old, self.registration)

    def _look(self, _now: float, /) -> float | None:
        self._world.faults.ended(self.registration)
        return None

    def saved(self, state: State) -> None:
        if self.refusal is None:
            state.save(self.registration)


class Delete(_Asking):
    """Deleting something and awaiting that it is gone."""

    doing: Doing = "deleting"

    def __init__(self, registration: Registration, world: World, seconds: float, idle: Callable[[], bool], *, first: bool = False) -> None:
        """`first`: it makes room for its successor, and keeps its place in the state until that is made."""
        super().__init__(registration, world, seconds, idle)
        self._first = first

    def _request(self) -> Refusal | None:
        return self._world.begin_delete(self.registration)

    def _look(self, _now: float, /) -> float | None:
        self._world.finish_delete(self.registration)
        self._world.faults.ended(self.registration)
        return None

    def saved(self, state: State) -> None:
        if self.refusal is None and self._first:
            state.deleted_first(self.registration.urn)
        elif self.refusal is None:
            state.forget(self.registration)


class Same:
    """Nothing to do: components, providers, and what has not changed."""

    doing: Doing = "updating"

    def __init__(self, registration: Registration, *, replaced: bool = False) -> None:
        self.registration, self.attempts = registration, 1
        self.refusal: Refusal | None = None
        self._replaced = replaced

    def begin(self, _now: float, /) -> float:
        return 0.0

    def event(self, _now: float, /) -> float | None:
        return None

    def saved(self, state: State) -> None:
        state.save(self.registration, replaced=self._replaced)


class Gone(Same):
    """Nothing to delete: it was deleted by an earlier run, to make room for a successor that is no longer wanted."""

    doing: Doing = "deleting"

    def saved(self, state: State) -> None:
        state.forget(self.registration)


class Protected(Same):
    """A replacement that the engine refuses before it makes anything: the old one is protected, or what would be deleted with it is.

    Source: pulumi/pulumi pkg/resource/deploy/step_generator.go, where the program and the state both have `protect`; 2026-08.
    """

    def __init__(self, registration: Registration, protected: Registration) -> None:
        super().__init__(registration)
        self.refusal = Refusal(
            "error",
            f'unable to replace resource "{registration.urn}" as it is currently marked for protection'
            if registration.urn == protected.urn
            else f'unable to replace resource "{protected.urn}" as part of replacing "{registration.urn}" as it is currently marked for protection',
            f"{protected.name} has the option protect",
            f"remove the option from {protected.name} in the program, and run `{typed('pulumi up')}`: it may be replaced by the same run",
        )

    def saved(self, state: State) -> None:
        """Nothing: it stays as it was."""


def create_job(registration: Registration, world: World, seed: int, idle: Callable[[], bool], *, replaced: bool = False) -> Job:
    """Making one resource, with its latency and what faults add to it."""
    if not exists_in_cloud(registration):
        return Same(registration, replaced=replaced)
    seconds = latencies.seconds(registration, "create", seed) + world.faults.delay_s("create", registration)
    return Create(registration, world, seconds, idle, replaced=replaced)


def delete_job(registration: Registration, world: World, seed: int, idle: Callable[[], bool], *, first: bool = False) -> Job:
    """Deleting one resource. What the cloud does not have, or what is kept in it on purpose, takes no time."""
    retained = bool(registration.options.get("retainOnDelete"))
    seconds = 0.0 if retained else latencies.seconds(registration, "delete", seed)
    return Delete(registration, world, seconds, idle, first=first)
