"""Up and destroy of one recording in an account, from nothing to everything and back."""

from simulator.account.world import World
from simulator.engine.clock import Listener, Step
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.run import Engine, Phase
from simulator.engine.state import State, stack_of
from simulator.recording import Recording, Registration

__all__ = ["Listener", "Phase", "Step", "critical_path", "run_destroy", "run_up"]


def run_up(
    recording: Recording,
    world: World,
    *,
    seed: int,
    parallel: int = DEFAULT_PARALLEL,
    begin: float = 0.0,
    listener: Listener | None = None,
) -> Phase:
    """Make everything. `begin`: when the program has started to register resources."""
    return Engine(world, State(), seed, parallel).up(recording, begin=begin, listener=listener)


def run_destroy(
    recording: Recording, world: World, *, seed: int, parallel: int = DEFAULT_PARALLEL, listener: Listener | None = None
) -> Phase:
    """Delete everything that a recording holds, level by level. A refusal lets its own level finish and stops the run there."""
    state = State()
    for registration in recording:
        state.save(registration)
    state.stack = stack_of(recording)
    return Engine(world, state, seed, parallel).destroy(listener=listener)


def critical_path(recording: Recording, phase: Phase) -> list[Registration]:
    """The chain of dependencies that ends last, first one first; components and providers, which take no time, are left out."""
    return [recording.registrations[step.urn] for step in critical_steps(phase)]


def critical_steps(phase: Phase) -> list[Step]:
    """The same as operations. Where one waited for a free slot, the one before it ended that much earlier: those that held the slots are no links."""
    if not phase.steps:
        return []
    key: str | None = max(sorted(phase.steps), key=lambda name: phase.steps[name].end)
    chain: list[Step] = []
    while key is not None:
        step = phase.steps[key]
        if step.end > step.start:
            chain.append(step)
        key = phase.predecessors[key]
    return chain[::-1]
