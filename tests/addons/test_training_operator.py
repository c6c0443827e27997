"""The training-operator's kinds take what upstream's take, and it shares nothing with the MPI operator."""

import copy
from typing import Any

import jsonschema
import pytest

from addons.training_operator import NAME
from addons.training_operator.kinds import KINDS, job_crd_spec
from addons.training_operator.manifests import RULES, SECRET_RULES, WEBHOOKS, training_operator_spec, webhooks
from simulator.recording import Registration
from tests.stacks.test_addons import alone, recorded

CRD = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
POD = {"spec": {"containers": [{"name": "pytorch", "image": "registry.example/train:1.0"}]}}
JOBS: dict[str, dict[str, Any]] = {
    "PyTorchJob": {
        "nprocPerNode": "32",
        "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 0, "schedulingPolicy": {"queue": "training", "minAvailable": 2}},
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "restartPolicy": "Never", "template": POD},
            "Worker": {"replicas": 1, "restartPolicy": "Never", "template": POD},
        },
    },
    "TFJob": {
        "enableDynamicWorker": False,
        "runPolicy": {"schedulingPolicy": {"queue": "training", "minAvailable": 2}},
        "tfReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "Never", "template": POD}},
    },
}
"""Jobs of two Trainium nodes, as an API server took them with upstream's CRDs."""
PROBES: list[tuple[str, str, Any, bool]] = [
    ("PyTorchJob", "nprocPerNode", 32, False),
    ("PyTorchJob", "pytorchReplicaSpecs.Master.replicas", 2, True),
    ("PyTorchJob", "pytorchReplicaSpecs.Chief", {"replicas": 1}, True),
    ("TFJob", "pytorchReplicaSpecs", {}, False),
    ("TFJob", "tfReplicaSpecs", None, False),
]
"""Kind, path, value (None removes), and whether the API server took it (1.35.4, strict, upstream's CRDs of v1.9.0)."""


def errors(kind: str, spec: dict[str, Any]) -> list[str]:
    """What the kind's own schema refuses; an unknown field too, as strict decoding does."""
    crd = job_crd_spec(next(item for item in KINDS if item.kind == kind))
    schema = copy.deepcopy(crd["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return [error.message for error in jsonschema.Draft202012Validator(schema | {"additionalProperties": False}).iter_errors(spec)]


def changed(spec: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one value put in, or taken out."""
    copied = copy.deepcopy(spec)
    *before, last = path.split(".")
    place = copied
    for key in before:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


@pytest.mark.parametrize("kind", JOBS)
def test_a_job_as_users_write_it_is_taken(kind: str):
    """Our CRD is a short one: it must not be narrower than upstream's."""
    assert errors(kind, JOBS[kind]) == []


@pytest.mark.parametrize(("kind", "path", "value", "taken"), PROBES)
def test_what_upstreams_crd_refuses_ours_refuses(kind: str, path: str, value: Any, taken: bool):
    """A wrong job is refused when it is created, not later by pods that never start."""
    assert (errors(kind, changed(JOBS[kind], path, value)) == []) == taken


def test_no_kind_is_defined_twice():
    """The training-operator's manifests and the MPI operator's both define mpijobs: the later would take the other's version away."""
    names = [item.inputs["metadata"]["name"] for item in recorded("everything").of_type(CRD)]
    assert sorted(names) == ["mpijobs.kubeflow.org", "pytorchjobs.kubeflow.org", "tfjobs.kubeflow.org"]


def test_the_operator_runs_the_kinds_that_are_defined_and_no_other():
    """Without `--enable-scheme` it starts a controller of MPIJobs v1, and ends where that kind is not there."""
    (container,) = training_operator_spec("image", volcano=False)["template"]["spec"]["containers"]
    assert container["command"] == ["/manager", "--enable-scheme=pytorchjob", "--enable-scheme=tfjob"]
    assert [rule["resources"] for hook in webhooks() for rule in hook["rules"]] == [[kind.plural] for kind in KINDS]
    assert not any("mpi" in resource for rule in RULES for resource in rule["resources"])


def test_it_reads_no_secret_beyond_its_own_namespace_and_writes_no_other_webhook():
    """Upstream's role reads every Secret in the cluster, and may turn off every check of every API object."""
    assert not any("secrets" in rule["resources"] for rule in RULES)
    assert [rule["resources"] for rule in SECRET_RULES] == [["secrets"]]
    writing = [rule for rule in RULES if "validatingwebhookconfigurations" in rule["resources"] and "update" in rule["verbs"]]
    assert [rule.get("resourceNames") for rule in writing] == [[WEBHOOKS]]


def test_its_webhooks_are_there_before_it_and_its_service_after():
    """It is ready when its authority stands in the webhooks; a Service without pods is awaited for ten minutes."""
    recording = alone("trainingOperator", on=True)

    def own(kind: str) -> Registration:
        (found,) = [item for item in recording if item.type.endswith(f":{kind}") and item.name == NAME]
        return found

    deployment, service, configuration = own("Deployment"), own("Service"), own("ValidatingWebhookConfiguration")
    assert configuration.urn in deployment.dependencies
    assert deployment.urn in service.dependencies
    assert own("Secret").urn in deployment.dependencies
    assert not own("Secret").inputs.get("data")
    assert own("Secret").inputs["metadata"]["name"] == deployment.inputs["spec"]["template"]["spec"]["volumes"][0]["secret"]["secretName"]
