"""The crash matrix: for every resource and both operations the run is killed while it is under way, fixed, and run again."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from simulator.account.judge import findings
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.lifecycle import bring_up, take_down
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.recovery import recover
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.recording import Recording

MOMENTS = (0.0, 0.5, 1.0)
"""When the run dies, as a fraction of the operation: before its request has left, half-way, and when it has ended but
is not yet saved in the state."""


@dataclass(frozen=True)
class Case:
    """One kill."""

    urn: str
    operation: Literal["create", "delete"]
    at: float


@dataclass(frozen=True)
class Failure:
    """A kill after which something was wrong."""

    case: Case
    why: tuple[str, ...]


def cases(recording: Recording) -> list[Case]:
    """All kills of a stack."""
    urns = [registration.urn for registration in recording.resources()]
    return [Case(urn, operation, at) for urn in urns for operation in ("create", "delete") for at in MOMENTS]


def run_cases(
    recording: Recording,
    chosen: Iterable[Case],
    *,
    seed: int,
    parallel: int = DEFAULT_PARALLEL,
    after_case: Callable[[], object] = lambda: None,
    account: AccountState | None = None,
) -> list[Failure]:
    """What went wrong in these cases; empty where all converged. `after_case` is called after each case.

    `account`: what there is before the program; nothing unless given.
    """
    before = account or AccountState()
    standing = Engine(World(before.copy()), State(), seed, parallel)
    standing.up(recording)
    failures = []
    for case in chosen:
        engine = Engine(World(before.copy()), State(), seed, parallel)
        why = _killed_up(engine, recording, case) if case.operation == "create" else _killed_destroy(standing, case)
        if why:
            failures.append(Failure(case, tuple(why)))
        after_case()
    return failures


def _killed_up(engine: Engine, recording: Recording, case: Case) -> list[str]:
    phase = engine.up(recording, kill=Kill(case.urn, case.operation, case.at))
    if not phase.killed:
        return ["the kill never came: the operation was never under way"]
    recover(engine.state, engine.world)
    runs = bring_up(engine, recording)
    if not runs[-1].phase.ended_well:
        return [f"up does not converge: {step.urn}: {step.error}" for step in runs[-1].phase.errors]
    wrong = made_wrong(engine, recording)
    return wrong or _gone(engine)


def _killed_destroy(standing: Engine, case: Case) -> list[str]:
    engine = standing.copy()
    phase = engine.destroy(kill=Kill(case.urn, case.operation, case.at))
    if not phase.killed:
        return ["the kill never came: the operation was never under way"]
    recover(engine.state, engine.world)
    return _gone(engine)


def made_wrong(engine: Engine, recording: Recording) -> list[str]:
    """What an account has that it should not, or lacks, when a stack is up: each resource once, and the state knows it."""
    wanted = {registration.urn for registration in recording.resources()}
    there = Counter(existing.registration.urn for existing in engine.world.state)
    known = engine.state.by_id()
    wrong = [f"made twice: {urn}" for urn, count in sorted(there.items()) if count > 1]
    wrong += [f"missing: {urn}" for urn in sorted(wanted - set(there))]
    wrong += [
        f"unknown to the state: {existing.what}"
        for existing in engine.world.state
        if (existing.registration.type, existing.registration.id) not in known
    ]
    return wrong + [f"unusable: {item.urn}: {refusal}" for item, _, refusal in findings(engine.world.state)]


def _gone(engine: Engine) -> list[str]:
    runs = take_down(engine)
    if not runs[-1].phase.ended_well:
        return [f"destroy does not converge: {step.urn}: {step.error}" for step in runs[-1].phase.errors]
    return [f"left behind: {what}" for _, what in engine.world.state.leftovers()]
