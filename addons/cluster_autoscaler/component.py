"""Cluster Autoscaler as a component."""

from addons.base import Addon
from addons.claimed import claimed_resources
from addons.cluster import Cluster
from addons.cluster_autoscaler import NAMESPACE, SERVICE_ACCOUNT, ClusterAutoscalerSettings
from addons.images import Values
from addons.site import Site
from addons.versions import CLUSTER_AUTOSCALER, CLUSTER_AUTOSCALER_TAGS
from components.identity import ServiceAccount
from facts.names import AUTOSCALED_TAG
from facts.policies.scaling import cluster_autoscaler_policy


def cluster_autoscaler_values(cluster: Cluster) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    settings = cluster.section(ClusterAutoscalerSettings)
    return {
        "autoDiscovery": {
            # Without the name the chart renders no Deployment, and Helm reports success.
            "clusterName": cluster.name,
            # EKS tags every managed group for discovery; the third tag is on those only whose size is left to an autoscaler.
            "tags": ["k8s.io/cluster-autoscaler/enabled", f"k8s.io/cluster-autoscaler/{cluster.name}", AUTOSCALED_TAG],
        },
        "awsRegion": cluster.region,
        "fullnameOverride": SERVICE_ACCOUNT,
        "image": {"tag": CLUSTER_AUTOSCALER_TAGS[cluster.kubernetes_version]},
        # The chart's account is here, not under `serviceAccount`.
        "rbac": {"serviceAccount": {"name": SERVICE_ACCOUNT}},
        "extraArgs": {
            # Until it is locked to true (kubernetes/autoscaler cluster-autoscaler FAQ, 1.36): without it a pod with a claim adds no node.
            **({"enable-dynamic-resource-allocation": True} if claimed_resources(cluster) else {}),
            "expander": "least-waste",
            "scale-down-unneeded-time": f"{settings.idle_minutes}m",
            # A Neuron node needs longer than the default 15 minutes; the group would be backed off while its nodes boot.
            "max-node-provision-time": f"{settings.longest_start_minutes}m",
            # Two groups with the same labels are not the same: one may hold a capacity block.
            "balance-similar-node-groups": False,
            "skip-nodes-with-system-pods": False,
        },
        "resources": {"requests": {"cpu": "100m", "memory": "300Mi"}},
    }


class ClusterAutoscaler(Addon):
    """Starts when untainted nodes are there; its pods wait for their rights."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("ClusterAutoscaler", name, site)
        cluster = site.cluster
        policy = cluster_autoscaler_policy(cluster.name)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "cluster-autoscaler", policy=policy)
        after = [self.identity(account, site.control_plane_name).association]
        self.release(CLUSTER_AUTOSCALER, namespace=NAMESPACE, values=cluster_autoscaler_values(cluster), timeout_s=300, after=after)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return ClusterAutoscaler("cluster-autoscaler", site)
