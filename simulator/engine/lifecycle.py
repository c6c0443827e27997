"""A stack's life with all that may go wrong: up until it is up, destroy until it is gone, each failure followed by its fix."""

from collections.abc import Callable
from dataclasses import dataclass

from facts.typed import made_again, typed
from simulator import latencies
from simulator.account.faults import Faults
from simulator.account.judge import findings
from simulator.engine.recovery import follow, recover
from simulator.engine.run import Engine, Kill, Phase
from simulator.recording import Recording

MOST_RUNS = 6
"""Most runs of up, and of destroy, besides those that a fault ends: a problem that remains after them is reported."""


@dataclass(frozen=True)
class Run:
    """One run, with what was done before it."""

    phase: Phase
    before: tuple[str, ...] = ()
    """Commands: the fixes of the run before."""


Tell = Callable[[str, Recording], Callable[..., None] | None]
"""Gives the listener of a run: name of the run (`up`, `up again`, `destroy`, `destroy again`) and graph."""


def _silent(_name: str, _graph: Recording) -> None:
    return None


def bring_up(engine: Engine, recording: Recording, *, tell: Tell = _silent) -> list[Run]:
    """Run `up`, and again with the fix of each failure, until it ends well or fails twice for the same reason."""
    runs: list[Run] = []
    before: tuple[str, ...] = ()
    force: frozenset[str] = frozenset()
    most = _most_runs(engine.world.faults)
    while len(runs) < most:
        kill = next_kill(engine.world.faults, recording, "killed")
        name = "up again" if runs else "up"
        phase = engine.up(recording, force=force, kill=kill, listener=tell(name, recording))
        runs.append(Run(phase, before))
        failed = _failed(engine) - force if phase.ended_well else frozenset()
        if (phase.ended_well and not failed) or _stuck(runs):
            break
        before, force = _fixed(engine, phase, typed("pulumi up")) if not phase.ended_well else (_replacing(failed), failed)
    return runs


def _most_runs(faults: Faults) -> int:
    """Each strike of a fault may end one run, and none of them strikes for ever."""
    return MOST_RUNS + sum(fault.remaining for fault in faults.active)


def _failed(engine: Engine) -> frozenset[str]:
    """URNs of what has to be replaced although no run says so any more."""
    return frozenset(registration.urn for registration, _, refusal in findings(engine.world.state) if refusal.remedy == "replace")


def _replacing(urns: frozenset[str]) -> tuple[str, ...]:
    return tuple(made_again(urn) for urn in sorted(urns))


def take_down(engine: Engine, *, tell: Tell = _silent) -> list[Run]:
    """Run `destroy`, and again with the fix of each failure, until nothing is left or it fails twice for the same reason."""
    runs: list[Run] = []
    before: tuple[str, ...] = ()
    most = _most_runs(engine.world.faults)
    while len(runs) < most:
        graph = engine.state.recording()
        kill = next_kill(engine.world.faults, graph, "killed-on-destroy")
        phase = engine.destroy(kill=kill, listener=tell("destroy again" if runs else "destroy", graph))
        runs.append(Run(phase, before))
        if phase.ended_well or _stuck(runs):
            break
        before, _ = _fixed(engine, phase, typed("pulumi destroy"))
    return runs


def next_kill(faults: Faults, graph: Recording, name: str) -> Kill | None:
    """The kill that is asked for next; of several resources of one name it meets the one that takes longest."""
    operation = "create" if name == "killed" else "delete"
    for fault in faults.active:
        meant = [item for item in graph.resources() if fault.matches(item)] if fault.kind.name == name and fault.remaining else []
        if meant:
            fault.remaining -= 1
            slowest = max(meant, key=lambda item: (latencies.seconds(item, operation, 0), item.urn))
            return Kill(slowest.urn, operation)
    return None


def _fixed(engine: Engine, phase: Phase, command: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """What is done before the next run: commands, and URNs to be replaced."""
    done: list[str] = []
    if phase.killed:
        done += recover(engine.state, engine.world)
    force: set[str] = set()
    for step in phase.errors:
        assert step.refusal is not None
        commands, replaced = follow(step.refusal, step.urn, engine.state, engine.world)
        done += [command for command in commands if command not in done]
        force |= replaced
    return (*done, command) if not force else tuple(done), frozenset(force)


def _stuck(runs: list[Run]) -> bool:
    """Whether another run would end the same: it needs a changed configuration, or the last two were refused for the same reason."""
    refused = [step.refusal for step in runs[-1].phase.errors if step.refusal is not None]
    if refused and all(refusal.remedy == "configure" for refusal in refused):
        return True
    if len(runs) < 2:
        return False
    if any(refusal.by_fault for refusal in refused):
        return False
    reasons = [{(step.urn, step.refusal.code, step.refusal.cause) for step in run.phase.errors if step.refusal} for run in runs[-2:]]
    return bool(reasons[0]) and reasons[0] == reasons[1]
