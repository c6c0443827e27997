"""What manifests of our own and values of charts have in common: labels, tolerations, verbs, DaemonSets of exporters."""

from collections.abc import Mapping
from typing import Any

from addons.images import Values
from facts.names import NEURON_TAINT

TOLERATE_NEURON: dict[str, str] = {"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"}
"""Lets a pod onto Neuron nodes that does not itself ask for a Neuron device."""

POD_IDENTITY_ANNOTATION = "trn/pod-identity"
"""On pods whose identity may come while they run: the id of the association, so that another one makes them anew."""

ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
"""All that may be done with objects, for rules of our own manifests."""


def own_labels(name: str) -> dict[str, str]:
    """Labels of the objects of our own manifests."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "trn"}


def daemon_set_spec(name: str, container: Mapping[str, Any], **pod: Any) -> Values:
    """`spec` of the DaemonSet of an exporter on Neuron nodes: one container that tolerates the taint."""
    spec = {
        # It does not call the API.
        "automountServiceAccountToken": False,
        "tolerations": [TOLERATE_NEURON],
        "containers": [{"name": name, **container}],
        **pod,
    }
    return {"selector": {"matchLabels": own_labels(name)}, "template": {"metadata": {"labels": own_labels(name)}, "spec": spec}}
