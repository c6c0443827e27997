"""The crash matrix: for every operation of an up, a destroy or a change the run is killed while it is under way, fixed, and run again."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from simulator.account.judge import findings
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.clock import Operation
from simulator.engine.lifecycle import Run, bring_up, take_down
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.recovery import recover
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State, object_key
from simulator.recording import Recording, exists_in_cloud

MOMENTS = (0.0, 0.5, 1.0)
"""When the run dies, as a fraction of the operation: before its request has left, half-way, and when it has ended but
is not yet saved in the state."""


@dataclass(frozen=True)
class Case:
    """One kill."""

    urn: str
    operation: Operation
    at: float


@dataclass(frozen=True)
class Failure:
    """A kill after which something was wrong."""

    case: Case
    why: tuple[str, ...]


def cases(recording: Recording) -> list[Case]:
    """All kills of a stack that is brought up, and destroyed."""
    urns = [registration.urn for registration in recording.resources()]
    operations: tuple[Operation, ...] = ("create", "delete")
    return [Case(urn, operation, at) for urn in urns for operation in operations for at in MOMENTS]


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


@dataclass(frozen=True)
class ChangeMatrix:
    """A change of a stack that is up, killed in the midst."""

    standing: Engine
    """The stack as it is before the change."""
    after: Recording
    runs: tuple[Run, ...]
    """The change as nothing kills it: it may be refused."""
    stays: frozenset[str]
    """What the destroy that follows is refused, or leaves, by the configuration: deletion protection, a last backup."""

    @classmethod
    def of(
        cls, before: Recording, after: Recording, *, seed: int, parallel: int = DEFAULT_PARALLEL, account: AccountState | None = None
    ) -> "ChangeMatrix":
        """Bring the stack up, and try the change once. `account`: what there is before the program; nothing unless given."""
        standing = Engine(World((account or AccountState()).copy()), State(), seed, parallel)
        standing.up(before)
        engine = standing.copy()
        runs = tuple(bring_up(engine, after))
        return cls(standing, after, runs, frozenset(_gone(engine)))

    def cases(self) -> list[Case]:
        """All kills: each operation of the change's first run on something outside the engine, at each moment."""
        phase = self.runs[0].phase
        there = {urn: change for urn, change in phase.changes.items() if exists_in_cloud(change.registration)}
        steps = [step for step in phase.steps.values() if step.urn in there and (there[step.urn].kind != "same")]
        return [Case(step.urn, step.operation, at) for step in sorted(steps, key=lambda step: (step.urn, step.operation)) for at in MOMENTS]

    def failures(self, chosen: Iterable[Case], *, after_case: Callable[[], object] = lambda: None) -> list[Failure]:
        """What went wrong in these cases; empty where all converged. `after_case` is called after each case."""
        failures = []
        for case in chosen:
            why = self.run(case)
            if why:
                failures.append(Failure(case, why))
            after_case()
        return failures

    def run(self, case: Case) -> tuple[str, ...]:
        """What is wrong after a kill; empty where the change converges, or ends with the refusal that it has without the kill."""
        engine = self.standing.copy()
        phase = engine.up(self.after, kill=Kill(case.urn, case.operation, case.at))
        if not phase.killed:
            return ("the kill never came: the operation was never under way",)
        recover(engine.state, engine.world)
        runs = bring_up(engine, self.after)
        if self.runs[-1].phase.ended_well:
            wrong = _not_converged(runs, "the change") or made_wrong(engine, self.after)
        else:
            expected = {step.refusal.cause for step in self.runs[-1].phase.errors if step.refusal}
            wrong = [
                f"another refusal: {step.urn}: {step.error}"
                for step in runs[-1].phase.errors
                if step.refusal and step.refusal.cause not in expected
            ]
        return tuple(wrong or [what for what in _gone(engine) if what not in self.stays])


def _not_converged(runs: list[Run], what: str) -> list[str]:
    if runs[-1].phase.ended_well:
        return []
    return [f"{what} does not converge: {step.urn}: {step.error}" for step in runs[-1].phase.errors]


def _killed_up(engine: Engine, recording: Recording, case: Case) -> list[str]:
    phase = engine.up(recording, kill=Kill(case.urn, case.operation, case.at))
    if not phase.killed:
        return ["the kill never came: the operation was never under way"]
    recover(engine.state, engine.world)
    return _not_converged(bring_up(engine, recording), "up") or made_wrong(engine, recording) or _gone(engine)


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
    known = engine.state.known()
    wrong = [f"made twice: {urn}" for urn, count in sorted(there.items()) if count > 1]
    wrong += [f"missing: {urn}" for urn in sorted(wanted - set(there))]
    wrong += [f"unknown to the state: {existing.what}" for existing in engine.world.state if object_key(existing.registration) not in known]
    return wrong + [f"unusable: {item.urn}: {refusal}" for item, _, refusal in findings(engine.world.state)]


def _gone(engine: Engine) -> list[str]:
    return _not_converged(take_down(engine), "destroy") or [f"left behind: {what}" for _, what in engine.world.state.leftovers()]
