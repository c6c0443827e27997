"""The simulated cluster by claims: what the drivers publish, and pods placed by what their templates claim."""

from dataclasses import replace
from typing import Any

from facts.catalogue import NEURON_TYPES
from facts.device_claims import Claimed, claim_template
from facts.resource_slices import offered
from simulator.account import kinds
from simulator.account.state import AccountState
from simulator.kubernetes_endpoint.nodes import nodes, slices
from simulator.kubernetes_endpoint.objects import objects
from simulator.kubernetes_endpoint.pods import pods
from simulator.kubernetes_endpoint.resources import ServedKind
from simulator.recording import Registration
from tests.simulator.account.standing import changed, recording, standing

TRN1 = NEURON_TYPES["trn1.32xlarge"]


def release(chart: str) -> Registration:
    """The release of a chart."""
    (found,) = [item for item in recording().of_type(kinds.RELEASE) if str(item.inputs["chart"]).endswith(chart)]
    return found


def by_claims() -> AccountState:
    """The shipped stack's account with the DRA drivers in place of the plug-ins."""
    state = standing().state
    state.put(changed(release("neuron-helm-chart"), values={"draDriver": {"enabled": True}}))
    state.put(changed(release("aws-efa-k8s-device-plugin"), chart="aws-dranet"))
    return state


def put(state: AccountState, body: dict[str, Any]) -> None:
    """One more object of a user's."""
    name, version = body["metadata"]["name"], body["apiVersion"]
    like = release("neuron-helm-chart")
    state.put(
        replace(
            like, urn=f"user/{name}", type=f"kubernetes:{version}:{body['kind']}", id=f"training/{name}", name=name, inputs=body, outputs={}
        )
    )


def job(name: str, count: int) -> dict[str, Any]:
    """A Job whose pods each claim a whole node."""
    spec = {
        "containers": [{"name": "work", "resources": {"claims": [{"name": "devices"}]}}],
        "tolerations": [{"key": "aws.amazon.com/neuron", "operator": "Exists"}],
        "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "whole"}],
    }
    about = {"name": name, "namespace": "training"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": about, "spec": {"parallelism": count, "template": {"spec": spec}}}


def placed(state: AccountState, name: str) -> list[str | None]:
    """Node of each pod of a job."""
    return [pod["spec"].get("nodeName") for pod in pods(state) if pod["metadata"]["name"].startswith(f"{name}-")]


def test_drivers_publish_what_plug_ins_would_offer():
    """Sixteen chips and eight interfaces of each trn1.32xlarge, and no resource of a plug-in beside them."""
    state = by_claims()
    names = [
        node["metadata"]["name"] for node in nodes(state) if node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == TRN1.name
    ]
    published = list(slices(state))
    assert names
    assert {item["spec"]["nodeName"] for item in published} >= set(names)
    for name in names:
        assert offered(published, name) == {"deviceclass/neuron.aws.com": 16, "deviceclass/efa.networking.k8s.aws": 8}
    assert not [key for node in nodes(state) for key in node["status"]["allocatable"] if key.startswith("aws.amazon.com")]
    assert list(slices(standing().state)) == []
    daemons = {item["metadata"]["name"] for item in objects(state, ServedKind("apps", "DaemonSet"))}
    assert {"neuron-dra-driver-kubelet-plugin", "aws-dranet"} <= daemons
    assert not {"neuron-device-plugin", "aws-efa-k8s-device-plugin"} & daemons


def test_pods_are_placed_by_what_they_claim():
    """Two whole nodes take two pods: a third finds no devices, and one whose template is not there waits for it."""
    state = by_claims()
    put(state, job("early", 1))
    assert placed(state, "early") == [None]
    put(state, claim_template("whole", "training", {}, Claimed(16, 8), TRN1))
    put(state, job("late", 2))
    assert None not in placed(state, "early")
    assert [node is None for node in placed(state, "late")] == [False, True]
