"""Neuron's chart: the device plug-in, and by switch the scheduler extension and the node problem detector."""

from dataclasses import dataclass

import pulumi

from addons.base import TOLERATE_NEURON, Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import NEURON, NEURON_SCHEDULER_IMAGE, NEURON_SCHEDULER_TAGS
from components.identity import ServiceAccount
from facts.policies.watching import node_recovery_policy

NAMESPACE = "kube-system"
HEALTH_NAMESPACE = "neuron-healthcheck-system"
"""Where the chart puts the node problem detector, and which it does not make."""

HEALTH_ACCOUNT = "node-problem-detector"
DECLARATION = Declaration(
    key="neuron",
    title="Neuron device plug-in",
    purpose="Lets pods ask for Neuron devices; by switch the DRA driver instead, the scheduler extension, the problem detector",
    component="neuron",
    namespace=NAMESPACE,
    nodes="neuron",
    charts=(NEURON,),
    identities=(f"{HEALTH_NAMESPACE}/{HEALTH_ACCOUNT}",),
    leaves=("node conditions and annotations keep their last value", "extended resources stay on running nodes with allocatable 0"),
)


@dataclass(frozen=True)
class NeuronArgs(AddonArgs):
    """What the Neuron add-on is made from."""

    kubernetes_version: str
    scheduler_extension: bool = False
    node_problem_detector: bool = False
    dra: bool = False
    """The DRA driver in place of the device plug-in, and of all else."""
    node_recovery: ServiceAccount | None = None
    """The account with which the node problem detector replaces nodes; without it it only watches."""


def neuron_values(args: NeuronArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    if args.dra:
        # The chart would drop the device plug-in and the detector in silence; what is not to be is switched off by name.
        return {"devicePlugin": {"enabled": False}, "npd": {"enabled": False}, "draDriver": {"enabled": True}}
    values: Values = {
        "devicePlugin": {
            "enabled": True,
            # The chart's default list, and its order: a list given replaces it whole.
            "tolerations": [
                {"key": "CriticalAddonsOnly", "operator": "Exists"},
                TOLERATE_NEURON,
                {
                    "key": "sagemaker.amazonaws.com/node-health-status",
                    "operator": "Equal",
                    "value": "Unschedulable",
                    "effect": "NoSchedule",
                },
            ],
            # Without requests the plug-in is the first pod evicted, and with it go the devices of the node.
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        },
        "scheduler": {"enabled": args.scheduler_extension},
        # On by default in the chart, into a namespace that is not there: a plain install fails.
        "npd": {"enabled": args.node_problem_detector},
    }
    if args.node_recovery is not None:
        values["npd"]["nodeRecovery"] = {"enabled": True}
    if args.scheduler_extension:
        # The chart's kube-scheduler is 1.31; two minors is the skew Kubernetes supports.
        image = {"repository": NEURON_SCHEDULER_IMAGE, "tag": NEURON_SCHEDULER_TAGS[args.kubernetes_version]}
        small = {"requests": {"cpu": "100m", "memory": "128Mi"}}
        values["scheduler"] |= {"resources": small, "customScheduler": {"image": image, "resources": small}}
    return values


def node_recovery_account(cluster_name: str, region: str) -> ServiceAccount:
    """The node problem detector's service account and what it may do."""
    policy = node_recovery_policy(cluster_name)
    return ServiceAccount(cluster_name, region, HEALTH_NAMESPACE, HEALTH_ACCOUNT, "node-recovery", policy=policy)


class Neuron(Addon):
    """Needs the API server only: its pods are DaemonSets that follow the nodes."""

    def __init__(
        self,
        name: str,
        args: NeuronArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        control_plane_name: pulumi.Input[str] | None = None,
    ) -> None:
        """`control_plane_name`: for the node problem detector's rights, where it has any."""
        super().__init__("Neuron", name, args, opts)
        after: list[pulumi.Resource] = [self.namespace(HEALTH_NAMESPACE)] if args.node_problem_detector else []
        if args.node_recovery is not None and control_plane_name is not None:
            after.append(self.identity(args.node_recovery, control_plane_name).association)
        self.release(NEURON, namespace=NAMESPACE, values=neuron_values(args), timeout_s=300, after=after)
        self.register_outputs({})
