"""EKS's node monitoring agent: finds broken kernels, disks, networks and Neuron devices, and tells EKS node repair."""

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
    purpose="Tells node repair of broken devices, disks and networks, not of nodes alone that stop being ready",
    component="node-monitoring",
    namespace="kube-system",
    nodes="all",
    settings=NodeMonitoringSettings,
    managed=(EKS_NAME,),
    leaves=("the CRD nodediagnostics.eks.amazonaws.com", "node conditions keep their last value"),
)
