"""Every object that the program sends to Kubernetes satisfies the schema of its kind."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import kubernetes_validate
import pytest

from addons.volcano import QueueArgs, queue_spec
from simulator.recording import Registration
from tests.support import dev_configuration, merged, record_stack

KUBERNETES = "1.35"
API_VERSIONS = {
    "kubernetes:apps/v1:StatefulSet": ("apps/v1", "StatefulSet"),
    "kubernetes:core/v1:Namespace": ("v1", "Namespace"),
    "kubernetes:core/v1:PersistentVolume": ("v1", "PersistentVolume"),
    "kubernetes:core/v1:PersistentVolumeClaim": ("v1", "PersistentVolumeClaim"),
    "kubernetes:core/v1:Service": ("v1", "Service"),
    "kubernetes:storage.k8s.io/v1:StorageClass": ("storage.k8s.io/v1", "StorageClass"),
}
"""API version and kind of every typed object, by type token."""
WITHOUT_SCHEMA = {"kubernetes:helm.sh/v3:Release", "kubernetes:scheduling.volcano.sh/v1beta1:Queue"}
"""A release is no object of Kubernetes, a Queue's schema is Volcano's: both are tested apart."""
QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
QUANTITY = re.compile(r"(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?")
"""Pattern of a quantity, as the CRD has it."""
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "dev": {},
    "persistent etcd": {"addons": {"etcd": {"persistent": True}}},
    "own names": {"training": {"namespace": "research"}, "storage": {"lustre": {"claimName": "data", "capacityGib": 4800}}},
    "fewest objects": {
        "addons": {"etcd": {"enabled": False}, "volcano": {"enabled": False}},
        "storage": {"lustre": {"enabled": False}},
    },
    "node problem detector": {"addons": {"neuron": {"nodeProblemDetector": True}}},
    "limited queues": {
        "addons": {"volcano": {"queues": {"big": {"weight": 65535, "capability": {"aws.amazon.com/neuron": 32, "memory": "1.5Ti"}}}}}
    },
}


@cache
def objects(configuration: str) -> tuple[Registration, ...]:
    """Everything of Kubernetes that a configuration sends."""
    recording = record_stack(merged(dev_configuration(), **CONFIGURATIONS[configuration]))
    return tuple(item for item in recording.resources() if item.type.startswith("kubernetes:"))


def schema_error(registration: Registration, **changes: Any) -> str | None:
    """What Kubernetes would refuse, with the path to it; None where the object is well-formed. `changes` replace parts of it."""
    api_version, kind = API_VERSIONS[registration.type]
    manifest = {"apiVersion": api_version, "kind": kind, **registration.inputs, **changes}
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{registration.name} {'.'.join(str(part) for part in error.path)}: {error.message}"
    return None


def queue_errors(spec: Mapping[str, Any]) -> list[str]:
    """What the CRD would refuse in a Queue's `spec`.

    Source: volcano-sh/volcano installer/helm/chart/volcano/crd/bases/scheduling.volcano.sh_queues.yaml at v1.15.0. Only the
    fields that the program knows; any other counts as unknown.
    """
    capability = spec.get("capability", {})
    checks = {
        "weight": type(spec.get("weight", 1)) is int and 1 <= spec.get("weight", 1) <= 65535,
        "reclaimable": type(spec.get("reclaimable", True)) is bool,
        "capability": isinstance(capability, Mapping) and all(_is_quantity(value) for value in capability.values()),
    }
    return sorted([*(f"spec.{key}" for key in spec if key not in checks), *(f"spec.{key}" for key, holds in checks.items() if not holds)])


def _is_quantity(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and QUANTITY.fullmatch(value) is not None)


def one_of(kind: str) -> Registration:
    """An object of a kind, of the shipped stack."""
    return next(item for item in objects("dev") if item.type.endswith(f":{kind}"))


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_typed_object_satisfies_its_schema(configuration: str) -> None:
    """Kubernetes drops a misspelt field with a warning nobody reads; the strict schema refuses it."""
    errors = [schema_error(item) for item in objects(configuration) if item.type not in WITHOUT_SCHEMA]
    assert [error for error in errors if error] == []


def test_every_kind_sent_has_a_schema_here() -> None:
    """An object of a kind that no test knows would pass unchecked."""
    assert {item.type for item in objects("dev")} == API_VERSIONS.keys() | WITHOUT_SCHEMA


def test_every_object_says_what_it_is() -> None:
    """The schema is chosen by type token: an object that names another kind in itself would be checked as the wrong one."""
    typed = [item for item in objects("dev") if item.type in API_VERSIONS]
    assert {(item.inputs["apiVersion"], item.inputs["kind"]) == API_VERSIONS[item.type] for item in typed} == {True}


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("StatefulSet", {"specs": {}}, "'specs' was unexpected"),
        ("StatefulSet", {"spec": {"selector": {}, "template": {}, "serviceNam": "x"}}, "'serviceNam' was unexpected"),
        ("Service", {"spec": {"ports": [{"port": "2379"}]}}, "'2379' is not of type 'integer'"),
        ("PersistentVolume", {"spec": {"csi": {"driver": "fsx.csi.aws.com"}}}, "'volumeHandle' is a required property"),
        ("PersistentVolumeClaim", {"spec": {"accessMode": ["ReadWriteMany"]}}, "'accessMode' was unexpected"),
        ("StorageClass", {"volumeBindingmode": "Immediate"}, "'volumeBindingmode' was unexpected"),
        ("Namespace", {"metadata": {"label": {}}}, "'label' was unexpected"),
    ],
)
def test_a_misspelt_or_missing_field_is_caught(kind: str, changes: dict[str, Any], message: str) -> None:
    """A check that refuses nothing would let every slip reach the cluster."""
    assert message in str(schema_error(one_of(kind), **changes))


@pytest.mark.parametrize("configuration", ["dev", "limited queues"])
def test_every_queue_satisfies_volcano(configuration: str) -> None:
    """Volcano's own schema decides; a refused queue stops the run after all the rest has been made."""
    queues = [item for item in objects(configuration) if item.type == QUEUE]
    assert queues
    assert [error for queue in queues for error in queue_errors(queue.inputs["spec"])] == []


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        (queue_spec(QueueArgs(3, True, {"cpu": "96", "aws.amazon.com/neuron": 16})), []),
        (queue_spec(QueueArgs(weight=0)), ["spec.weight"]),
        ({"weight": "1"}, ["spec.weight"]),
        ({"weight": True}, ["spec.weight"]),
        ({"reclaimable": "false"}, ["spec.reclaimable"]),
        ({"capability": {"cpu": "a lot"}}, ["spec.capability"]),
        ({"capability": {"cpu": 1.5}}, ["spec.capability"]),
        ({"capacity": {"cpu": "1"}}, ["spec.capacity"]),
    ],
)
def test_a_queue_that_volcano_would_refuse_is_caught(spec: dict[str, Any], errors: list[str]) -> None:
    """The cases are refusals of a real API server with the chart's CRD, and the bounds the CRD states."""
    assert queue_errors(spec) == errors
