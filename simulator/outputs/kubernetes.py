"""Answers for Kubernetes types: `namespace/name` as the id, and the status that awaiting leaves.

Shapes: pulumi/pulumi-kubernetes provider, read 2026-07.
"""

from collections.abc import Callable, Mapping
from typing import Any

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
    "kubernetes:core/v1:Namespace": _object,
    "kubernetes:core/v1:Service": _object,
    "kubernetes:core/v1:PersistentVolume": _object,
    "kubernetes:core/v1:PersistentVolumeClaim": _claim,
    "kubernetes:apps/v1:StatefulSet": _object,
    "kubernetes:storage.k8s.io/v1:StorageClass": _object,
    "kubernetes:scheduling.volcano.sh/v1beta1:Queue": _object,
    "kubernetes:topology.volcano.sh/v1alpha1:HyperNode": _object,
    "kubernetes:core/v1:ConfigMap": _object,
    "kubernetes:apps/v1:DaemonSet": _object,
    "kubernetes:monitoring.coreos.com/v1:PodMonitor": _object,
    "kubernetes:monitoring.coreos.com/v1:ServiceMonitor": _object,
    "kubernetes:monitoring.coreos.com/v1:PrometheusRule": _object,
    "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor": _object,
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue": _object,
    "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue": _object,
    "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime": _object,
    "kubernetes:core/v1:ServiceAccount": _object,
    "kubernetes:core/v1:Secret": _object,
    "kubernetes:rbac.authorization.k8s.io/v1:Role": _object,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": _object,
    "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration": _object,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": _object,
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": _object,
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": _object,
    "kubernetes:apps/v1:Deployment": _object,
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": _object,
    "kubernetes:karpenter.sh/v1:NodePool": _object,
    "kubernetes:helm.sh/v3:Release": _release,
}
