"""`trn cancel`: show what would end, ask, ask the workers for a checkpoint, delete, wait."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Namespace, Stack, StateFile, Yes


def cancel(
    stack: Stack,
    job: Annotated[str, typer.Argument(help="Name of a job of any kind, or KIND/NAME as kubectl has it.", autocompletion=completion.jobs)],
    namespace: Namespace = None,
    now: Annotated[bool, typer.Option("--now", help="Give the workers no time for a checkpoint.")] = False,
    state: StateFile = None,
    yes: Yes = False,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """End a job of any kind and delete it, with a checkpoint first where it keeps any.

    Its pods get SIGTERM and the job's own grace, `checkpoints.grace`, in which the entry script has the workers save. Exits with 1 where
    something stays, or where no worker said that it saved although the job keeps checkpoints.

    Example: trn cancel dev bert, or: trn cancel bert --now --yes
    """
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.jobs.cancel.change import Cancel

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    change = Cancel(stack, job, namespace or settings.training.namespace, now)
    subject = StackCluster(stack_file.project, stack, settings.name)
    with terminal(
        subject, settings.region, f"waiting for the end of {job}", json_file, state, yes=yes, name=name, break_lock=break_lock
    ) as (site, person):  # fmt: skip
        return carry_out(change, site, person)
