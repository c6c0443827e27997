"""`trn why` and `trn cancel` on a real control plane: causes made on purpose, in the words of the real scheduler and of the process kubelet."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.client import client_of
from tests.kubernetes.kubelet.handle import process_pod
from tests.trn.jobs.carried import cancelled
from trn.kubernetes.causes.rules import cause
from trn.kubernetes.jobs.look import look
from trn.kubernetes.jobs.table import rows
from trn.kubernetes.situation import Cause

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]

CHIPS = {"container": {"resources": {"limits": {"aws.amazon.com/neuron": "16"}}}}
MOUNTED = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
EFA = {"container": {"resources": {"limits": {"vpc.amazonaws.com/efa": "8"}}}}
CAUSES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no chips": ("busybox", CHIPS, "devices", "its 2 nodes offer no Neuron chips (aws.amazon.com/neuron) to pods"),
    "no EFA": ("busybox", EFA, "EFA", "its 2 nodes offer no EFA interfaces (vpc.amazonaws.com/efa) to pods"),
    "image missing": ("none:1", {}, "image", "cannot pull the image none:1"),
    "claim unbound": ("busybox", MOUNTED, "claim", "the claim data is Pending: no volume is bound to it"),
}


def job(namespace: str, image: str, **spec: Any) -> Object:
    """A Job of one pod on this kubelet's nodes."""
    template = process_pod("bert", namespace, "sleep 600", image=image, **spec)["spec"]
    metadata = {"name": "bert", "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"backoffLimit": 0, "template": {"spec": template}}}


def quota(api: Api, namespace: str) -> Object:
    """One of the namespace that is used up."""
    metadata = {"name": "devices", "namespace": namespace}
    item = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "0"}}}
    api.create(item).ok()
    wait(lambda: "used" in api.get(item).ok().get("status", {}), "the quota is counted")
    return item


def webhook(api: Api, namespace: str) -> Object:
    """One for the namespace's pods behind which nothing listens."""
    hook = {
        "name": "pods.example.com",
        "clientConfig": {"url": "https://127.0.0.1:9/"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 1,
    }
    metadata = {"name": f"pods-of-{namespace}"}
    item = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": metadata,
        "webhooks": [hook],
    }
    api.create(item).ok()
    # The API server calls it from a moment later on.
    probe = {**process_pod("probe", namespace, "true"), "metadata": {"name": "probe", "namespace": namespace}}
    wait(lambda: api.call("POST", f"/api/v1/namespaces/{namespace}/pods", probe, dryRun="All").status >= 300, "the webhook is called")
    return item


HELD_UP: dict[str, tuple[Callable[[Api, str], Object], str, str]] = {
    "quota": (quota, "quota", "the quota devices of the namespace {namespace} leaves no room: "),
    "webhook": (webhook, "webhook", "the webhook pods.example.com does not answer, so no pods can be made"),
}


def asked(control_plane: ControlPlane, namespace: str, is_so: Callable[[Cause], bool]) -> Cause:
    """The cause, when it is the one that is waited for."""
    client = client_of(control_plane)

    def found() -> Cause | None:
        view = look(client, namespace)
        current = cause(view.situation(view.named("bert", namespace)))
        return current if current is not None and is_so(current) else None

    return wait(found, "it has its cause")


@pytest.mark.parametrize("case", CAUSES)
def test_a_real_cause_is_named_and_the_job_is_cancelled(control_plane: ControlPlane, api: Api, namespace: str, case: str):
    """What the scheduler and kubelet really write leads to the sentence; cancelled, the job and its pod are gone."""
    image, spec, name, what = CAUSES[case]
    claim = {"accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    api.create(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": namespace}, "spec": claim}
    ).ok()
    api.create(job(namespace, image, **spec)).ok()
    found = asked(control_plane, namespace, lambda it: it.name == name)
    assert what in found.what, found
    client = client_of(control_plane)
    view = look(client, namespace)
    (row,) = rows(view)
    assert (row.name, row.nodes_wanted, row.nodes_running, str(row.state)) == ("bert", 1, 0, "waiting")
    assert cancelled(client, "bert", namespace, now=True, pause=time.sleep).is_gone
    assert not look(client, namespace).jobs


@pytest.mark.parametrize("case", HELD_UP)
def test_why_no_pod_of_it_can_be_made(control_plane: ControlPlane, api: Api, namespace: str, case: str):
    """In the words of the API server, as the Job's controller keeps them in an event."""
    sets_up, name, what = HELD_UP[case]
    made = sets_up(api, namespace)
    api.create(job(namespace, "busybox")).ok()
    found = asked(control_plane, namespace, lambda it: it.name == name)
    api.delete(made, foreground=False)
    assert what.format(namespace=namespace) in found.what, found


def test_why_its_nodes_take_no_pods(control_plane: ControlPlane, api: Api, namespace: str):
    """They are cordoned."""
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"process-{number}"}} for number in range(2)]
    for node in nodes:
        api.merge(node, {"spec": {"unschedulable": True}}).ok()
    api.create(job(namespace, "busybox")).ok()
    found = asked(control_plane, namespace, lambda it: it.name == "taint")
    for node in nodes:
        api.merge(node, {"spec": {"unschedulable": None}}).ok()
    assert "is closed to new pods (cordoned)" in found.what
