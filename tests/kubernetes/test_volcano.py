"""Volcano itself, at the pinned version: what its webhook refuses, which queues cannot be closed, and gangs on whole nodes."""

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from addons.prometheus.values import SERVICE_MONITORS
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.volcano_queues import OWN_QUEUES
from operations.cluster.drain.plan import plan_drain
from operations.cluster.drain.run import Drain
from operations.local_kubernetes.api import Answer, Api, Object, settled, wait
from operations.local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import crds
from tests.kubernetes.charts import Helm, nodes_of, pods, release_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.pods import IMAGE
from tests.kubernetes.stack import objects
from tests.kubernetes.volcano import PROGRAMS, Volcano
from tests.simulator.account.standing import recording
from tests.stacks.test_addons import recorded
from tests.stacks.test_queue_rules import hierarchies, is_accepted

pytestmark = pytest.mark.kubernetes
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
SEEN_S = 0.15
"""How long the webhook's own copy of the queues may lag behind."""
_numbers = itertools.count(1)
QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}


@pytest.fixture(scope="module")
def volcano(control_plane: ControlPlane, programs: Programs, _dev_nodes: list[str]) -> Iterator[Volcano]:
    """The dev stack's Volcano."""
    crds.remove_all(control_plane.api())
    settled(control_plane.api())
    tools = programs("volcano", "helm")
    made = Volcano(control_plane, Helm(control_plane, tools["helm"]), release_of(recording(), "volcano"), tools)
    made.start()
    probe = queue("probe")
    wait(lambda: made.api.apply(probe).status < 300, "the webhook answers")
    made.api.delete(probe)
    # The scheduler makes these itself.
    wait(lambda: {"default", "root"} <= made.api.names(QUEUES), "Volcano's own queues are there")
    wait(lambda: state(made.api, "default") == "Open", "jobs are taken")
    yield made
    made.stop()


