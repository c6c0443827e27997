"""What the exporters of Neuron nodes have in common: a DaemonSet of one container that tolerates the taint."""

from collections.abc import Mapping
from typing import Any

from addons.base import TOLERATE_NEURON, own_labels
from addons.images import Values


def daemon_set_spec(name: str, container: Mapping[str, Any], **pod: Any) -> Values:
    """`spec` of the DaemonSet."""
    spec = {
        # It does not call the API.
        "automountServiceAccountToken": False,
        "tolerations": [TOLERATE_NEURON],
        "containers": [{"name": name, **container}],
        **pod,
    }
    return {"selector": {"matchLabels": own_labels(name)}, "template": {"metadata": {"labels": own_labels(name)}, "spec": spec}}
