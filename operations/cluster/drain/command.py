"""`trn drain`: show what would go, ask, delete, wait."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from operations.access import access
from operations.cluster.drain.plan import DrainPlan, Target, plan_drain
from operations.cluster.drain.run import Drain
from operations.kube.cluster import cluster_of
from operations.output import errors, gauge, results, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file


@dataclass(frozen=True)
class DrainOptions:
    """What the command line said."""

    stack: str
    yes: bool
    json_file: Path | None


def run(options: DrainOptions) -> int:
    """Drain; returns 1 where something stays."""
    settings = settings_of(read_stack_file(options.stack))
    progress, console = errors(), results(options.json_file)
    kubernetes = cluster_of(access().aws(options.stack, settings.region), settings.name)
    plan = plan_drain(kubernetes)
    print_plan(progress, settings.name, plan)
    if plan.counts and not options.yes:
        typer.confirm(f"Go on in {settings.name}: {plan.counts}?", abort=True, err=True)
    with gauge("draining", progress) as show:
        left = Drain(kubernetes, access().pause, lambda line: progress.print(line, markup=False), show).run(plan)
    write_json(as_data(plan, left), options.json_file)
    print_left(console, left)
    return 1 if left else 0


def as_data(plan: DrainPlan, left: tuple[Target, ...]) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "closed": [str(target) for target in plan.targets("close") if target not in left],
        "emptied": [str(target) for target in plan.targets("empty") if target not in left],
        "deleted": [str(target) for target in plan.targets("delete") if target not in left],
        "left": [{"object": str(target), "finalizers": list(target.finalizers)} for target in left],
        "missing": list(plan.missing),
    }


def print_plan(console: Console, cluster: str, plan: DrainPlan) -> None:
    """What would be done to which object, and which add-ons are not there."""
    if plan.missing:
        console.print(f"not installed in {cluster}, going on without: {', '.join(plan.missing)}", markup=False)
    for step in plan.steps:
        console.print(f"  {step.kind.verb} {step.target}: {step.kind.why}", markup=False)


def print_left(console: Console, left: tuple[Target, ...]) -> None:
    """What stays, or that the cluster is idle."""
    for target in left:
        holds = f"finalizer {', '.join(target.finalizers)}" if target.finalizers else "its controller has not answered"
        console.print(f"left {target}: {holds}; `kubectl describe` says more", markup=False)
    console.print(f"{len(left)} left: run it again" if left else "drained: the cluster is idle", markup=False)
