"""KubeRay's real operator makes a Ray cluster of our RayJob: a head without devices, a worker on each whole node, cores by Ray's name.

Ray itself does not run here: KubeRay gives the driver to the head's dashboard, which is in `ray[default]` and not in the environment of
the tests of frameworks; there the recipe runs on a Ray of one machine (tests/frameworks/test_torch.py).
"""

import json
import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from facts.names import GROUP_LABEL, NEURON_RESOURCE
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.client import client_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.garbage import wait_until_it_knows_all_kinds
from tests.kubernetes.kubelet.looking import pods_of
from tests.kubernetes.kubelet.session import bound_claim
from tests.kubernetes.kuberay import kuberay
from tests.kubernetes.pods import pod
from tests.training.sites import EVERYTHING, job
from tests.trn.jobs.carried import cancelled
from training.launchers import launcher
from training.launchers.rayjob import CORES
from trn.kubernetes.cancellation import CancelPlan
from trn.kubernetes.jobs.look import look

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("dev_nodes")]


@pytest.fixture(scope="module", autouse=True)
def operator(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """KubeRay's."""
    with kuberay(programs, control_plane):
        yield


@pytest.fixture
def ray_cluster(api: Api, namespace: str) -> Iterator[Object]:
    """The Ray cluster of our RayJob, all of whose pods are there."""
    on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
    claim = bound_claim(api, namespace, "fsx-claim")
    made = launcher("rayjob").render(job(launcher="rayjob", toolchain="xla-2.30", image="train/ray:2.60.0", nodes=2), on)
    for item in made:
        api.create(item).ok()
    path = f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters"
    (cluster,) = wait(lambda: api.items(path), "there is a RayCluster")
    name = cluster["metadata"]["name"]
    wait(lambda: len(pods_of(api, namespace, f"ray.io/cluster={name}")) == 3, "it has a head and two workers")
    yield cluster
    for item in (*reversed(made), *reversed(claim)):
        api.delete(item, foreground=False)


def started(item: Object) -> dict[str, Any]:
    """Options of the `ray start` in a pod."""
    (container,) = item["spec"]["containers"]
    words = shlex.split(" ".join(container["args"]))
    begin = max(index for index, word in enumerate(words) if word == "start" and words[index - 1] == "ray")
    options = (word.removeprefix("--").partition("=") for word in words[begin:] if word.startswith("--"))
    return {name: value for name, _, value in options}


def test_a_ray_job_becomes_a_head_and_a_worker_for_each_node(api: Api, namespace: str, ray_cluster: Object):
    """The head runs no task and asks for no device; each worker has a whole node, and tells Ray of its 32 cores."""
    found = pods_of(api, namespace, f"ray.io/cluster={ray_cluster['metadata']['name']}")
    head, *workers = sorted(found, key=lambda item: item["metadata"]["labels"]["ray.io/node-type"])
    assert [item["metadata"]["labels"]["ray.io/node-type"] for item in (head, *workers)] == ["head", "worker", "worker"]
    assert NEURON_RESOURCE not in head["spec"]["containers"][0]["resources"]["limits"]
    assert started(head)["num-cpus"] == "0"
    for item in workers:
        assert item["spec"]["containers"][0]["resources"]["limits"][NEURON_RESOURCE] == "16"
        assert item["spec"]["nodeSelector"][GROUP_LABEL] == "trn1-32xl"
        assert json.loads(started(item)["resources"])[CORES] == 32
        assert {"TRN_JOB", "RAY_AUTH_MODE"} <= {variable["name"] for variable in item["spec"]["containers"][0]["env"]}


def test_cancelled_at_once_its_pods_end_and_another_owners_stay(control_plane: ControlPlane, api: Api, namespace: str, ray_cluster: Object):
    """RayJob, RayCluster, pod: under the cluster's label there is one of a user's too."""
    wait_until_it_knows_all_kinds(api, namespace)
    name = ray_cluster["metadata"]["name"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": namespace}}
    made = api.create(owner).ok()
    foreign = pod("foreign", namespace, labels={"ray.io/cluster": name})
    foreign["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "web", "uid": made["metadata"]["uid"], "controller": True}
    ]
    api.create(foreign).ok()
    client = client_of(control_plane)
    view = look(client, namespace)
    plan = CancelPlan(view.named("bert", namespace), True, view.owners)
    assert {item["metadata"]["name"] for item in plan.job.pods if item not in plan.own_pods} == {"foreign"}
    assert cancelled(client, plan.job.reference, namespace, now=True, pause=time.sleep).is_gone
    # KubeRay may make a pod again before it hears of the end of its cluster: that one goes with its owner.
    wait(
        lambda: [item["metadata"]["name"] for item in pods_of(api, namespace, f"ray.io/cluster={name}")] == ["foreign"], "its pods are gone"
    )
