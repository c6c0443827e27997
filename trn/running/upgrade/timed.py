"""An upgrade in the virtual clock: seconds of each step, what it changes, and what it stops, on a cluster of the rehearsal's engine."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from facts.document import Part
from simulator.account import kinds
from simulator.account.allowances import Job
from simulator.account.world import World
from simulator.engine.change import NodeEffect, node_effects
from simulator.engine.plan import counts, plan
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from simulator.report.words import duration
from stacks.problems import ConfigurationError
from trn.cli.errors import MISUSE, CommandError
from trn.cli.output import print_table
from trn.engine.assumed_account import account_for
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile, with_edits
from trn.running.upgrade.steps import Kind, Standing, Step, standing_file

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LEAST_WIDTH = 60
"""Columns of a terminal that holds the table of steps."""
_TARGETED: dict[Kind, str] = {"control plane": kinds.CLUSTER, "add-ons": kinds.ADDON}
"""Types that a step names with `--target`; the others run the whole program, whose only difference is theirs."""


class UpgradeStep(Part, frozen=True):
    """One run of `pulumi up`."""

    step: str
    kind: Kind
    minor: str
    group: str | None
    """That it rolls."""
    keys: dict[str, Any]
    """What the stack file gets before it."""
    seconds: float
    """At least."""
    resources: int
    """That it changes."""
    stops: str
    errors: tuple[str, ...]
    """What the account refuses."""
    done: bool


@dataclass(frozen=True)
class Timed:
    """One step that was rehearsed."""

    step: Step
    targets: tuple[str, ...]
    """URNs for `pulumi up --target`; empty for all."""
    seconds: float
    changed: int
    """Resources that it changes."""
    nodes: tuple[NodeEffect, ...]
    """Groups whose nodes it replaces."""
    errors: tuple[str, ...]
    """What the account refuses, in its words and with what to do."""

    @property
    def stops(self) -> str:
        """What stops meanwhile, for a reader."""
        rolled = [effect for effect in self.nodes if effect.kind == "rolled" and effect.nodes]
        if self.step.kind == "control plane":
            return "nothing: the API may not answer for seconds; cannot be taken back"
        if not rolled:
            return "nothing" if self.step.group is None else "nothing: the group is empty"
        return "; ".join(
            f"{effect.nodes} node{'s' * (effect.nodes != 1)}, one after the other: {'jobs on them stop' if effect.neuron else 'their pods move'}"
            for effect in rolled
        )


def timed(stack_file: StackFile, standing: Standing, steps: Sequence[Step], *, seed: int = 0) -> list[Timed]:
    """Each step in its turn, up to the first that the account refuses. Raises CommandError where a step's settings are refused."""
    first = standing_file(stack_file, standing)
    settings = settings_of(first)
    engine = Engine(World(account_for(settings)), State(), seed)
    engine.world.state.job = Job(settings.training.toolchain)
    engine.up(record_stack(first, seed=seed))
    found, file = list[Timed](), first
    for step in steps:
        file = with_edits(file, step.edits)
        found.append(_run(engine, step, _recorded(file, step, seed), seed))
        if found[-1].errors:
            break
    return found


def _recorded(file: StackFile, step: Step, seed: int) -> Recording:
    try:
        return record_stack(file, seed=seed)
    except ConfigurationError as error:
        first = error.problems[0]
        wrong = f"the stack file does not fit {step.title}: {first.wrong}, `{first.path}` is `{first.value}`"
        raise CommandError(wrong, first.hint or f"change it before the upgrade; allowed: {first.allowed}", code=MISUSE) from error


def _run(engine: Engine, step: Step, recording: Recording, seed: int) -> Timed:
    targets = targets_of(step, recording)
    changes = plan(engine.state, recording, creations=engine.world.state.creations, seed=seed)
    named = [change for urn, change in changes.items() if not targets or urn in targets]
    nodes = tuple(effect for change in named for effect in node_effects(engine.world.state, change, seed))
    phase = engine.up(recording, targets=frozenset(targets))
    errors = tuple(f"{error.refusal}; {error.refusal.fix}" for error in phase.errors if error.refusal is not None)
    return Timed(step, targets, phase.seconds, sum(counts(phase.changes).values()), nodes, errors)


def targets_of(step: Step, recording: Recording) -> tuple[str, ...]:
    """URNs that a step names; empty for a run of the whole program."""
    wanted = _TARGETED.get(step.kind)
    return tuple(item.urn for item in recording.of_type(wanted)) if wanted else step.targets


def plan_table(steps: Sequence[Timed]) -> "Table":
    """Steps with their time in the virtual clock, and what each stops."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("step", "at least", "stops"):
        table.add_column(title, no_wrap=title != "stops")
    for each in steps:
        table.add_row(each.step.title, duration(each.seconds), each.stops)
    table.add_row("together", duration(total_s(steps)), "")
    return table


def refused_lines(steps: Sequence[Timed]) -> list[str]:
    """What the account refuses."""
    return [f"refused  {each.step.title}: {error}" for each in steps for error in each.errors]


def print_plan(console: "Console", steps: Sequence[Timed]) -> None:
    """Both, on a terminal of whatever width."""
    print_table(console, plan_table(steps), LEAST_WIDTH)
    for line in refused_lines(steps):
        console.print(line, markup=False, soft_wrap=True)


def total_s(steps: Sequence[Timed]) -> float:
    """Of all steps, one after the other."""
    return sum(each.seconds for each in steps)


def walk_of(steps: Sequence[Timed], done: Collection[Step] = (), stopped_at: str | None = None) -> dict[str, Any]:
    """The steps for `--json`."""
    return {
        "seconds": total_s(steps),
        "steps": tuple(
            UpgradeStep(
                step=each.step.title,
                kind=each.step.kind,
                minor=each.step.minor,
                group=each.step.group.name if each.step.group else None,
                keys={edit.key: edit.value for edit in each.step.edits},
                seconds=each.seconds,
                resources=each.changed,
                stops=each.stops,
                errors=each.errors,
                done=each.step in done,
            )
            for each in steps
        ),
        "stopped_at": stopped_at,
    }
