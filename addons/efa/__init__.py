"""The EFA device plug-in: advertises `vpc.amazonaws.com/efa` on nodes with EFA interfaces."""

from typing import Literal

from addons.cluster import Cluster
from addons.declaration import Declaration
from addons.karpenter import KarpenterSettings
from addons.section import AddonSettings
from addons.versions import AWS_DRANET, EFA_DEVICE_PLUGIN
from facts.catalogue import NEURON_TYPES

NAMESPACE = "kube-system"


class EfaSettings(AddonSettings):
    """EFA device plug-in."""

    enabled: bool = True
    """Without it no pod can ask for `vpc.amazonaws.com/efa`."""
    devices: Literal["device-plugin", "dra"] = "device-plugin"
    """`device-plugin` for `vpc.amazonaws.com/efa`, `dra` for claims of the class `efa.networking.k8s.aws`."""


def efa_instance_types(cluster: Cluster) -> list[str]:
    """Instance types of all groups and pools with EFA interfaces, each once, sorted."""
    karpenter = cluster.section(KarpenterSettings)
    pools = [pool.instance_type for pool in karpenter.neuron_pools.values()] if karpenter.enabled else []
    groups = [group.instance.name for group in cluster.node_groups.values() if group.uses_efa]
    return sorted({*groups, *(name for name in pools if NEURON_TYPES[name].has_efa)})


DECLARATION = Declaration(
    key="efa",
    title="EFA device plug-in",
    purpose="Lets pods ask for EFA interfaces; by switch the DRA driver instead",
    component="efa",
    namespace=NAMESPACE,
    nodes="neuron",
    settings=EfaSettings,
    applies=lambda cluster: bool(efa_instance_types(cluster)),
    charts=(EFA_DEVICE_PLUGIN, AWS_DRANET),
)
