"""`trn scale`: set one node group to a size, down to zero for the night, and list what is still billed."""

from typing import Annotated

import typer

from operations.command_line import completion
from operations.command_line.early import no_group
from operations.errors import CommandError
from operations.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


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

    Before nodes go, the jobs and pods on the group are listed, and it asks; with `--yes` it interrupts them. Which nodes go is for AWS to choose.

    Example: trn scale dev trn1-32xl 0
    """
    from operations.access import access
    from operations.asking import consent
    from operations.cluster.scale.occupants import Occupants, occupants, print_occupants
    from operations.cluster.scale.plan import as_data, resized
    from operations.cluster.scale.stack import scale_group
    from operations.jobs.site import site_of
    from operations.kube.cluster import cluster_of
    from operations.output import errors, gauge, results, write_json
    from operations.ownership import StackCluster
    from operations.program import record_stack, settings_of
    from operations.stack_file import read_stack_file
    from operations.watching import Watching
    from simulator.costs import figures, items
    from stacks.settings import sized_by_time

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    if group not in settings.node_groups:
        raise no_group(stack, group, list(settings.node_groups))
    lines = items(record_stack(resized(stack_file, group, count)))
    api = access().aws(stack, settings.region)
    progress, console = errors(), results(json_file)
    subject = StackCluster(stack_file.project, stack, settings.name)
    agreement, found = consent(yes, name), Occupants()

    def before_loss() -> None:
        nonlocal found
        try:
            found = occupants(cluster_of(api, settings.name), group, settings.training.namespace, site_of(settings, stack))
        except CommandError as error:
            progress.print(f"what runs on {group} is not known: {error.args[0]}", markup=False, soft_wrap=True)
            agreement.agree("Go on, and interrupt whatever runs there?")
            return
        print_occupants(progress, group, found)
        if found.counts:
            agreement.agree(f"Go on, and interrupt {found.counts} on {group} in {settings.name}?")

    with gauge("waiting for EKS", progress) as show:
        watching = Watching(lambda line: progress.print(line, markup=False, soft_wrap=True), access().pause, show)
        wanted, said = scale_group(
            api,
            access().pulumi(stack),
            subject,
            group,
            count,
            agreement,
            watching,
            before_loss,
            state_file=state,
            break_lock=break_lock,
        )
    write_json(as_data(group, wanted, lines, said, found), json_file)
    for text in said:
        console.print(f"EKS says {text}", markup=False, soft_wrap=True)
    if said:
        return 1
    console.print(f"{group} is set to {count} nodes; the stack costs {figures(lines).words()}:", markup=False)
    for line in (line for line in lines if line.now.usd_per_hour != 0):
        usd = "unknown" if line.now.usd_per_hour is None else f"{line.now.usd_per_hour:.3f}"
        console.print(f"  {usd:>8}  {line.name}, {line.what}", markup=False)
    if sized_by_time(settings.node_groups[group]):
        console.print(
            f"it stays so until a schedule of {group} sets another size; `pulumi up` leaves it alone", markup=False, soft_wrap=True
        )
    elif settings.node_groups[group].size != count and not settings.node_groups[group].autoscaled:
        keep = f"pulumi config set --stack {stack} --path 'trn:nodeGroups.{group}.size' {count}"
        console.print(f"the next `pulumi up` sets it back, unless: {keep}", markup=False, soft_wrap=True)
    return 0
