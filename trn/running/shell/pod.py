"""The pod of `trn shell`."""

from facts.typed import typed
from stacks.images import small_image, training_image
from stacks.settings import Settings
from training.job import SHARED_PATH
from training.plan import Mounted
from training.pod import Pod, pod_spec
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.client import Object
from trn.running.subject import Subject
from trn.running.verify.jobs import TEST_LABEL
from trn.running.verify.stage import Nodes, whole_nodes

SHELL_LABEL = "trn/shell"
"""Its value is the cluster's name."""
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
        raise CommandError(f"no node of {wanted or 'a Neuron group'} is up", f"`{typed(f'trn scale {stack} {example} 1')}` starts one")
    return up[0]


def _default_image(settings: Settings, *, neuron: bool) -> str:
    """Image of the pod where none is named. Raises CommandError where none is known."""
    image = training_image(settings) if neuron else small_image(settings)
    if image is None:
        hint = "name one with --image, or set `training.toolchain` to one that has one"
        raise CommandError("no image with Neuron's tools is known for this stack", hint, code=MISUSE)
    return image


def pod(
    subject: Subject, stack: str, name: str, life_s: int, node_group: str | None = None, image: str | None = None, *, neuron: bool = False
) -> Object:
    """The pod: it sleeps for `life_s` seconds and then ends, even where nothing deletes it.

    Raises CommandError where no node, or no image, can be had.
    """
    settings, lustre = subject.settings, subject.settings.storage.lustre
    group = _node_group(subject, stack, node_group, neuron=neuron)
    nodes = _whole(subject, group) if neuron else None
    shell = Pod(
        image=image or _default_image(settings, neuron=neuron),
        command=("sleep", str(life_s)),
        life_s=life_s,
        groups=(group,) if group else (),
        devices=nodes.devices if nodes is not None else {},
        claim=nodes.claim(name) if nodes is not None else None,
        cpu="500m",
        memory="1Gi",
        mounts=(Mounted(lustre.claim_name, SHARED_PATH),) if lustre.enabled else (),
        shared_memory_gib=0 if neuron else None,
    )
    labels = {SHELL_LABEL: settings.name, TEST_LABEL: name}
    metadata = {"name": name, "namespace": settings.training.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(shell)}


def claims_of(subject: Subject, body: Object) -> tuple[Object, ...]:
    """Template of what the pod claims, where it claims anything."""
    metadata, claims = body["metadata"], body["spec"].get("resourceClaims") or ()
    found = (
        nodes for nodes in whole_nodes(subject) if nodes.claim(metadata["name"]) in [each["resourceClaimTemplateName"] for each in claims]
    )
    return next((nodes.templates(metadata["name"], metadata["namespace"], metadata["labels"]) for nodes in found), ())


def _whole(subject: Subject, group: str | None) -> Nodes | None:
    return next((nodes for nodes in whole_nodes(subject) if nodes.group == group), None)
