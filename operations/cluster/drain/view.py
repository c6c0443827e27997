"""A drain as data and as lines: what it would do, what it has left."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from facts.kubernetes_kinds import DrainStage
from operations.cluster.drain.kinds import KINDS
from operations.cluster.drain.plan import DrainPlan, Target


def as_data(plan: DrainPlan, left: Sequence[Target], ended: str = "") -> dict[str, Any]:
    """The same for `--json`. `ended`: what ended it before its time; then what was done is not known, only what was there at its last look."""
    return {
        "closed": [str(target) for target in plan.targets("close") if target not in left],
        "emptied": [str(target) for target in plan.targets("empty") if target not in left],
        "deleted": [str(target) for target in plan.targets("delete") if target not in left],
        "left": [{"object": str(target), "finalizers": list(target.finalizers), "isNew": target.is_new} for target in left],
        "missing": list(plan.missing),
        "unknown": dict(plan.unknown),
        "ended": ended,
    }


def print_plan(console: Console, cluster: str, plan: DrainPlan) -> None:
    """What would be done to which object, and which add-ons are not there."""
    if plan.missing:
        console.print(f"not installed in {cluster}, going on without: {', '.join(plan.missing)}", markup=False)
    for step in plan.steps:
        console.print(f"  {step.kind.verb} {step.target}: {step.kind.why}", markup=False)
    for kind, said in plan.unknown.items():
        console.print(f"  not known: {kind}: {said}", markup=False)


def print_left(console: Console, left: Sequence[Target]) -> None:
    """What stays, or that the cluster is idle."""
    for target in left:
        console.print(f"left {target}: {_why(target, left)}", markup=False)
    console.print(f"{len(left)} left: run it again" if left else "drained: the cluster is idle", markup=False)


def _why(target: Target, left: Sequence[Target]) -> str:
    """Why it is still there."""
    if target.is_new:
        return "it appeared after the plan was confirmed, and was left alone"
    if target.finalizers:
        return f"finalizer {', '.join(target.finalizers)}; `kubectl describe` says more"
    if target.resource in _NODES and any(each.is_new and each.resource not in _NODES for each in left):
        return "what appeared after the plan was confirmed may run on its nodes"
    return "its controller has not answered; `kubectl describe` says more"


_NODES = frozenset(kind.resource for kind in KINDS if kind.drained.stage == DrainStage.NODES)
