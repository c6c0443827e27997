"""EKS's node monitoring agent: finds broken kernels, disks, networks and Neuron devices, and tells EKS node repair."""

from dataclasses import dataclass

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.managed import ManagedAddon, ManagedAddonArgs

EKS_NAME = "eks-node-monitoring-agent"
DECLARATION = Declaration(
    key="nodeMonitoring",
    title="EKS node monitoring agent",
    purpose="Tells node repair of broken devices, disks and networks, not of nodes alone that stop being ready",
    component="node-monitoring",
    namespace="kube-system",
    nodes="all",
    managed=(EKS_NAME,),
    leaves=("the CRD nodediagnostics.eks.amazonaws.com", "node conditions keep their last value"),
)


@dataclass(frozen=True)
class NodeMonitoringArgs(AddonArgs):
    """What the agent is made from."""

    version: str
    control_plane_name: pulumi.Input[str]


class NodeMonitoring(Addon):
    """Needs the API server only: a DaemonSet that tolerates every taint."""

    def __init__(self, name: str, args: NodeMonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("NodeMonitoring", name, args, opts)
        managed = ManagedAddonArgs(EKS_NAME, args.version, args.control_plane_name)
        ManagedAddon(EKS_NAME, managed, opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})
