"""`trn shell`: a pod with the file system mounted, a shell in it, and the pod deleted afterwards."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import ClusterName, JsonFile, Stack, StateFile

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
    json_file: JsonFile = None,
) -> int:
    """A shell in a pod in the training namespace, with FSx mounted at /fsx. The pod is deleted when the shell ends.

    Exits with the shell's own exit code. kubectl and the AWS CLI must be on PATH.

    Example: trn shell dev, or: trn shell dev --neuron -- neuron-ls
    """
    from training.job import SHARED_PATH
    from trn.change.asking import consent
    from trn.change.clients import access
    from trn.change.cluster import cluster_of
    from trn.change.ownership import StackCluster, agreed, read_ownership
    from trn.cli.interruption import interrupted_by_signals
    from trn.cli.output import errors, write_json
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.kubernetes.job_pods import PODS
    from trn.running.shell import pod
    from trn.running.subject import Subject, name_of

    stack_file = read_stack_file(stack)
    settings = settings_of(stack_file)
    access().need_tools("kubectl", "aws")
    api = access().aws(stack, settings.region)
    ownership = read_ownership(api, access().pulumi(stack), StackCluster(stack_file.project, stack, settings.name), state)
    agreed(ownership, consent(yes=False, name=name), lambda line: errors().print(line, markup=False, soft_wrap=True))
    subject = Subject(settings, api, cluster_of(api, settings.name))
    body = pod.pod(subject, stack, life_s=round(hours * 3600), node_group=node_group, neuron=neuron, image=image)
    pod.remove_ended(subject.kubernetes, settings)
    with interrupted_by_signals():
        try:
            node = pod.start(subject, body)
            has_file_system = settings.storage.lustre.enabled
            mounted = f", the file system at {SHARED_PATH}" if has_file_system else "; there is no file system in this stack"
            errors().print(f"{name_of(body)} on {node}{mounted}; the pod is deleted when the shell ends", markup=False)
            code = pod.run_shell(api, settings, name_of(body), command or pod.SHELL)
        finally:
            subject.kubernetes.delete(PODS, name_of(body), settings.training.namespace)
    used = body["spec"]["containers"][0]["image"]
    write_json({"pod": name_of(body), "namespace": settings.training.namespace, "node": node, "image": used, "exitCode": code}, json_file)
    return code
