"""`trn shell`: a pod with the file system mounted, a shell in it, and the pod gone afterwards."""

import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from operations.access import access
from operations.aws.api import Api
from operations.cluster.status.subject import Subject, name_of
from operations.cluster.verify.devices import whole_nodes
from operations.cluster.verify.objects import SHARED_PATH, TEST_LABEL, Work, pod_spec
from operations.cluster.verify.stage import Stage, phase, states
from operations.errors import MISUSE, CommandError
from operations.interruption import ended_like_by_hand
from operations.kube.api import Kubernetes, Object
from operations.kube.cluster import cluster_of
from operations.kube.job_pods import PODS
from operations.kube.kubectl import kubectl
from operations.output import errors, told_steps, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file
from stacks.images import small_image, training_image
from stacks.settings import Settings

SHELL_LABEL = "trn/shell"
"""Its value is the cluster's name."""
START_S = 900
"""A Neuron image has more than 10 GB."""
SHELL = ("sh", "-c", "command -v bash >/dev/null && exec bash || exec sh")


@dataclass(frozen=True)
class ShellOptions:
    """What the command line said."""

    stack: str
    command: tuple[str, ...]
    """What runs in place of a shell."""
    node_group: str | None
    neuron: bool
    image: str | None
    hours: float
    json_file: Path | None


def run(options: ShellOptions) -> int:
    """Start the pod, run a shell in it, remove it. Returns the shell's own exit code."""
    settings = settings_of(read_stack_file(options.stack))
    access().need_tools("kubectl", "aws")
    api = access().aws(options.stack, settings.region)
    subject = Subject(settings, api, cluster_of(api, settings.name))
    body = pod(subject, options)
    remove_ended(subject.kubernetes, settings)
    with ended_like_by_hand():
        try:
            node = _started(subject, body)
            mounted = (
                f", the file system at {SHARED_PATH}" if settings.storage.lustre.enabled else "; there is no file system in this stack"
            )
            errors().print(f"{name_of(body)} on {node}{mounted}; the pod goes with the shell", markup=False)
            code = _shell(api, settings, name_of(body), options.command)
        finally:
            subject.kubernetes.delete(PODS, name_of(body), settings.training.namespace)
    image = body["spec"]["containers"][0]["image"]
    told = {"pod": name_of(body), "namespace": settings.training.namespace, "node": node, "image": image, "exitCode": code}
    write_json(told, options.json_file)
    return code


def pod(subject: Subject, options: ShellOptions) -> Object:
    """The pod: sleeps until its time is over, which ends it where nobody else does. Raises CommandError for what cannot be."""
    settings = subject.settings
    group = _group(subject, options)
    devices = next((nodes.devices for nodes in whole_nodes(subject) if nodes.group == group), {}) if options.neuron else {}
    image = options.image or (training_image(settings) if options.neuron else small_image(settings))
    if image is None:
        hint = "name one with --image, or set `training.neuronSdk` to a release that has one"
        raise CommandError("no image with Neuron's tools is known for this stack", hint, code=MISUSE)
    life_s = round(options.hours * 3600)
    work = Work(
        image=image,
        command=("sleep", str(life_s)),
        life_s=life_s,
        groups=(group,) if group else (),
        devices=devices,
        cpu="500m",
        memory="1Gi",
        claim=settings.storage.lustre.claim_name if settings.storage.lustre.enabled else None,
        shared_memory=options.neuron,
    )
    name = f"trn-shell-{secrets.token_hex(3)}"
    labels = {SHELL_LABEL: settings.name, TEST_LABEL: name}
    metadata = {"name": name, "namespace": settings.training.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(work)}


def _group(subject: Subject, options: ShellOptions) -> str | None:
    """Node group of the pod, one with nodes; None for any node."""
    wanted, groups = options.node_group, subject.settings.node_groups
    if wanted is not None and wanted not in groups:
        raise CommandError(f"there is no node group `{wanted}`", f"groups of the stack: {', '.join(groups) or 'none'}", code=MISUSE)
    if wanted is None and not options.neuron:
        return None
    with_nodes = (
        [nodes.group for nodes in whole_nodes(subject)] if options.neuron else [name for name, nodes in subject.nodes.items() if nodes]
    )
    up = [name for name in with_nodes if wanted in (None, name)]
    if not up:
        example = wanted or next(iter(groups), "GROUP")
        raise CommandError(f"no node of {wanted or 'a Neuron group'} is up", f"`trn scale {example} 1 --stack {options.stack}` starts one")
    return up[0]


def remove_ended(kubernetes: Kubernetes, settings: Settings) -> None:
    """Delete shells of this cluster whose time is over: nobody is in them."""
    namespace = settings.training.namespace
    for item in kubernetes.list(PODS, namespace=namespace, label=f"{SHELL_LABEL}={settings.name}") or ():
        if phase(item) in ("Succeeded", "Failed"):
            kubernetes.delete(PODS, name_of(item), namespace)


def _started(subject: Subject, body: Object) -> str:
    """Make the pod and wait until it runs. Gives its node; raises CommandError with Kubernetes' own reason."""
    name = name_of(body)
    with told_steps() as tell:
        stage = Stage(subject, "", None, access().pause, time.monotonic, tell)
        subject.kubernetes.create(PODS, stage.namespace, body)
        running = stage.wait(name, START_S, lambda pods: pods[0] if pods and phase(pods[0]) != "Pending" else None)
    if running is None or phase(running) != "Running":
        hint = "devices are held by a job, or the image cannot be pulled: `kubectl describe pod` while it waits"
        raise CommandError(f"the shell did not start within {START_S} s: {states(stage.pods(name))}", hint)
    return str(running["spec"]["nodeName"])


def _shell(api: Api, settings: Settings, name: str, command: Sequence[str]) -> int:
    with kubectl(api, settings.name, settings.training.namespace) as first:
        terminal = ["--tty"] if sys.stdin.isatty() else []
        return subprocess.run([*first, "exec", "--stdin", *terminal, name, "--", *(command or SHELL)], check=False).returncode
