"""Brings a stack up in its practice account, and takes it down, with the engine that has it."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.account.allowances import Job
from simulator.account.faults import Faults
from simulator.engine.clock import Step
from simulator.engine.lifecycle import next_kill
from simulator.engine.run import Phase
from simulator.engine.state import Pending
from simulator.faults_syntax import parse_fault
from trn.cli.errors import MISUSE, CommandError
from trn.cli.progress import Progress
from trn.engine.assumed_account import put_missing
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile
from trn.practice.account import PracticeAccount
from trn.practice.engine.process import Providers, run_cli
from trn.practice.engine.project import EngineFolder, environment, refuse_secrets
from trn.practice.engine.run import find_cli, make_stack, refuse_targets, report, requested_faults, with_event_log
from trn.practice.engines import EngineName, engine_for, engine_of
from trn.practice.pulumi import RehearsalEngine, changed_count, clear_locks, error_text, remove_command
from trn.practice.seeding import seed

_KILLS = ("killed", "killed-on-destroy")


@dataclass(frozen=True)
class Outcome:
    """How an `up` or a `down` ended."""

    engine: EngineName
    ended_well: bool
    seconds: float = 0.0
    """Virtual time; 0 with the real engine, which tells its own."""
    resource_count: int = 0
    """Resources that were created, changed or deleted."""
    errors: Sequence[str] = ()
    under_way: Sequence[Pending] = ()
    """Operations with an unknown outcome, where the run was killed."""
    unused_faults: Sequence[str] = ()
    """Faults that met no resource."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


def chosen_engine(folder: EngineFolder, stack_file: StackFile, wanted: EngineName | None) -> EngineName:
    """The engine of the next run. Raises CommandError where the stack is in the state of the other one."""
    there = engine_of(folder, stack_file)
    if wanted is not None and there not in (None, wanted):
        raise CommandError(
            f"stack `{stack_file.stack}` was brought up by the other engine, {there}",
            f"`trn practice down {stack_file.stack}` first",
            code=MISUSE,
        )
    return wanted or engine_for(folder, stack_file)


def refuse_faults(engine: EngineName, faults: Sequence[str]) -> None:
    """Raises CommandError for a fault that the engine cannot meet, FaultSyntaxError for one that there is not."""
    requests = [parse_fault(text) for text in faults]
    Faults.of(requests)
    kills = [request for request in requests if request.name in _KILLS]
    if engine == "pulumi" and kills:
        hint = "kill-provider@RESOURCE kills its provider; or stop it with Ctrl-C; or add --engine rehearsal"
        raise CommandError(f"the Pulumi CLI cannot be killed by a fault: {kills[0]}", hint, code=MISUSE)


def rehearsed(account: PracticeAccount, stack_file: StackFile, faults: Sequence[str], progress: Progress, *, down: bool) -> Outcome:
    """One run of the rehearsal's engine, up or down. Ctrl-C ends it as a kill does."""
    settings = settings_of(stack_file)
    account.pass_time()
    world = account.world
    put_missing(world.state, settings)
    world.state.job = Job(settings.training.toolchain)
    world.faults = Faults.of([parse_fault(text) for text in faults])
    engine = RehearsalEngine(account, stack_file)
    graph = engine.state.load().recording() if down else record_stack(stack_file)
    world.faults.need_targets(graph)
    kill = next_kill(world.faults, graph, _KILLS[down])

    def listener(clock: float, step: Step, ended: bool) -> None:
        progress.watch("destroy" if down else "up", graph, clock, step, ended)

    try:
        with progress:
            phase = engine.drive(
                lambda made: made.destroy(kill=kill, listener=listener) if down else made.up(graph, kill=kill, listener=listener)
            )
    except KeyboardInterrupt:
        # It may come between two writes: an object that the state was not to know of yet would be nothing that `recover` looks for.
        account.read()
        account.pass_time()
        return Outcome("rehearsal", False, under_way=engine.state.load().pending, interrupted=True)
    if down and phase.ended_well:
        engine.forget_all()
    pending = [] if down and phase.ended_well else engine.state.load().pending
    return replace(_outcome(phase, pending), unused_faults=world.faults.unused())


def _outcome(phase: Phase, pending: Sequence[Pending]) -> Outcome:
    texts = [error_text(step) for step in phase.errors]
    return Outcome("rehearsal", phase.ended_well, phase.seconds, changed_count(phase), texts, pending if phase.killed else ())


def by_pulumi(folder: EngineFolder, stack_file: StackFile, faults: Sequence[str], *, down: bool, refresh: bool = False) -> Outcome:
    """One run of the real CLI: `pulumi up` or `pulumi destroy`, and `pulumi stack rm` once nothing is left. `refresh`: look first at what is there."""
    pulumi = find_cli()
    refuse_secrets(stack_file)
    seed(folder, settings_of(stack_file))
    requests = requested_faults(tuple(faults))
    refuse_targets(requests, stack_file, folder)
    words = ("destroy" if down else "up", "--yes", "--skip-preview", *(["--refresh"] if refresh else []))
    providers = Providers(folder, time_scale=0, faults=tuple(faults))
    try:
        variables = environment(folder, stack_file.stack, providers.attach())
        folder.prepare(stack_file)
        clear_locks(folder, stack_file)
        make_stack(pulumi, folder, stack_file, variables)
        code = run_cli([pulumi, *with_event_log(words, folder.events)], variables, folder.project)
        if down and code == 0:
            subprocess.run(remove_command(stack_file.stack), env=variables, cwd=folder.project, capture_output=True, check=False)
    finally:
        died = providers.stop() < 0
    return Outcome("pulumi", report(code, folder, requests, died=died) == 0)
