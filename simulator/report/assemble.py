"""Makes the report of a rehearsal from its runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simulator import bounds, costs
from simulator.account.rule import Refusal
from simulator.destroy_bound import destroy_bound
from simulator.engine.lifecycle import Run
from simulator.engine.order import deletion_levels
from simulator.engine.run import Phase
from simulator.engine.schedule import critical_steps
from simulator.incidents import Incident
from simulator.recording import Recording, Registration
from simulator.report import schema as report
from simulator.report.labels import telling_inputs

PROGRAM_START_S, PER_REGISTRATION_S = 1.5, 0.03
"""Start of Python and plug-ins, and each registration: fitted to 18 resources in 2.1 s and 70 in 4 to 5 s (measured
behind the real engine, 2026-11-21)."""


@dataclass(frozen=True)
class Story:
    """What a report is made from."""

    recording: Recording
    ups: Sequence[Run]
    destroys: Sequence[Run]
    left: Sequence[tuple[str, str]]
    """(URN, what) of all that is there in the end."""
    problems: Sequence[tuple[Registration, str, Refusal]]
    incidents: Sequence[Incident]


def report_of(
    story: Story, *, stack: str, seed: int, notices: Sequence[str], faults: Sequence[str], scenario: Sequence[str] = ()
) -> report.Report:
    """The report. Same runs, same report."""
    recording = story.recording
    bound = bounds.lower_bound_s(recording, seed)
    ups = [_up(recording, run, bound) for run in story.ups]
    destroys = [_destroy(recording, run, seed) for run in story.destroys]
    destroys[-1] = destroys[-1].model_copy(update={"leftovers": [report.Leftover(urn=urn, what=what) for urn, what in story.left]})
    return report.Report(
        stack=stack,
        seed=seed,
        notices=list(notices),
        faults=list(faults),
        scenario=list(scenario),
        program=report.Program(
            seconds=round(PROGRAM_START_S + PER_REGISTRATION_S * len(recording), 1),
            resources=len(recording.resources()),
            components=sum(1 for item in recording if not item.custom),
            registrations=len(recording),
        ),
        up=ups[0],
        reruns=ups[1:],
        problems=[
            report.Problem(urn=item.urn, name=item.name, rule=name, error=str(refusal), cause=refusal.cause, fix=refusal.fix)
            for item, name, refusal in story.problems
        ],
        incidents=[
            report.Incident(fault=item.fault, name=item.group.name, what=item.what, seconds=item.seconds, job=item.job)
            for item in story.incidents
        ],
        destroy=destroys[0],
        destroy_reruns=destroys[1:],
        cost=_cost(costs.items(recording)),
        outputs={key: _text(value) for key, value in sorted(recording.stack_outputs.items())},
    )


def _cost(lines: Sequence[costs.CostItem]) -> report.Cost:
    found = costs.figures(lines)
    return report.Cost(
        now=found.now,
        full_size=found.full_size,
        idle=found.idle,
        items=[
            report.CostLine(
                urn=line.urn,
                name=line.name,
                what=line.what,
                quantity=line.quantity,
                usd_per_hour=line.now.usd_per_hour,
                full_size_what=line.full_size.what,
                full_size_usd_per_hour=line.full_size.usd_per_hour,
                idle_usd_per_hour=line.idle.usd_per_hour,
                price_verified=line.verified,
                price_source=line.source,
            )
            for line in lines
        ],
    )


def ending(phase: Phase) -> Literal["well", "refused", "killed"]:
    """How a run ended."""
    return "killed" if phase.killed else "refused" if phase.errors else "well"


def times(recording: Recording, phase: Phase, key: str) -> dict[str, Any]:
    """What every operation has in a report."""
    step = phase.steps[key]
    item, refusal = recording.registrations[step.urn], step.refusal
    predecessor = phase.predecessors[key]
    return {
        "urn": item.urn,
        "type": item.type,
        "name": item.name,
        "start": step.start,
        "end": step.end,
        "attempts": step.attempts,
        "cut": step.cut,
        "slot_wait_seconds": step.slot_wait_s,
        "error": step.error,
        "cause": refusal.cause if refusal is not None else None,
        "fix": refusal.fix if refusal is not None else None,
        "waited_for": phase.steps[predecessor].urn if predecessor is not None else None,
    }


def _up(recording: Recording, run: Run, bound: float) -> report.Up:
    phase = run.phase
    return report.Up(
        seconds=phase.seconds,
        ended=ending(phase),
        before=list(run.before),
        lower_bound_seconds=bound,
        critical_path=path(recording, phase),
        resources=[
            report.ResourceTimes(
                **times(recording, phase, item.urn),
                parent=item.parent,
                custom=item.custom,
                depends_on=sorted(item.dependencies),
                inputs=telling_inputs(item),
            )
            for item in recording
            if item.urn in phase.steps
        ],
        not_started=sorted(item.urn for item in recording if item.urn not in phase.steps),
        cost=cost_points(recording, phase),
    )


def _destroy(recording: Recording, run: Run, seed: int) -> report.Destroy:
    phase = run.phase
    level_of = {urn: index for index, level in enumerate(deletion_levels(recording)) for urn in level}
    return report.Destroy(
        seconds=phase.seconds,
        ended=ending(phase),
        before=list(run.before),
        lower_bound_seconds=_destroy_bound(recording, phase, seed),
        order=[report.DestroyStep(**times(recording, phase, key), level=level_of[key]) for key in phase.order],
        critical_path=path(recording, phase),
        cost=cost_points(recording, phase),
        leftovers=[],
    )


def _destroy_bound(recording: Recording, phase: Phase, seed: int) -> float:
    """Of what was there when the run began."""
    there = {urn: change.old for urn, change in phase.changes.items() if change.old is not None}
    return destroy_bound(Recording(recording.project, recording.stack, there), seed).seconds


def cost_points(recording: Recording, phase: Phase, before: Recording | None = None) -> list[report.CostPoint]:
    """Price per hour over the run: a resource is paid for from the request that makes it until its deletion has ended.

    `before` is what stood when the run began, where that differs from the recording: what an update makes dearer is paid for
    from its request, what it makes cheaper until its end.
    """
    new = _prices(recording)
    old = _prices(before) if before is not None else new
    standing = sum(price for urn, price in old.items() if _stands(phase, urn))
    moments: list[tuple[float, float]] = []
    for step in phase.steps.values():
        added, removed = new.get(step.urn, 0.0), old.get(step.urn, 0.0)
        if step.operation == "create" and not (step.refusal and (step.refusal.leaves == "nothing" or not step.refusal.runs)):
            moments.append((step.start, added))
        elif step.operation == "delete" and step.refusal is None:
            moments.append((step.end, -removed))
        elif step.operation == "update" and step.refusal is None:
            moments.append((step.start if added > removed else step.end, added - removed))
    points, rate, spent, last = [report.CostPoint(at=0.0, usd_per_hour=round(standing, 4), usd=0.0)], standing, 0.0, 0.0
    for at, change in sorted([*(moment for moment in moments if moment[1]), (phase.seconds, 0.0)]):
        spent += rate * (at - last) / 3600
        rate, last = rate + change, at
        points.append(report.CostPoint(at=at, usd_per_hour=round(abs(rate), 4), usd=round(spent, 4)))
    return points


def _prices(recording: Recording) -> dict[str, float]:
    """USD an hour now, by URN."""
    prices: dict[str, float] = {}
    for line in costs.items(recording):
        prices[line.urn] = prices.get(line.urn, 0.0) + (line.now.usd_per_hour or 0.0)
    return prices


def _stands(phase: Phase, urn: str) -> bool:
    """Whether a resource was there, and paid for, before the run."""
    change = phase.changes.get(urn)
    return change is not None and change.old is not None


def path(recording: Recording, phase: Phase) -> list[report.PathStep]:
    """The critical path, link by link."""
    found = []
    for step in critical_steps(phase):
        item = recording.registrations[step.urn]
        found.append(
            report.PathStep(
                urn=item.urn,
                name=item.name,
                type=item.type,
                operation=step.operation,
                start=step.start,
                end=step.end,
                slot_wait_seconds=step.slot_wait_s,
            )
        )
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def both(before: Recording, after: Recording) -> Recording:
    """One graph of what was and what will be."""
    return Recording(after.project, after.stack, {**before.registrations, **after.registrations})
