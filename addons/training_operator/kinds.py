"""CRDs of PyTorchJob and TFJob, short ones of our own.

Upstream's have about 270 kB each, nearly all of it the schema of pods, which the API server checks when the pods are made.
Fields, types and required ones as in kubeflow/training-operator v1.9.0 manifests/base/crds.
"""

from dataclasses import dataclass, field
from typing import Any

from addons.images import Values

_ANYTHING: Values = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Values = {"type": "string"}
_NUMBER: Values = {"type": "integer", "format": "int32"}
_YES_OR_NO: Values = {"type": "boolean"}
_QUEUE: Values = {
    "type": "string",
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "spec.runPolicy.schedulingPolicy.queue is immutable"}],
}
_RUN_POLICY: Values = {
    "type": "object",
    "properties": {
        "activeDeadlineSeconds": {"type": "integer", "format": "int64"},
        "backoffLimit": _NUMBER,
        "cleanPodPolicy": _TEXT,
        "managedBy": _TEXT,
        "schedulingPolicy": {
            "type": "object",
            "properties": {
                "minAvailable": _NUMBER,
                "minResources": _ANYTHING,
                "priorityClass": _TEXT,
                "queue": _QUEUE,
                "scheduleTimeoutSeconds": _NUMBER,
            },
        },
        "suspend": {"type": "boolean", "default": False},
        "ttlSecondsAfterFinished": _NUMBER,
    },
}
_REPLICAS: Values = {
    "type": "object",
    "additionalProperties": {"type": "object", "properties": {"replicas": _NUMBER, "restartPolicy": _TEXT, "template": _ANYTHING}},
}
_ELASTIC: Values = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("maxReplicas", "maxRestarts", "minReplicas", "nProcPerNode", "rdzvPort"), _NUMBER),
        **dict.fromkeys(("rdzvBackend", "rdzvHost", "rdzvId"), _TEXT),
        "metrics": {"type": "array", "items": _ANYTHING},
        "rdzvConf": {"type": "array", "items": {"type": "object", "properties": {"key": _TEXT, "value": _TEXT}}},
        "standalone": _YES_OR_NO,
    },
}


@dataclass(frozen=True)
class JobKind:
    """One kind of job."""

    kind: str
    plural: str
    replica_specs: str
    """Key of its pods by role."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Of `spec`, beside the pods and the run policy."""
    scale: Values | None = None
    """Its scale subresource, which a HorizontalPodAutoscaler turns."""


KINDS = (
    JobKind(
        "PyTorchJob",
        "pytorchjobs",
        "pytorchReplicaSpecs",
        {"elasticPolicy": _ELASTIC, "nprocPerNode": _TEXT},
        {
            "specReplicasPath": ".spec.pytorchReplicaSpecs.Worker.replicas",
            "statusReplicasPath": ".status.replicaStatuses.Worker.active",
            "labelSelectorPath": ".status.replicaStatuses.Worker.selector",
        },
    ),
    JobKind("TFJob", "tfjobs", "tfReplicaSpecs", {"enableDynamicWorker": _YES_OR_NO, "successPolicy": _TEXT}),
)


def job_crd_spec(kind: JobKind) -> Values:
    """`spec` of the CRD."""
    spec = {
        "type": "object",
        "required": [kind.replica_specs],
        "properties": {**kind.fields, kind.replica_specs: _REPLICAS, "runPolicy": _RUN_POLICY},
    }
    columns = [
        {"name": "State", "type": "string", "jsonPath": ".status.conditions[-1:].type"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "additionalPrinterColumns": columns,
        "subresources": {"status": {}, **({"scale": kind.scale} if kind.scale else {})},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": _ANYTHING}}},
    }
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.kind.lower()}
    return {"group": "kubeflow.org", "scope": "Namespaced", "names": names, "versions": [version]}
