"""Cluster Autoscaler: sizes the managed node groups that ask for it, from zero too."""

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import CLUSTER_AUTOSCALER

NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"


class ClusterAutoscalerSettings(AddonSettings):
    """Cluster Autoscaler: sizes the node groups that say `autoscaled: true`, from zero too."""

    enabled: bool = False
    """Watch for pods without a node."""
    idle_minutes: int = Field(default=20, ge=1)
    """Minutes without need after which a node is removed."""
    longest_start_minutes: int = Field(default=30, ge=5)
    """Minutes that a node may take to join before its group counts as failing. Neuron nodes need more than the usual 15."""


DECLARATION = Declaration(
    key="clusterAutoscaler",
    title="Cluster Autoscaler",
    purpose="Sizes the node groups with `autoscaled: true` to what pods ask for",
    component="cluster-autoscaler",
    namespace=NAMESPACE,
    nodes="core",
    settings=ClusterAutoscalerSettings,
    charts=(CLUSTER_AUTOSCALER,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    leaves=("ConfigMap cluster-autoscaler-status and Lease cluster-autoscaler in kube-system",),
)
