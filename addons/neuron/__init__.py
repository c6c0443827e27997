"""Neuron's chart: the device plug-in, and by switch the scheduler extension and the node problem detector."""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import NEURON

NAMESPACE = "kube-system"
HEALTH_NAMESPACE = "neuron-healthcheck-system"
"""Where the chart puts the node problem detector, and which it does not make."""
HEALTH_ACCOUNT = "node-problem-detector"


class NeuronSettings(AddonSettings):
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


DECLARATION = Declaration(
    key="neuron",
    title="Neuron device plug-in",
    purpose="Lets pods ask for Neuron devices; by switch the DRA driver instead, the scheduler extension, the problem detector",
    component="neuron",
    namespace=NAMESPACE,
    other_namespaces=(HEALTH_NAMESPACE,),
    nodes="neuron",
    settings=NeuronSettings,
    charts=(NEURON,),
    identities=(f"{HEALTH_NAMESPACE}/{HEALTH_ACCOUNT}",),
    endpoints=("autoscaling", "ec2", "monitoring"),
    called_in=lambda cluster: ("autoscaling", "ec2", "monitoring") if cluster.section(NeuronSettings).node_recovery else (),
    leaves=("node conditions and annotations keep their last value", "extended resources stay on running nodes with allocatable 0"),
)
