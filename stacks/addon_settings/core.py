"""Sections of the add-ons that a Neuron training job needs first: device plug-ins, gang scheduler, rendezvous."""

from typing import Annotated, Literal

from pydantic import Field

from stacks.section import KUBERNETES_NAME, Section


class NeuronAddon(Section):
    """Neuron's chart."""

    enabled: bool = True
    """Device plug-in: without it no pod can ask for `aws.amazon.com/neuron`."""
    devices: Literal["device-plugin", "dra"] = "device-plugin"
    """How pods ask for devices: `device-plugin` for `aws.amazon.com/neuron`, `dra` for claims of the class `neuron.aws.com`. Never both on a node, so one for the cluster."""
    scheduler_extension: bool = False
    """Neuron's second scheduler. Only for pods that ask for part of a node; Volcano's pods bypass it."""
    node_problem_detector: bool = False
    """Neuron's node problem detector. It watches only; EKS node repair is on already."""
    node_recovery: bool = False
    """Let the node problem detector replace nodes. Only where EKS node repair is off in all groups."""


class EfaAddon(Section):
    """EFA device plug-in."""

    enabled: bool = True
    """Without it no pod can ask for `vpc.amazonaws.com/efa`."""
    devices: Literal["device-plugin", "dra"] = "device-plugin"
    """`device-plugin` for `vpc.amazonaws.com/efa`, `dra` for claims of the class `efa.networking.k8s.aws`."""


class Queue(Section):
    """One Volcano queue."""

    weight: int = Field(default=1, ge=1, le=65535)
    """Share among queues that compete."""
    reclaimable: bool = False
    """Whether other queues may take resources back from running jobs."""
    capability: dict[str, int | str] = Field(default_factory=dict)
    """Most that the queue may use, by resource name. Empty means all there is."""
    parent: str | None = None
    """Queue above this one. One parent anywhere makes all queues a hierarchy, shared by `deserved` in place of `weight`."""
    deserved: dict[str, int | str] = Field(default_factory=dict)
    """What the queue may claim back from its siblings, by resource name; in a hierarchy only."""


def _default_queues() -> dict[str, Queue]:
    return {"training": Queue()}


class VolcanoAddon(Section):
    """Volcano, the gang scheduler."""

    enabled: bool = True
    """TorchX submits Volcano jobs, so without it the BERT example cannot start."""
    replicas: int = Field(default=2, ge=1, le=3)
    """Replicas of scheduler, controller and admission; above 1 they elect a leader."""
    image_registry: str = "docker.io"
    """Registry of the images. Docker Hub limits anonymous pulls."""
    topology: bool = False
    """A HyperNode for each group with EFA: jobs with `networkTopology: {mode: hard, highestTierAllowed: 1}` stay within one, and so on one EFA network."""
    queues: dict[Annotated[str, Field(pattern=f"^{KUBERNETES_NAME}$")], Queue] = Field(default_factory=_default_queues)
    """Queues by name."""


class EtcdAddon(Section):
    """etcd 3.5 for TorchX's etcd rendezvous."""

    enabled: bool = True
    """Services `etcd-server` and `etcd-client` in the training namespace; `c10d` rendezvous needs neither."""
    persistent: bool = False
    """Keep the data on a gp3 volume. Rendezvous state is throw-away, so by default it goes with the pod."""
