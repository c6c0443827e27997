"""`trn recover`: read the state, look, show, ask, import, refresh."""

from typing import Annotated

import typer

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, Yes


def recover(
    stack: Stack,
    orphans: Annotated[
        bool,
        typer.Option("--orphans", help="Without unfinished operations: import what `pulumi up` would make and is there already."),
    ] = False,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Find what a killed `pulumi up` had made, wait until it is ready, and import it. Exits with 1 where a person must look first.

    A resource is the cluster's by its tags and the time at which it was made, a part of one by its place; what has no more than the
    name is unclear. Nothing is changed while anything is unclear. Looks again under the lock before it changes anything.

    Example: trn recover dev, or: trn recover dev --orphans
    """
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.ending.recover.change import Recover
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    subject = StackCluster(stack_file.project, stack, settings.name, may_be_unfinished=True)
    with terminal(
        subject, settings.region, "recovering", json_file, None, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(Recover(stack, stack_file.project, orphans), site, person)
