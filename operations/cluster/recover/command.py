"""`trn recover`: read the state, look, show, ask, import, refresh."""

from typing import Annotated

import typer

from operations.errors import CommandError
from operations.options import JsonFile, Stack, Yes


def recover(
    stack: Stack,
    orphans: Annotated[
        bool,
        typer.Option("--orphans", help="Without unfinished operations: import what `pulumi up` would make and is there already."),
    ] = False,
    yes: Yes = False,
    json_file: JsonFile = None,
) -> int:
    """Find what a killed `pulumi up` had made, wait until it is ready, and import it. Exits with 1 where a person must look first.

    A resource is the cluster's by its exact name, place or tags. Nothing is changed while anything is unclear.

    Example: trn recover dev, or: trn recover dev --orphans
    """
    from operations.access import access
    from operations.cluster.recover.look import Recovery
    from operations.cluster.recover.objects import objects_of
    from operations.cluster.recover.pulumi import exported, import_and_refresh, with_orphans
    from operations.cluster.recover.view import as_data, print_plan, report_lines
    from operations.cluster.sweep.view import print_ownership
    from operations.output import errors, results, write_json
    from operations.ownership import StackCluster, read_ownership, refuse_mismatch
    from operations.program import settings_of
    from operations.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    progress, console = errors(), results(json_file)

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    api = access().aws(stack, settings.region)
    recovery = Recovery(
        api, settings.name, lambda: objects_of(api, settings.name), access().pause, tell, f"/{stack_file.project}/{stack}", orphans
    )
    state = exported(stack, access().pulumi(stack).ask)
    if orphans:
        if state.pending:
            raise CommandError(f"{len(state.pending)} operations have no end yet", f"run `trn recover {stack}` first, without --orphans")
        state = with_orphans(state, stack, access().pulumi(stack).ask)
    plan = recovery.plan(state)
    print_plan(progress, plan, orphans=orphans)
    work = len(plan.imports) + len(plan.uninstalls)
    # Without orphans a refresh alone is work too: it clears the operations that are settled.
    done = not plan.unclear and not work and (orphans or not plan.has_work)
    if not done and not plan.unclear:
        # Read once more: looking may have taken forty minutes.
        ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name))
        refuse_mismatch(ownership, unfinished=True)
        print_ownership(progress, ownership)
        if not yes:
            typer.confirm(f"Import {len(plan.imports)}, uninstall {len(plan.uninstalls)}, then refresh {stack}?", abort=True, err=True)
        recovery.uninstall(plan)
        pulumi = access().pulumi(stack)
        done = import_and_refresh(plan, stack, pulumi.ask, pulumi.run)
    write_json({"stack": stack, "recovered": done, **as_data(plan, orphans=orphans)}, json_file)
    for line in report_lines(plan, stack, orphans=orphans, done=done):
        console.print(line, markup=False, soft_wrap=True)
    return 0 if done else 1
