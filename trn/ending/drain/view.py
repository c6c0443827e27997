"""A drain as lines: what it would do."""

from rich.console import Console

from trn.ending.drain.plan import DrainPlan


def print_plan(console: Console, cluster: str, plan: DrainPlan) -> None:
    """What would be done to which object, and which add-ons are not there."""
    if plan.missing:
        console.print(f"not installed in {cluster}, going on without: {', '.join(plan.missing)}", markup=False)
    for step in plan.steps:
        console.print(f"  {step.kind.verb} {step.target}: {step.kind.why}", markup=False)
    for kind, said in plan.unknown.items():
        console.print(f"  not known: {kind}: {said}", markup=False)
