"""The EFA device plug-in: advertises `vpc.amazonaws.com/efa` on nodes with EFA interfaces."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from addons.base import TOLERATE_NEURON, Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import AWS_DRANET, EFA_DEVICE_PLUGIN
from facts.names import EFA_LABEL, EFA_RESOURCE

NAMESPACE = "kube-system"
DECLARATION = Declaration(
    key="efa",
    title="EFA device plug-in",
    purpose="Lets pods ask for EFA interfaces; by switch the DRA driver instead",
    component="efa",
    namespace=NAMESPACE,
    nodes="neuron",
    charts=(EFA_DEVICE_PLUGIN, AWS_DRANET),
)


def efa_values(instance_types: Sequence[str]) -> Values:
    """Helm values of the device plug-in and of the DRA driver, which have these keys in common.

    `instance_types`: those with EFA, of all groups and pools.
    """
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
    dra: bool = False
    """The DRA driver in place of the device plug-in."""


class Efa(Addon):
    """Needs the API server only: its pods are a DaemonSet that follows the nodes."""

    def __init__(self, name: str, args: EfaArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Efa", name, args, opts)
        chart = AWS_DRANET if args.dra else EFA_DEVICE_PLUGIN
        self.release(chart, namespace=NAMESPACE, values=efa_values(args.instance_types), timeout_s=300)
        self.register_outputs({})
