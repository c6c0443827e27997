"""Every object that the program sends to Kubernetes satisfies the schema of its kind."""

from functools import cache
from typing import Any

import kubernetes_validate
import pytest

from simulator.recording import Registration
from tests.sharing import mostly_long
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.order_laws import RELEASE
from tests.stacks.test_addons import custom_kind, recorded
from tests.support import dev_configuration, merged, record_stack

KUBERNETES = "1.35"
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
    if configuration in ALTERNATIVES:
        recording = recorded(configuration)
    else:
        recording = record_stack(merged(dev_configuration(), **CONFIGURATIONS[configuration]))
    return tuple(item for item in recording.resources() if item.type.startswith("kubernetes:") and item.type != RELEASE)


def is_of_kubernetes(item: Registration) -> bool:
    """Whether Kubernetes itself has the schema: custom resources are tested apart."""
    return custom_kind(item) is None


def api_version_and_kind(item: Registration) -> tuple[str, str]:
    """API version and kind, from the type token."""
    api_version, _, kind = item.type.removeprefix("kubernetes:").rpartition(":")
    return api_version.removeprefix("core/"), kind


def schema_error(registration: Registration, **changes: Any) -> str | None:
    """What Kubernetes would refuse, with the path to it; None where the object is well-formed. `changes` replace parts of it."""
    api_version, kind = api_version_and_kind(registration)
    manifest = {"apiVersion": api_version, "kind": kind, **registration.inputs, **changes}
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        return f"{registration.name} {'.'.join(str(part) for part in error.path)}: {error.message}"
    return None


def one_of(kind: str) -> Registration:
    """An object of a kind, of the shipped stack."""
    return next(item for item in objects("dev") if item.type.endswith(f":{kind}"))


@pytest.mark.parametrize("configuration", mostly_long([*CONFIGURATIONS, *ALTERNATIVES], of_default=range(0, 40, 2)))
def test_every_typed_object_satisfies_its_schema(configuration: str) -> None:
    """Kubernetes drops a misspelt field with no more than a warning; the strict schema refuses it."""
    errors = [schema_error(item) for item in objects(configuration) if is_of_kubernetes(item)]
    assert [error for error in errors if error] == []


def test_every_object_says_what_it_is() -> None:
    """The schema is chosen by type token: an object that names another kind in itself would be checked as the wrong one."""
    typed = [item for item in objects("everything") if is_of_kubernetes(item)]
    assert {(item.inputs["apiVersion"], item.inputs["kind"]) == api_version_and_kind(item) for item in typed} == {True}


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
