"""The EFA device plug-in: advertises `vpc.amazonaws.com/efa` on nodes with EFA interfaces."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from addons.base import TOLERATE_NEURON, Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import EFA_DEVICE_PLUGIN
from components.hardware.names import EFA_LABEL, EFA_RESOURCE

NAMESPACE = "kube-system"
DECLARATION = Declaration(
    key="efa",
    title="EFA device plug-in",
    purpose="Advertises `vpc.amazonaws.com/efa`, so that pods can ask for EFA interfaces",
    component="efa",
    namespace=NAMESPACE,
    nodes="neuron",
    charts=(EFA_DEVICE_PLUGIN,),
)


def efa_values(instance_types: Sequence[str]) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart. `instance_types`: those with EFA, of all groups."""
    return {
        # The chart tolerates nothing of ours: on tainted nodes it would run nowhere, and no error would say so.
        "tolerations": [TOLERATE_NEURON, {"key": EFA_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}],
        # The chart picks nodes by type; where a node of such a type has no EFA interface the pod crash-loops.
        "nodeSelector": {EFA_LABEL: "true"},
        "supportedInstanceLabels": {"values": sorted(instance_types)},
    }


@dataclass(frozen=True)
class EfaArgs(AddonArgs):
    """What the EFA add-on is made from."""

    instance_types: Sequence[str] = ()
    """Those with EFA, of all groups and pools."""


class Efa(Addon):
    """Needs the API server only: its pods are a DaemonSet that follows the nodes."""

    def __init__(self, name: str, args: EfaArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Efa", name, args, opts)
        self.release(EFA_DEVICE_PLUGIN, namespace=NAMESPACE, values=efa_values(args.instance_types), timeout_s=300)
        self.register_outputs({})
