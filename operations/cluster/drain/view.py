"""A drain as data and as lines: what it would do, what it has left."""

from typing import Any

from rich.console import Console

from operations.cluster.drain.plan import DrainPlan, Target


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
