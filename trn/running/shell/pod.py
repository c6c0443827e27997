"""The pod of `trn shell`: made, waited for, entered, and removed where an earlier one has ended."""

import secrets
import subprocess
import sys
import time
from collections.abc import Sequence

from stacks.images import small_image, training_image
from stacks.settings import Settings
from training.job import SHARED_PATH
from training.plan import Mounted
from training.pod import Pod, pod_spec
from trn.aws.api import Api
from trn.change.clients import access
from trn.change.kubectl import kubectl
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.job_pods import PODS
from trn.running.subject import Subject, name_of
from trn.running.verify.jobs import TEST_LABEL
from trn.running.verify.stage import Stage, phase, states, whole_nodes

SHELL_LABEL = "trn/shell"
"""Its value is the cluster's name."""
START_S = 900
"""A Neuron image has more than 10 GB."""
SHELL = ("sh", "-c", "command -v bash >/dev/null && exec bash || exec sh")


def _node_group(subject: Subject, stack: str, wanted: str | None, *, neuron: bool) -> str | None:
    """Node group of the pod, one with nodes; None for any node. Raises CommandError where there is none."""
    groups = subject.settings.node_groups
    if wanted is not None and wanted not in groups:
        raise CommandError(f"there is no node group `{wanted}`", f"groups of the stack: {', '.join(groups) or 'none'}", code=MISUSE)
    if wanted is None and not neuron:
        return None
    with_nodes = [nodes.group for nodes in whole_nodes(subject)] if neuron else [name for name, nodes in subject.nodes.items() if nodes]
    up = [name for name in with_nodes if wanted in (None, name)]
    if not up:
        example = wanted or next(iter(groups), "GROUP")
        raise CommandError(f"no node of {wanted or 'a Neuron group'} is up", f"`trn scale {stack} {example} 1` starts one")
    return up[0]


def _default_image(settings: Settings, *, neuron: bool) -> str:
    """Image of the pod where none is named. Raises CommandError where none is known."""
    image = training_image(settings) if neuron else small_image(settings)
    if image is None:
        hint = "name one with --image, or set `training.toolchain` to one that has one"
        raise CommandError("no image with Neuron's tools is known for this stack", hint, code=MISUSE)
    return image


def pod(
    subject: Subject, stack: str, *, life_s: int, node_group: str | None = None, neuron: bool = False, image: str | None = None
) -> Object:
    """The pod: it sleeps for `life_s` seconds and then ends, even where nothing deletes it.

    Raises CommandError where no node, or no image, can be had.
    """
    settings, lustre = subject.settings, subject.settings.storage.lustre
    group = _node_group(subject, stack, node_group, neuron=neuron)
    devices = next((nodes.devices for nodes in whole_nodes(subject) if nodes.group == group), {}) if neuron else {}
    shell = Pod(
        image=image or _default_image(settings, neuron=neuron),
        command=("sleep", str(life_s)),
        life_s=life_s,
        groups=(group,) if group else (),
        devices=devices,
        cpu="500m",
        memory="1Gi",
        mounts=(Mounted(lustre.claim_name, SHARED_PATH),) if lustre.enabled else (),
        shared_memory_gib=0 if neuron else None,
    )
    name = f"trn-shell-{secrets.token_hex(3)}"
    labels = {SHELL_LABEL: settings.name, TEST_LABEL: name}
    metadata = {"name": name, "namespace": settings.training.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(shell)}


def remove_ended(kubernetes: Kubernetes, settings: Settings) -> None:
    """Delete shells of this cluster whose time is over."""
    namespace = settings.training.namespace
    for item in kubernetes.list(PODS, namespace=namespace, label=f"{SHELL_LABEL}={settings.name}") or ():
        if phase(item) in ("Succeeded", "Failed"):
            kubernetes.delete(PODS, name_of(item), namespace)


def start(subject: Subject, body: Object) -> str:
    """Make the pod and wait until it runs. Returns its node; raises CommandError with Kubernetes' own reason."""
    name = name_of(body)
    stage, began, running = Stage(subject, "", None), time.monotonic(), None
    subject.kubernetes.make(PODS, stage.namespace, body)
    while time.monotonic() - began < START_S and running is None:
        access().pause(3)
        running = next((pod for pod in stage.pods(name) if phase(pod) != "Pending"), None)
    if running is None or phase(running) != "Running":
        hint = "devices are held by a job, or the image cannot be pulled: `kubectl describe pod` while it waits"
        raise CommandError(f"the shell did not start within {START_S} s: {states(stage.pods(name))}", hint)
    return str(running["spec"]["nodeName"])


def run_shell(api: Api, settings: Settings, name: str, command: Sequence[str]) -> int:
    """Run the command in the pod, on the caller's terminal; returns its exit code."""
    with kubectl(api, settings.name, settings.training.namespace) as first:
        terminal = ["--tty"] if sys.stdin.isatty() else []
        return subprocess.run([*first, "exec", "--stdin", *terminal, name, "--", *command], check=False).returncode
