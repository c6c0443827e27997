"""What the exporters of Neuron nodes have in common: a DaemonSet of one container that tolerates the taint."""

from collections.abc import Mapping
from typing import Any

from addons.base import TOLERATE_NEURON
from addons.images import Values


def labels(name: str) -> dict[str, str]:
    """Labels by which the monitors find the pods."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "trn"}


def daemon_set_spec(name: str, container: Mapping[str, Any], **pod: Any) -> Values:
    """`spec` of the DaemonSet."""
    spec = {
        # It does not call the API.
        "automountServiceAccountToken": False,
        "tolerations": [TOLERATE_NEURON],
        "containers": [{"name": name, **container}],
        **pod,
    }
    return {"selector": {"matchLabels": labels(name)}, "template": {"metadata": {"labels": labels(name)}, "spec": spec}}
