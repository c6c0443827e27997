"""Helm values of the EFA device plug-in and of its DRA driver, as plain data."""

from collections.abc import Sequence

from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from facts.names import EFA_LABEL, EFA_RESOURCE


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
