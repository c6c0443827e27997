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
    from stacks.external import existing_ids
    from stacks.settings import existing_vpc
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.ending.destroy.change import Destroy
    from trn.ending.drain.change import Drain
    from trn.ending.sweep.change import Sweep
    from trn.ending.sweep.plan import refuse_data
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    subject = StackCluster(stack_file.project, stack, settings.name, existing_vpc(settings), existing_ids(settings))
    sweep = Sweep(stack, refuse_data(data or ()), settings.storage.lustre.final_backup, identity)
    change = Destroy(stack, Drain(stack), sweep, settings.control_plane.deletion_protection)
    with terminal(
        subject, settings.region, "destroying", json_file, None, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
