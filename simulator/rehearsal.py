"""A whole rehearsal: record the program, run it up and down, count the cost, and report."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator import bounds, costs, engine_order, report, schedule
from simulator.recorder import record
from simulator.recording import Recording
from simulator.world import World

PROGRAM_START_S, PER_REGISTRATION_S = 1.5, 0.03
"""Start of Python and plug-ins, and each registration: fitted to 18 resources in 2.1 s and 70 in 4 to 5 s (measured
behind the real engine, 2026-11-21)."""


@dataclass(frozen=True)
class Stack:
    """Which program is rehearsed, with which configuration."""

    program: Callable[[], None]
    project: str
    name: str
    configuration: Mapping[str, str]
    """Full keys to text, as the engine hands them over."""


@dataclass(frozen=True)
class Rehearsal:
    """The recording, both phases, and the report made from them."""

    recording: Recording
    up: schedule.Phase
    destroy: schedule.Phase
    report: report.Report


Watch = Callable[[str, Recording, float, schedule.Step, bool], None]
"""Told what happens: phase (`up` or `destroy`), recording, clock, step, whether it has ended."""


def rehearse(
    stack: Stack,
    *,
    seed: int = 0,
    parallel: int = engine_order.DEFAULT_PARALLEL,
    notices: Sequence[str] = (),
    watch: Watch | None = None,
) -> Rehearsal:
    """Rehearse a stack: up, then destroy. What the program raises is raised here."""
    recording = record(stack.program, project=stack.project, stack=stack.name, configuration=stack.configuration, seed=seed)
    world = World()
    up = schedule.run_up(recording, world, seed=seed, parallel=parallel, listener=_bind(watch, "up", recording))
    destroy = schedule.run_destroy(recording, world, seed=seed, parallel=parallel, listener=_bind(watch, "destroy", recording))
    lines = costs.items(recording)
    made = report.Report(
        schema=report.SCHEMA,
        stack=stack.name,
        seed=seed,
        notices=list(notices),
        program=report.Program(
            seconds=round(PROGRAM_START_S + PER_REGISTRATION_S * len(recording), 1),
            resources=len(recording),
            components=sum(1 for item in recording if not item.custom),
        ),
        up=_up(recording, up, seed),
        destroy=_destroy(recording, destroy, world),
        cost=report.Cost(
            running_usd_per_hour=costs.total(lines, idle=False),
            idle_usd_per_hour=costs.total(lines, idle=True),
            items=[
                report.CostLine(
                    urn=line.urn,
                    name=line.name,
                    what=line.what,
                    quantity=line.quantity,
                    usd_per_hour=line.usd_per_hour,
                    idle_usd_per_hour=line.idle_usd_per_hour,
                    price_verified=line.verified,
                )
                for line in lines
            ],
        ),
        outputs={key: _text(value) for key, value in sorted(recording.stack_outputs.items())},
    )
    return Rehearsal(recording, up, destroy, made)


def _bind(watch: Watch | None, phase: str, recording: Recording) -> schedule.Listener | None:
    if watch is None:
        return None
    return lambda clock, step, ended: watch(phase, recording, clock, step, ended)


def _up(recording: Recording, phase: schedule.Phase, seed: int) -> report.Up:
    return report.Up(
        seconds=phase.seconds,
        lower_bound_seconds=bounds.lower_bound_s(recording, seed),
        critical_path=_path(recording, phase),
        resources=[
            report.ResourceTimes(
                urn=item.urn,
                type=item.type,
                name=item.name,
                parent=item.parent,
                custom=item.custom,
                depends_on=sorted(item.dependencies),
                start=phase.steps[item.urn].start,
                end=phase.steps[item.urn].end,
                attempts=phase.steps[item.urn].attempts,
                error=phase.steps[item.urn].error,
            )
            for item in recording
        ],
    )


def _destroy(recording: Recording, phase: schedule.Phase, world: World) -> report.Destroy:
    level_of = {urn: index for index, level in enumerate(engine_order.deletion_levels(recording)) for urn in level}
    return report.Destroy(
        seconds=phase.seconds,
        order=[
            report.DestroyStep(
                urn=urn,
                type=recording.registrations[urn].type,
                name=recording.registrations[urn].name,
                level=level_of[urn],
                start=phase.steps[urn].start,
                end=phase.steps[urn].end,
                error=phase.steps[urn].error,
            )
            for urn in phase.order
        ],
        critical_path=_path(recording, phase),
        leftovers=[report.Leftover(urn=thing.urn, what=thing.what) for thing in world.leftovers()],
    )


def _path(recording: Recording, phase: schedule.Phase) -> list[report.PathStep]:
    return [
        report.PathStep(urn=item.urn, name=item.name, type=item.type, start=phase.steps[item.urn].start, end=phase.steps[item.urn].end)
        for item in schedule.critical_path(recording, phase)
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
