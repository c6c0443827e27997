"""`trn drain`: show what would be deleted, ask, delete, wait."""

from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


def drain(
    stack: Stack,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Close queues, empty Slurm's nodes, delete jobs of all kinds, load balancers, claims and NodePools, so that a destroy finds an idle cluster.

    What would be done is listed first. Add-ons that are not installed are named and left out. Exits with 1 if something stays.

    Example: trn drain dev --yes
    """
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.ending.drain.change import Drain
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "draining", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(Drain(stack), site, person)
