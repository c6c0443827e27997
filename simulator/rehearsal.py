"""A whole rehearsal: record the program, run it up and down with all that is to go wrong, count the cost, and report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from facts.external.description import Description
from simulator import incidents
from simulator.account.allowances import Allowances, Job
from simulator.account.faults import Faults
from simulator.account.judge import findings
from simulator.account.putting import put_existing
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.clock import Step
from simulator.engine.lifecycle import Run, bring_up, take_down
from simulator.engine.order import DEFAULT_PARALLEL
from simulator.engine.run import Engine, Phase
from simulator.engine.state import State
from simulator.faults_syntax import FaultRequest
from simulator.recorder.recorder import record
from simulator.recording import Recording
from simulator.report import schema as report
from simulator.report.assemble import Story, report_of
from simulator.scenario_effects import need_requests


@dataclass(frozen=True)
class Stack:
    """Which program is rehearsed, with which configuration."""

    program: Callable[[], None]
    project: str
    name: str
    configuration: Mapping[str, str]
    """Full keys to text, as the engine passes them."""


@dataclass(frozen=True)
class Circumstances:
    """What the cluster meets: the account, the job it is for, and what goes wrong."""

    allowances: Allowances = field(default_factory=Allowances)
    job: Job = field(default_factory=Job)
    faults: Sequence[FaultRequest] = ()
    scenario: Sequence[str] = ()
    """What the scenario set, for the reader; empty without one."""
    existing: Description | None = None
    """What others keep and the program uses; None where it makes everything itself."""

    def account(self) -> AccountState:
        """The account before the program."""
        state = AccountState(self.allowances, self.job)
        if self.existing is not None:
            put_existing(state, self.existing)
        return state


@dataclass(frozen=True)
class Rehearsal:
    """The recording, all runs, and the report made from them."""

    recording: Recording
    ups: Sequence[Run]
    destroys: Sequence[Run]
    report: report.Report

    @property
    def up(self) -> Phase:
        """The first run of up."""
        return self.ups[0].phase

    @property
    def destroy(self) -> Phase:
        """The first run of destroy."""
        return self.destroys[0].phase


Watch = Callable[[str, Recording, float, Step, bool], None]
"""Called at each event with: run (`up`, `up again`, `destroy`, `destroy again`), graph, clock, step, whether it has ended."""


def record_program(stack: Stack, seed: int) -> Recording:
    """What a stack's program registers. What the program raises is raised here."""
    return record(stack.program, project=stack.project, stack=stack.name, configuration=stack.configuration, seed=seed)


def rehearse(
    stack: Stack,
    *,
    seed: int = 0,
    parallel: int = DEFAULT_PARALLEL,
    notices: Sequence[str] = (),
    circumstances: Circumstances | None = None,
    watch: Watch | None = None,
    recording: Recording | None = None,
) -> Rehearsal:
    """Rehearse a stack: up until it is up, what happens while it runs, destroy until it is gone.

    `recording`: what the program registers with this seed, where that is known; else the program is run.
    """
    met = circumstances or Circumstances()
    recording = recording if recording is not None else record_program(stack, seed)
    faults = Faults.of(met.faults)
    faults.need_targets(recording)
    need_requests(met.allowances.capacity, recording, met.account())
    engine = Engine(World(met.account(), faults), State(), seed, parallel)
    tell = _teller(watch)
    ups = bring_up(engine, recording, tell=tell)
    problems = findings(engine.world.state)
    happened = incidents.incidents(engine.world, seed)
    incidents.leave_behind(engine.world)
    destroys = take_down(engine, tell=tell)
    unused = [f"the fault {name} never struck: no resource that it is meant for" for name in engine.world.faults.unused()]
    made = report_of(
        Story(recording, ups, destroys, engine.world.state.leftovers(), problems, happened),
        stack=stack.name,
        seed=seed,
        notices=[*notices, *unused],
        faults=[str(fault) for fault in met.faults],
        scenario=met.scenario,
    )
    return Rehearsal(recording, ups, destroys, made)


def _teller(watch: Watch | None) -> Callable[[str, Recording], Callable[[float, Step, bool], None] | None]:
    if watch is None:
        return lambda name, graph: None
    return lambda name, graph: lambda clock, step, ended: watch(name, graph, clock, step, ended)
