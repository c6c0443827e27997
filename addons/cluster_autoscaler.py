"""Cluster Autoscaler: sizes the managed node groups that ask for it, from zero too."""

from dataclasses import dataclass

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import CLUSTER_AUTOSCALER, CLUSTER_AUTOSCALER_TAGS
from components.identity import ServiceAccount
from facts.names import AUTOSCALED_TAG
from facts.policies.scaling import cluster_autoscaler_policy

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"
DECLARATION = Declaration(
    key="clusterAutoscaler",
    title="Cluster Autoscaler",
    purpose="Sizes the node groups with `autoscaled: true` to what pods ask for",
    component="cluster-autoscaler",
    namespace=NAMESPACE,
    nodes="core",
    charts=(CLUSTER_AUTOSCALER,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    leaves=("ConfigMap cluster-autoscaler-status and Lease cluster-autoscaler in kube-system",),
)


@dataclass(frozen=True)
class ClusterAutoscalerArgs(AddonArgs):
    """What Cluster Autoscaler is made from."""

    cluster_name: str
    region: str
    kubernetes_version: str
    idle_minutes: int = 20
    longest_start_minutes: int = 30


def cluster_autoscaler_values(args: ClusterAutoscalerArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        "autoDiscovery": {
            # Without the name the chart renders no Deployment, and Helm reports success.
            "clusterName": args.cluster_name,
            # EKS tags every managed group for discovery; the third tag is on those only whose size is left to an autoscaler.
            "tags": ["k8s.io/cluster-autoscaler/enabled", f"k8s.io/cluster-autoscaler/{args.cluster_name}", AUTOSCALED_TAG],
        },
        "awsRegion": args.region,
        "fullnameOverride": SERVICE_ACCOUNT,
        "image": {"tag": CLUSTER_AUTOSCALER_TAGS[args.kubernetes_version]},
        # The chart's account is here, not under `serviceAccount`.
        "rbac": {"serviceAccount": {"name": SERVICE_ACCOUNT}},
        "extraArgs": {
            "expander": "least-waste",
            "scale-down-unneeded-time": f"{args.idle_minutes}m",
            # A Neuron node needs longer than the default 15 minutes; the group would be backed off while its nodes boot.
            "max-node-provision-time": f"{args.longest_start_minutes}m",
            # Two groups with the same labels are not the same: one may hold a capacity block.
            "balance-similar-node-groups": False,
            "skip-nodes-with-system-pods": False,
        },
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}},
    }


def cluster_autoscaler_account(cluster_name: str, region: str) -> ServiceAccount:
    """The autoscaler's service account and what it may do."""
    return ServiceAccount(
        cluster_name, region, NAMESPACE, SERVICE_ACCOUNT, "cluster-autoscaler", policy=cluster_autoscaler_policy(cluster_name)
    )


class ClusterAutoscaler(Addon):
    """Starts when untainted nodes are there; its pods wait for their rights."""

    def __init__(
        self, name: str, args: ClusterAutoscalerArgs, control_plane_name: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("ClusterAutoscaler", name, args, opts)
        identity = self.identity(cluster_autoscaler_account(args.cluster_name, args.region), control_plane_name)
        values = cluster_autoscaler_values(args)
        self.release(CLUSTER_AUTOSCALER, namespace=NAMESPACE, values=values, timeout_s=300, after=[identity.association])
        self.register_outputs({})
