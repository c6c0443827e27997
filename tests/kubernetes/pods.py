"""Pods for tests of the tier, as short as they can be."""

from collections.abc import Mapping
from typing import Any

from local_kubernetes.api import Api, Object

IMAGE = "registry.example/none:1"
"""Nothing pulls it: kwok runs no container."""


def pod(
    name: str,
    namespace: str,
    *,
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    selector: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A pod of one container that does nothing; `resources` are its limits."""
    container: Object = {"name": "main", "image": IMAGE} | ({"resources": {"limits": dict(resources)}} if resources else {})
    whole = {"containers": [container]} | ({"nodeSelector": dict(selector)} if selector else {}) | spec
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": whole}


def is_unschedulable(api: Api, item: Object) -> str:
    """Why the scheduler finds no node for a pod; empty while it has not said so."""
    for condition in api.get(item).ok()["status"].get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            return condition["message"]
    return ""
