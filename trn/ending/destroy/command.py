"""`trn destroy`: drain, `pulumi destroy` and what to do when it stops, sweep, and a final report."""

from trn.cli.options import BreakLock, ClusterName, Data, Identity, JsonFile, Stack, Yes


def destroy(
    stack: Stack,
    yes: Yes = False,
    name: ClusterName = "",
    identity: Identity = "",
    data: Data = None,
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Drain, `pulumi destroy`, sweep, and report what is left. Can be run again after any failure. Exits with 1 if something stays.

    Nothing is drained before it is known that the stack's state holds this very cluster, that no lock and no `deletionProtection`
    is in the way, and that no other run changes it.

    Example: trn destroy dev
    """
    from stacks.existing import existing_ids
    from stacks.settings import existing_vpc
    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.ownership import StackCluster
    from trn.cli.output import errors, reported, results
    from trn.cli.watching import Watching
    from trn.ending.destroy import run
    from trn.ending.destroy.stack import Before, destroy_stack
    from trn.ending.drain.view import print_plan as print_drain
    from trn.ending.sweep.stack import Choices, refuse_data
    from trn.ending.sweep.view import print_leftovers, print_ownership, print_plan
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    choices = Choices(None, refuse_data(data or ()), settings.storage.lustre.final_backup, break_lock)
    progress, console = errors(), results(json_file)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    def shown(before: Before) -> None:
        print_ownership(progress, before.ownership)
        print_leftovers(progress, before.leftovers)
        if before.busy is not None:
            print_drain(progress, settings.name, before.busy.plan)

    report = run.Report()
    try:
        with reported(lambda ended: run.as_data(report, ended), json_file):
            destroy_stack(
                access().aws(stack, settings.region),
                access().pulumi(stack),
                StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings), existing_ids(settings)),
                consent(yes, name, identity),
                Watching(tell, access().pause),
                choices,
                is_protected=settings.control_plane.deletion_protection,
                shown=shown,
                swept=lambda plan: print_plan(progress, settings.name, plan),
                report=report,
            )
    finally:
        for line in run.report_lines(report, stack) if report.began else ():
            console.print(line, markup=False, soft_wrap=True)
    return 0 if report.is_clean else 1
