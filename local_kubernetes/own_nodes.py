"""A cluster that a tool made, before the stack comes into it: its own node takes no pod, and what the stack has of its own is not there."""

from collections.abc import Sequence

from local_kubernetes.api import Api, Object
from local_kubernetes.nodes import is_kwoks

TAINT = {"key": "trn.example/not-of-the-stack", "effect": "NoSchedule"}
REPLACED: Sequence[tuple[str, str]] = (("DaemonSet", "kube-proxy"), ("Deployment", "coredns"), ("Deployment", "metrics-server"))
"""What tools put into kube-system, under names that add-ons of the stack have: an API server refuses another selector for them."""


def kept_free(item: Object) -> Object:
    """The change that keeps pods off a node. Those that tolerate everything are kept off by their own affinity (workloads.py)."""
    taints = [taint for taint in item.get("spec", {}).get("taints", ()) if taint["key"] != TAINT["key"]]
    return {"spec": {"unschedulable": True, "taints": [*taints, TAINT]}}


def settle(api: Api) -> None:
    """Do it. Raises Refused."""
    for item in api.items("/api/v1/nodes"):
        if not is_kwoks(item):
            node = {**item, "apiVersion": "v1", "kind": "Node"}
            api.merge(node, kept_free(item)).ok()
    for kind, name in REPLACED:
        api.delete({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "kube-system"}}, foreground=False)
