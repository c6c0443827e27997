"""`trn roll`: show what rolling a group does, ask, and do it without ending a job by surprise."""

from typing import Annotated

import typer

from operations.command_line import completion
from operations.command_line.early import no_group
from operations.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes


def roll(
    stack: Stack,
    group: Annotated[str, typer.Argument(help="Neuron node group, as in the stack file.", autocompletion=completion.groups)],
    when_idle: Annotated[bool, typer.Option("--when-idle", help="Wait until the jobs on it have ended, then replace its nodes.")] = False,
    checkpoint: Annotated[
        bool, typer.Option("--checkpoint", help="Have the jobs save and stop, replace the nodes, start the jobs again.")
    ] = False,
    to: Annotated[
        str, typer.Option("--to", metavar="GROUP", help="Have the jobs save, move them to this group beside it, and set the first to zero.")
    ] = "",
    wait_hours: Annotated[int, typer.Option("--wait-hours", min=1, help="How long --when-idle waits.")] = 48,
    left_hours: Annotated[int, typer.Option("--left-hours", min=0, help="For the comparison: what the job still has to train.")] = 8,
    unsaved_minutes: Annotated[
        int, typer.Option("--unsaved-minutes", min=0, help="For the comparison: minutes between two checkpoints of the job.")
    ] = 30,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """Bring the nodes of a group to the stack file's AMI release and launch template, at a time that its jobs agree to.

    Without one of the three ways it compares them, with a plain `pulumi up` beside them, and changes nothing. A run that was stopped is
    continued by the same command. Exits with 1 where something went wrong.

    Example: trn roll dev trn1-32xl, or: trn roll dev trn1-32xl --checkpoint
    """
    from operations.access import access
    from operations.asking import consent
    from operations.aws.node_groups import resize, scaling, sized
    from operations.cluster.plan.planned import ask_engine
    from operations.cluster.roll.plan import Way, plan_roll
    from operations.cluster.roll.run import Roll
    from operations.cluster.roll.view import as_data, compared, comparison_lines
    from operations.errors import MISUSE, CommandError
    from operations.jobs.listing.look import look
    from operations.kube.cluster import cluster_of
    from operations.kube.job_pods import PODS
    from operations.lock import locked, this_run
    from operations.output import errors, results, write_json
    from operations.ownership import StackCluster, agreed, read_ownership, refuse_change
    from operations.program import record_stack, settings_of
    from operations.rehearse.summary import print_lines
    from operations.stack_file import read_stack_file
    from operations.watching import Watching

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    for each in (group, *([to] if to else [])):
        if each not in settings.node_groups:
            raise no_group(stack, each, list(settings.node_groups))
    ways: list[Way] = [*(["when-idle"] if when_idle else []), *(["checkpoint"] if checkpoint else []), *(["to"] if to else [])]
    if len(ways) > 1 or to == group:
        raise CommandError("a group is rolled in one way", "give one of --when-idle, --checkpoint and --to with another group", code=MISUSE)
    program = record_stack(stack_file)
    if not ways:
        found = compared(program, group, left_s=left_hours * 3600, unsaved_s=unsaved_minutes * 60)
        write_json(as_data(found), json_file)
        print_lines(results(json_file), list(comparison_lines(stack, group, found)))
        return 0

    api, pulumi, progress = access().aws(stack, settings.region), access().pulumi(stack), errors()

    def tell(line: str) -> None:
        progress.print(line, markup=False, soft_wrap=True)

    kubernetes = cluster_of(api, settings.name)
    ownership = read_ownership(api, pulumi, StackCluster(stack_file.project, stack, settings.name), state)
    given = consent(yes, name)
    identity = agreed(ownership, given, tell)
    spaces = sorted({pod["metadata"]["namespace"] for pod in kubernetes.list(PODS) or ()} | {settings.training.namespace})
    sizes = {each: scaling(api, settings.name, each)["desiredSize"] for each in ([to] if to else [])}
    plan = plan_roll(group, ways[0], to, ask_engine(pulumi, stack, program), [look(kubernetes, space) for space in spaces], sizes)
    for line in plan.lines:
        tell(line)
    said: list[str] = []
    if plan.has_work:
        given.agree(f"Roll {group} in {settings.name} in {identity.region}, account {identity.account}?")
        watching = Watching(tell, access().pause)

        def empty() -> list[str]:
            wanted = sized(scaling(api, settings.name, group), 0)
            return resize(api, settings.name, group, wanted, access().pause)

        holder = this_run(ownership.caller, f"roll {stack} {group}")
        with locked(api, settings.name, holder, tell, break_lock=break_lock):
            refuse_change(api, ownership)
            said = Roll(plan, stack, kubernetes, pulumi, watching, empty, wait_hours * 3600).run()
    write_json({"group": group, "way": ways[0], "plan": plan.lines, "problems": said}, json_file)
    console = results(json_file)
    for line in said:
        console.print(line, markup=False, soft_wrap=True)
    if not said and plan.has_work:
        end = f"{group} is rolled"
        if to:
            end = f"the jobs are on {to} and {group} has no nodes: remove `nodeGroups.{group}` from the stack file, then `pulumi up`"
        console.print(end, markup=False, soft_wrap=True)
    return 1 if said else 0
