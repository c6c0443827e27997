"""`trn why` and `trn cancel` on a real control plane: causes made on purpose, in the words of the real scheduler and of the process kubelet."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from operations.jobs.cancel.plan import plan_cancel
from operations.jobs.cancel.run import cancel_job
from operations.jobs.listing.look import look
from operations.jobs.listing.table import rows
from operations.jobs.why.causes import cause
from operations.jobs.why.situation import Cause
from operations.local_kubernetes.api import Api, Object, wait
from operations.local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet.handle import process_pod

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]

CHIPS = {"container": {"resources": {"limits": {"aws.amazon.com/neuron": "16"}}}}
MOUNTED = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
CAUSES: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "no chips": ("busybox", CHIPS, "devices", "its 2 nodes offer no Neuron chips (aws.amazon.com/neuron) to pods"),
    "image missing": ("none:1", {}, "image", "cannot pull the image none:1"),
    "claim unbound": ("busybox", MOUNTED, "claim", "the claim data is Pending: no volume is bound to it"),
}


def job(namespace: str, image: str, **spec: Any) -> Object:
    """A Job of one pod on this kubelet's nodes."""
    template = process_pod("bert", namespace, "sleep 600", image=image, **spec)["spec"]
    metadata = {"name": "bert", "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"backoffLimit": 0, "template": {"spec": template}}}


def asked(control_plane: ControlPlane, namespace: str, is_so: Callable[[Cause], bool]) -> Cause:
    """The cause, when it is the one that is waited for."""
    door = control_plane.door()

    def found() -> Cause | None:
        view = look(door, namespace)
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
    door = control_plane.door()
    view = look(door, namespace)
    (row,) = rows(view)
    assert (row.name, row.wanted, row.running, str(row.phase)) == ("bert", 1, 0, "waiting")
    outcome = cancel_job(plan_cancel(view, view.named("bert", namespace), now=True), door, time.sleep, lambda line: None)
    assert outcome.is_gone
    assert not look(door, namespace).jobs
