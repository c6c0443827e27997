"""`trn recover`: read the state, look, show, ask, import, refresh."""

from typing import Annotated, Any

import typer

from trn.cli.options import BreakLock, JsonFile, Stack, Yes


def recover(
    stack: Stack,
    orphans: Annotated[
        bool,
        typer.Option("--orphans", help="Without unfinished operations: import what `pulumi up` would make and is there already."),
    ] = False,
    yes: Yes = False,
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Find what a killed `pulumi up` had made, wait until it is ready, and import it. Exits with 1 where a person must look first.

    A resource is the cluster's by its tags and the time at which it was made, a part of one by its place; what has no more than the
    name is unclear. Nothing is changed while anything is unclear. Looks again under the lock before it changes anything.

    Example: trn recover dev, or: trn recover dev --orphans
    """
    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.ownership import Ownership, StackCluster
    from trn.cli.output import errors, reported, results
    from trn.cli.watching import Watching
    from trn.ending.recover.plan import Plan
    from trn.ending.recover.stack import Report, recover_stack
    from trn.ending.recover.view import as_data, print_plan, report_lines
    from trn.ending.sweep.view import print_ownership
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    progress, console = errors(), results(json_file)
    report = Report()

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    def shown(plan: Plan) -> None:
        print_plan(progress, plan, orphans=orphans)

    def owned(ownership: Ownership) -> None:
        print_ownership(progress, ownership)

    def said(ended: str) -> dict[str, Any]:
        return {"stack": stack, "recovered": report.done, "ended": ended, **as_data(report.plan, orphans=orphans)}

    with reported(said, json_file):
        recover_stack(
            access().aws(stack, settings.region), access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name),
            consent(yes), Watching(tell, access().pause), report, shown, owned, orphans=orphans, break_lock=break_lock,
        )  # fmt: skip
    for line in report_lines(report.plan, stack, orphans=orphans, done=report.done):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if report.done else 1