def queue(name: str, **spec: Any) -> Object:
    """A queue."""
    return {**QUEUE, "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


def test_its_pods_land_on_core_nodes(volcano: Volcano):
    """Neuron nodes are for training."""
    found = [pod for app in PROGRAMS for pod in pods(volcano.api, volcano.namespace, app=app)]
    assert nodes_of(volcano.api, found) == {"core"}


def admitted(api: Api, queues: dict[str, dict[str, Any]]) -> Answer | None:
    """Make queues, parents first, under names of their own; the first refusal, or None. They are deleted again."""
    prefix = f"q{next(_numbers)}-"
    made: list[Object] = []
    refusal = None
    for name, spec in queues.items():
        parent = spec.get("parent", "root")
        item = queue(prefix + name, **{**spec, "parent": parent if parent == "root" else prefix + parent})
        answer = api.create(item)
        if answer.status >= 300:
            refusal = answer
            break
        made.append(item)
        time.sleep(SEEN_S)
    for item in reversed(made):
        # Its webhook lets no queue go before its children are gone, by its own copy too.
        wait(lambda item=item: api.delete(item, foreground=False).status in (200, 404), f"{item['metadata']['name']} may go")
    wait(lambda: not any(name.startswith(prefix) for name in api.names(QUEUES)), "the queues are gone")
    time.sleep(SEEN_S)
    return refusal


@settings(max_examples=20, deadline=None)
@given(hierarchies())
def _agree(queues: dict[str, dict[str, Any]]) -> None:
    assert _AGREEING
    refusal = admitted(_AGREEING[0], queues)
    assert is_accepted(queues) == (refusal is None), refusal


_AGREEING: list[Api] = []


def test_rules_and_volcano_agree(volcano: Volcano):
    """A hierarchy that only our rules accept stops an `up` half-way; the fast test of the same law trusts our reading of the webhook."""
    _AGREEING.append(volcano.api)
    try:
        _agree()
    finally:
        _AGREEING.clear()


def test_a_parent_that_deserves_less_than_its_children_is_refused(volcano: Volcano):
    """By our rules before anything is made, since Volcano does it in the middle of an `up`."""
    child = {"parent": "team", "deserved": {NEURON_RESOURCE: 16}}
    poor: dict[str, dict[str, Any]] = {"team": {"parent": "root"}, "nlp": child}
    rich = {"team": {"parent": "root", "deserved": {NEURON_RESOURCE: 16}}, "nlp": child}
    refusal = admitted(volcano.api, poor)
    assert refusal is not None
    assert "sum of children's deserved" in refusal.message
    assert not is_accepted(poor)
    assert admitted(volcano.api, rich) is None
    assert is_accepted(rich)


def test_the_queues_of_the_fullest_set_are_admitted(volcano: Volcano):
    """In the graph's order, parents first."""
    items = [item for item in objects(recorded("everything")) if item["kind"] == "Queue"]
    assert len(items) > 2
    assert admitted(volcano.api, {item["metadata"]["name"]: dict(item["spec"]) for item in items}) is None


@pytest.fixture
def busy(volcano: Volcano) -> Iterator[Api]:
    """A queue of a user's, open."""
    item = queue("users")
    volcano.api.create(item).ok()
    wait(lambda: state(volcano.api, "users") == "Open", "it is open")
    yield volcano.api
    volcano.api.delete(item, foreground=False)


def state(api: Api, name: str) -> str:
    """A queue's, as its controller says."""
    return api.get(queue(name)).ok().get("status", {}).get("state", "")


def drained(control_plane: ControlPlane) -> list[str]:
    """What a drain leaves that waits a tenth of a second a round, as long as the real one waits 10."""
    door = control_plane.door()
    return [str(target) for target in Drain(door, pause=lambda _: time.sleep(0.1), tell=lambda _: None).run(plan_drain(door))]


def test_a_drain_closes_users_queues_and_ends(control_plane: ControlPlane, busy: Api):
    """Volcano's scheduler always makes `root` and `default`, and its controller closes neither: a drain that asks never ends."""
    assert drained(control_plane) == []
    assert (state(busy, "users"), state(busy, "root"), state(busy, "default")) == ("Closed", "Open", "Open")


def test_a_drain_that_asked_for_the_root_queue_would_not_end(control_plane: ControlPlane, busy: Api, monkeypatch: pytest.MonkeyPatch):
    """The test above is worth something."""
    assert set(OWN_QUEUES) == {"default", "root"}
    monkeypatch.setattr("operations.cluster.drain.kinds.OWN_QUEUES", ("default",))
    assert drained(control_plane) == ["Queue root"]


def job(name: str, namespace: str, workers: int) -> Object:
    """A gang of workers, each with all devices of a node."""
    limits = {NEURON_RESOURCE: "16", EFA_RESOURCE: "8"}
    container = {"name": "main", "image": IMAGE, "resources": {"limits": limits}}
    stays = {"annotations": {"trn.example/stays": "true"}}
    template = {"metadata": stays, "spec": {"restartPolicy": "Never", "containers": [container]}}
    spec = {
        "schedulerName": "volcano",
        "queue": "default",
        "minAvailable": workers,
        "tasks": [{"name": "worker", "replicas": workers, "template": template}],
    }
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def test_a_gang_runs_whole_or_not_at_all(volcano: Volcano, namespace: str):
    """Two nodes take a gang of two; of three not one pod is bound, where plain Kubernetes would bind two and hold their nodes for ever."""
    api, path = volcano.api, f"/api/v1/namespaces/{namespace}/pods"
    small, large = job("small", namespace, 2), job("large", namespace, 3)
    api.create(small).ok()
    wait(lambda: [pod["status"]["phase"] for pod in api.items(path)] == ["Running"] * 2, "both run")
    assert nodes_of(api, api.items(path)) == {"trn1-32xl"}
    api.delete(small, foreground=False)
    wait(lambda: not api.items(path), "its pods are gone")
    api.create(large).ok()
    wait(
        lambda: "Unschedulable" in str(api.items(f"/apis/scheduling.volcano.sh/v1beta1/namespaces/{namespace}/podgroups")),
        "it is said to wait",
    )
    assert [pod["spec"].get("nodeName") for pod in api.items(path) if pod["spec"].get("nodeName")] == []
    api.delete(large, foreground=False)


@pytest.mark.parametrize("name", [name for name in SERVICE_MONITORS if name.startswith("volcano")])
def test_a_monitor_finds_volcanos_metrics(volcano: Volcano, name: str):
    """By the labels and the port name of the Services that the chart makes: a monitor that finds nothing says nothing."""
    spec = SERVICE_MONITORS[name]
    (place,) = spec["namespaceSelector"]["matchNames"]
    wanted, port = spec["selector"]["matchLabels"].items(), spec["endpoints"][0]["port"]
    services = volcano.api.items(f"/api/v1/namespaces/{place}/services")
    found = [item for item in services if wanted <= item["metadata"].get("labels", {}).items()]
    assert [port in {entry.get("name") for entry in item["spec"]["ports"]} for item in found] == [True]


def test_a_job_with_the_file_system_runs_where_its_driver_is(volcano: Volcano, namespace: str):
    """Volcano places a pod with a CSI volume only on a node whose CSINode lists the driver, as FSx's does on EKS."""
    api = volcano.api
    volume = {
        "capacity": {"storage": "1200Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "",
        "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": "fs-0a"}, "claimRef": {"namespace": namespace, "name": "data"},
    }  # fmt: skip
    claim = {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "volumeName": namespace,
        "resources": {"requests": {"storage": "1200Gi"}},
    }
    items = [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": namespace}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": namespace}, "spec": claim},
    ]
    for item in items:
        api.create(item).ok()
    mounting = job("mounting", namespace, 1)
    mounting["spec"]["tasks"][0]["template"]["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    api.create(mounting).ok()
    path = f"/api/v1/namespaces/{namespace}/pods"
    wait(lambda: [pod["status"]["phase"] for pod in api.items(path)] == ["Running"], "it runs")
    api.delete(mounting, foreground=False)
    wait(lambda: not api.items(path), "its pod is gone")
    for item in reversed(items):
        api.delete(item, foreground=False)
