"""`trn scale`: set one node group to a size, down to zero for the night, and list what is still billed."""

from typing import Annotated

import typer

from facts.typed import typed
from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes
from trn.engine.early import no_group


def scale(
    stack: Stack,
    group: Annotated[str, typer.Argument(help="Neuron node group, as in the stack file.", autocompletion=completion.groups)],
    count: Annotated[int, typer.Argument(min=0, help="Nodes wanted; 0 empties the group.")],
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Set the size of a node group, down to zero for the night, and list what is still billed. Exits with 1 where EKS fails.

    Before nodes go, the jobs and pods on the group are listed, and it asks; with `--yes` it interrupts them, and no others: what is new under
    the lock ends it. Where they are not known, it asks for the cluster's name, and `--yes` refuses. Which nodes go is for AWS to choose.

    Example: trn scale dev trn1-32xl 0
    """
    from simulator.costs import items
    from stacks.settings import sized_by_time
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.job_site import site_of
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.scale.change import Scale, resized

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    if group not in settings.node_groups:
        raise no_group(stack, group, list(settings.node_groups))
    costs = items(record_stack(resized(stack_file, group, count)))
    more = list[str]()
    if sized_by_time(settings.node_groups[group]):
        more = [f"it stays so until a schedule of {group} sets another size; `{typed('pulumi up')}` leaves it alone"]
    elif settings.node_groups[group].size != count and not settings.node_groups[group].autoscaled:
        keep = f"pulumi config set --stack {stack} --path 'trn:nodeGroups.{group}.size' {count}"
        more = [f"the next `{typed('pulumi up')}` sets it back, unless: {keep}"]
    change = Scale(stack, settings.name, group, count, settings.training.namespace, site_of(settings, stack), costs, more)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "waiting for EKS", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
