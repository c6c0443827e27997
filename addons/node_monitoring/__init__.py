"""EKS's node monitoring agent: finds broken kernels, disks, networks and Neuron devices, and reports them to EKS node repair."""

from addons.declaration import Declaration
from addons.section import AddonSettings

EKS_NAME = "eks-node-monitoring-agent"


class NodeMonitoringSettings(AddonSettings):
    """EKS node monitoring agent."""

    enabled: bool = False
    """Let node repair see broken devices, disks and networks. `nodeGroups.NAME.nodeRepair` acts on what it finds."""


DECLARATION = Declaration(
    key="nodeMonitoring",
    title="EKS node monitoring agent",
    purpose="Reports broken devices, disks and networks to EKS node repair, which otherwise sees only nodes that are not ready",
    component="node-monitoring",
    namespace="kube-system",
    nodes="all",
    settings=NodeMonitoringSettings,
    managed=(EKS_NAME,),
    leaves=("the CRD nodediagnostics.eks.amazonaws.com", "node conditions keep their last value"),
)
