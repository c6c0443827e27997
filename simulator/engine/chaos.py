"""Chaos: random faults against a stack, by seed; it converges, or stops with an error that names a fix, and can always be destroyed.

A stack that came up is changed to another configuration as well, and every second such change is killed in the midst.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from simulator import chance, incidents
from simulator.account import kinds, view
from simulator.account.allowances import Allowances
from simulator.account.faults import FAULTS, Faults
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.clock import Operation
from simulator.engine.crash import MOMENTS, made_wrong
from simulator.engine.lifecycle import Run, bring_up, take_down
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.plan import plan
from simulator.engine.recovery import recover
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State, object_key
from simulator.faults_syntax import FaultRequest
from simulator.recording import Recording, exists_in_cloud

MOST_FAULTS, MOST_STRIKES = 4, 3


@dataclass(frozen=True)
class Outcome:
    """How one run of chaos went."""

    seed: int
    faults: tuple[str, ...]
    converged: bool
    """Whether the cluster came up; if not, it stopped with errors that name resource, cause and fix."""
    changed: bool
    """Whether it was then changed."""
    leftovers: tuple[str, ...]
    why: tuple[str, ...]
    """What was wrong; empty where all went as it should."""

    @property
    def ended_well(self) -> bool:
        """Whether nothing was wrong, which includes an account that is empty again."""
        return not self.why


def run(recording: Recording, seed: int, *, changed: Recording | None = None, parallel: int = DEFAULT_PARALLEL) -> Outcome:
    """One run: faults of this seed, up until it ends or stops, the change, incidents, what users leave, destroy."""
    faults = drawn_faults(recording, seed)
    world = World(AccountState(drawn_allowances(recording, seed)), faults=Faults.of(faults))
    engine = Engine(world, State(), seed, parallel)
    ups = bring_up(engine, recording)
    converged = ups[-1].phase.ended_well
    why = unhelpful(ups) + (made_wrong(engine, recording) if converged else _left_alone(engine))
    is_changed = False
    if converged and changed is not None:
        runs = _changed(engine, changed, seed)
        is_changed = runs[-1].phase.ended_well
        why += unhelpful(runs) + (made_wrong(engine, changed) if is_changed else _left_alone(engine))
    incidents.incidents(world, seed)
    incidents.leave_behind(world)
    destroys = take_down(engine)
    why += unhelpful(destroys)
    if not destroys[-1].phase.ended_well:
        why += [f"destroy does not converge: {step.urn}: {step.error}" for step in destroys[-1].phase.errors]
    graphs = [recording, *([changed] if changed else [])]
    left = tuple(what for urn, what in world.state.leftovers() if not any(_asked_for(graph, urn, what) for graph in graphs))
    why += [f"left behind: {what}" for what in left]
    return Outcome(seed, tuple(map(str, faults)), converged, is_changed, left, tuple(why))


def _changed(engine: Engine, after: Recording, seed: int) -> list[Run]:
    """Change the stack; every second seed kills the first run at one of its operations."""
    killed = [Run(engine.up(after, kill=kill)) for kill in drawn_kill(engine, after, seed)]
    if killed:
        recover(engine.state, engine.world)
    return [*killed, *bring_up(engine, after)]


def drawn_kill(engine: Engine, after: Recording, seed: int) -> list[Kill]:
    """Where the run of a change is killed; none for every other seed, and for a change that touches nothing."""
    changes = plan(engine.state, after, creations=engine.world.state.creations, seed=engine.seed)
    touched = [urn for urn, change in changes.items() if change.kind != "same" and exists_in_cloud(change.registration)]
    if not touched or _below(2, seed, "kill a change") == 0:
        return []
    urn = _pick(touched, seed, "killed")
    kind = changes[urn].kind
    operation: Operation = ("create", "delete")[_below(2, seed, "half")] if kind == "replace" else kind if kind != "same" else "update"
    return [Kill(urn, operation, MOMENTS[_below(len(MOMENTS), seed, "moment")])]


def drawn_faults(recording: Recording, seed: int) -> list[FaultRequest]:
    """Up to four faults that can strike this stack, each on one of its resources, one to three times."""
    drawn = []
    for index in range(_below(MOST_FAULTS + 1, seed, "how many")):
        kind = _pick(sorted(FAULTS), seed, f"kind {index}")
        victims = sorted({item.name for item in recording.resources() if FAULTS[kind].can_strike(item)})
        if victims:
            drawn.append(FaultRequest(kind, _pick(victims, seed, f"victim {index}"), 1 + _below(MOST_STRIKES, seed, f"times {index}")))
    return drawn


def drawn_allowances(recording: Recording, seed: int) -> Allowances:
    """Every fourth account has a quota, and every fourth a zone, that may be too small."""
    families = ("Trn", "Inf", "Standard")
    quotas = {family: 128 * _below(5, seed, family) for family in families} if _below(4, seed, "quotas") == 0 else {}
    capacity: Mapping[tuple[str, str], int] = {}
    if _below(4, seed, "capacity") == 0:
        zones = sorted({str(item.inputs["availabilityZoneId"]) for item in recording.of_type(kinds.SUBNET)})
        types = sorted({name for item in recording.of_type(kinds.NODE_GROUP) for name in view.listed(item.inputs.get("instanceTypes"))})
        capacity = {(_pick(types, seed, "type"), _pick(zones, seed, "zone")): _below(3, seed, "count")} if types else {}
    return Allowances(quotas, capacity=capacity)


def unhelpful(runs: list[Run]) -> list[str]:
    """Errors that do not say what a reader needs: a code, words, a cause, and a fix."""
    return [
        f"an error that does not help: {step.urn}: {step.error}"
        for one in runs
        for step in one.phase.errors
        if step.refusal is None or not all((step.refusal.code, step.refusal.text, step.refusal.cause, step.refusal.fix))
    ]


def _left_alone(engine: Engine) -> list[str]:
    """After a run that stopped, the state knows all that is there."""
    known = engine.state.known()
    return [f"unknown to the state: {existing.what}" for existing in engine.world.state if object_key(existing.registration) not in known]


def _asked_for(recording: Recording, urn: str, what: str) -> bool:
    """Backups stay because the configuration says so."""
    found = recording.registrations.get(urn)
    return found is not None and found.type == kinds.FILE_SYSTEM and "backup" in what


def _below(count: int, seed: int, what: str) -> int:
    return int(chance.fraction(seed, "chaos", what) * count)


def _pick(names: list[str], seed: int, what: str) -> str:
    return names[_below(len(names), seed, what)]
