"""`trn roll`: show what rolling a group does, ask, and do it without ending a job by surprise."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile, Yes
from trn.engine.early import no_group


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
    end_pod: Annotated[
        list[str] | None,
        typer.Option("--end-pod", metavar="NAMESPACE/NAME", help="Pod of no job that may end with its node; may be repeated."),
    ] = None,
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
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.cli.errors import MISUSE, CommandError
    from trn.cli.lines import print_lines
    from trn.cli.output import results, write_json
    from trn.engine.program import record_stack, settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.roll.change import Roll
    from trn.running.roll.choices import RollComparison, compared, comparison_lines
    from trn.running.roll.plan import Way

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    for each in (group, *([to] if to else [])):
        if each not in settings.node_groups:
            raise no_group(stack, each, list(settings.node_groups))
    ways: list[Way] = [*(["when-idle"] if when_idle else []), *(["checkpoint"] if checkpoint else []), *(["to"] if to else [])]
    if len(ways) > 1 or to == group:
        raise CommandError("a group is rolled in one way", "give one of --when-idle, --checkpoint and --to with another group", code=MISUSE)
    if not ways:
        found = compared(record_stack(stack_file), group, left_s=left_hours * 3600, unsaved_s=unsaved_minutes * 60)
        write_json(RollComparison(choices=tuple(found)), json_file)
        print_lines(results(json_file), list(comparison_lines(stack, group, found)))
        return 0

    change = Roll(stack_file, settings.name, group, ways[0], to, frozenset(end_pod or ()), wait_hours * 3600)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, "rolling", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
