"""`trn shell`: a pod with the file system mounted, a shell in it, and the pod deleted afterwards."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import BreakLock, ClusterName, JsonFile, Stack, StateFile

LONGEST_H = 596_523
"""Kubernetes takes no `activeDeadlineSeconds` of a pod beyond 2147483647."""


def shell(
    stack: Stack,
    command: Annotated[list[str] | None, typer.Argument(help="Run this in place of a shell, behind --.")] = None,
    node_group: Annotated[
        str | None, typer.Option("--node-group", help="Neuron node group to run on. Else any node.", autocompletion=completion.groups)
    ] = None,
    neuron: Annotated[bool, typer.Option("--neuron", help="With all devices of a Neuron node, in AWS's training image.")] = False,
    image: Annotated[str | None, typer.Option("--image", help="Image of the pod. Else a small one with Python.")] = None,
    hours: Annotated[
        float, typer.Option("--hours", min=0.1, max=LONGEST_H, help="The pod ends after this time, even if this machine is lost.")
    ] = 8,
    state: StateFile = None,
    name: ClusterName = "",
    break_lock: BreakLock = False,
    json_file: JsonFile = None,
) -> int:
    """A shell in a pod in the training namespace, with FSx mounted at /fsx. The pod is deleted when the shell ends.

    Exits with the shell's own exit code. kubectl and the AWS CLI must be on PATH.

    Example: trn shell dev, or: trn shell dev --neuron -- neuron-ls
    """
    from trn.change.clients import access
    from trn.change.executor import carry_out
    from trn.change.ownership import StackCluster
    from trn.change.terminal import terminal
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.running.shell.change import Shell
    from trn.running.shell.pod import SHELL

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    access().need_tools("kubectl", "aws")
    change = Shell(stack, settings, command or SHELL, round(hours * 3600), node_group, neuron, image)
    subject = StackCluster(stack_file.project, stack, settings.name)
    # A bar would be drawn over the shell.
    with terminal(subject, settings.region, "", json_file, state, yes=False, name=name, break_lock=break_lock) as (site, person):
        return carry_out(change, site, person) or change.said["exit_code"]
