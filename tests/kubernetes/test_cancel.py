"""`trn cancel --now` where pods have makers of makers: real controllers make them, and another controller's pods bear the same labels."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.client import client_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.jobset import job_set_controller
from tests.kubernetes.kubelet.session import bound_claim
from tests.kubernetes.pods import IMAGE
from tests.kubernetes.trainer import trainer
from tests.training.sites import EVERYTHING, job
from tests.trn.jobs.carried import cancelled
from training.launchers import launcher
from trn.kubernetes.cancellation import CancelPlan
from trn.kubernetes.jobs.look import look

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("dev_nodes")]
STAYS = {"trn.example/stays": "true"}


@pytest.fixture(scope="module", autouse=True)
def controllers(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """JobSet's and Trainer's."""
    with ExitStack() as running:
        running.enter_context(job_set_controller(programs, control_plane))
        running.enter_context(trainer(programs, control_plane))
        yield


def foreign(namespace: str) -> Object:
    """A ReplicaSet of a user's, whose pod bears the labels of the job's."""
    labels = {"app": "web", "jobset.sigs.k8s.io/jobset-name": "bert", "trn/job": "bert"}
    spec = {"containers": [{"name": "main", "image": IMAGE}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def stays(value: Any) -> None:
    """Let all pods of an object run until they are deleted."""
    if isinstance(value, dict):
        if "containers" in value.get("spec", {}):
            value.setdefault("metadata", {}).setdefault("annotations", {}).update(STAYS)
        for each in value.values():
            stays(each)
    for each in value if isinstance(value, list) else ():
        stays(each)


@pytest.mark.parametrize("name", ["jobset", "trainjob"])
def test_the_jobs_own_pods_end_and_another_controllers_stay(name: str, control_plane: ControlPlane, api: Api, namespace: str):
    """JobSet, Job, pod, and above them a TrainJob: each maker is looked up, and what does not lead to the job is left."""
    on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
    claim = bound_claim(api, namespace, "fsx-claim")
    for item in (foreign(namespace), *launcher(name).render(job(launcher=name), on)):
        stays(item)
        api.create(item).ok()
    client = client_of(control_plane)

    def running() -> set[str]:
        pods = api.items(f"/api/v1/namespaces/{namespace}/pods")
        return {pod["metadata"]["uid"] for pod in pods if pod["status"]["phase"] == "Running"}

    before = wait(lambda: found if len(found := running()) == 3 else set(), "its two pods run, and the other one")
    view = look(client, namespace)
    plan = CancelPlan(view.named("bert", namespace), True, view.owners)
    (web,) = [pod["metadata"]["uid"] for pod in plan.job.pods if pod not in plan.own_pods]
    assert len(plan.job.pods) == 3
    done = cancelled(client, plan.job.reference, namespace, now=True, pause=time.sleep)
    assert done.is_gone
    assert any("is left" in line for line in done.told)
    assert running() & before == {web}
    for item in reversed(claim):
        api.delete(item, foreground=False)
