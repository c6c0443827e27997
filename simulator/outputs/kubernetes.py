"""Answers for Kubernetes types: `namespace/name` as the id, and the status that awaiting leaves.

Shapes: pulumi/pulumi-kubernetes provider, read 2026-07.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.kubernetes_objects import OBJECTS
from simulator.outputs.context import Context

Inputs = Mapping[str, Any]
Answer = tuple[str, dict[str, Any]]


def _object(context: Context, inputs: Inputs) -> Answer:
    metadata = inputs["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace")
    return f"{namespace}/{name}" if namespace else name, {"metadata": {**metadata, "uid": context.uuid()}}


def _claim(context: Context, inputs: Inputs) -> Answer:
    resource_id, computed = _object(context, inputs)
    return resource_id, {**computed, "status": {"phase": "Bound"}}


def _release(context: Context, inputs: Inputs) -> Answer:
    name, namespace = inputs["name"], inputs["namespace"]
    status = {"name": name, "namespace": namespace, "revision": 1, "status": "deployed", "version": inputs["version"]}
    return f"{namespace}/{name}", {"status": status}


ANSWERS: Mapping[str, Callable[[Context, Inputs], Answer]] = {
    **dict.fromkeys(OBJECTS, _object),
    "kubernetes:core/v1:PersistentVolumeClaim": _claim,
    "kubernetes:helm.sh/v3:Release": _release,
}
