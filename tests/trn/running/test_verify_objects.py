"""What `trn verify` starts: objects that Kubernetes and Volcano take, pods that find a node of every type we make, scripts that run."""

from typing import Any

import pytest

from addons.volcano import VolcanoSettings
from facts.catalogue import NEURON_TYPES
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from stacks.settings import NodeGroup, Settings
from tests.training.objects import errors
from tests.trn.kubernetes.healthy_cluster import GROUP, NAME, Healthy
from tests.trn.kubernetes.running_cluster import RunningCluster
from tests.trn.running.test_status import of
from training.pod import Pod, pod_spec
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.running.subject import efa_count
from trn.running.verify import collectives, driver, file_system, gang
from trn.running.verify.jobs import CLUSTER_LABEL, KEPT_S, TEST_LABEL
from trn.running.verify.stage import KINDS, Nodes, Stage, queue, whole_nodes

KUBERNETES = "1.35"
TYPES = [*NEURON_TYPES, "trn2.48xlarge at 1"]


def stage_with(instance_type: str) -> tuple[Stage, NodeGroup, list[Object]]:
    """A cluster with two nodes of a type, as the plug-ins offer them."""
    name, _, size = instance_type.partition(" at ")
    group: dict[str, Any] = {"instanceType": name, "size": 2, "efa": None, **({"logicalCoreSize": int(size)} if size else {})}
    healthy = Healthy()
    settings = NodeGroup.model_validate(group)
    healthy.settings = healthy.settings.model_copy(update={"node_groups": {GROUP: settings}})
    for node in healthy.nodes:
        offered = {
            NEURON_RESOURCE: str(NEURON_TYPES[name].chip_count),
            **({EFA_RESOURCE: str(efa_count(settings))} if efa_count(settings) else {}),
        }
        node["status"]["allocatable"] = offered
    # A pod that does not say where it wants to be comes to the first.
    healthy.cluster.objects[NODES].reverse()
    return Stage(healthy.subject, "small:1", "train:1"), settings, healthy.nodes


def bodies(stage: Stage) -> dict[str, Object]:
    """Everything that is started on a cluster, by its name."""
    (nodes,) = whole_nodes(stage.subject)
    made = (
        driver.job(stage, 2),
        file_system.job(stage),
        gang.job(stage, [nodes], "training"),
        collectives.job(stage, "trn-verify-collectives-0", nodes, 2 if efa_count(nodes.settings) else 1, "train:1"),
    )
    return {body["metadata"]["name"]: body for body in made}


def templates(body: Object) -> list[Object]:
    """Pod templates of a Job of either kind."""
    return [task["template"] for task in body["spec"].get("tasks", ())] or [body["spec"]["template"]]


@pytest.mark.parametrize("instance_type", TYPES)
def test_what_is_started_satisfies_the_schemas(instance_type: str):
    """A misspelt field is dropped with no more than a warning, and the test then tries something else."""
    stage, _, _ = stage_with(instance_type)
    for body in bodies(stage).values():
        assert errors(body) == []


def test_the_schema_of_volcanos_job_refuses_slips():
    """A check that refuses nothing would let every slip reach the cluster."""
    stage, _, _ = stage_with("trn1.32xlarge")
    for change in ({"minAvailables": 2}, {"queue": "A_b"}, {"plugins": {"sssh": []}}, {"tasks": [{"name": "x", "replicas": 1}]}):
        body = bodies(stage)["trn-verify-gang"]
        assert errors({**body, "spec": {**body["spec"], **change}}) != []


@pytest.mark.parametrize("instance_type", TYPES)
def test_every_pod_finds_a_node_and_the_gang_finds_all(instance_type: str):
    """Taint, group and devices, and room beside what runs on every node."""
    stage, settings, _ = stage_with(instance_type)
    cluster = stage.subject.kubernetes
    assert isinstance(cluster, RunningCluster)
    size = NEURON_TYPES[settings.instance_type]
    for name, body in bodies(stage).items():
        cluster.make(KINDS[body["apiVersion"]], stage.namespace, body)
        placed = [pod["spec"]["nodeName"] for pod in stage.pods(name)]
        assert len(placed) == len(set(placed)), name
        assert set(placed) <= {"node-1", "node-2"}, name
        for pod in stage.pods(name):
            requests = pod["spec"]["containers"][0]["resources"]["requests"]
            cpu = float(requests["cpu"].removesuffix("m")) / (1000 if requests["cpu"].endswith("m") else 1)
            memory_gib = float(requests["memory"][:-2]) / (1024 if requests["memory"].endswith("Mi") else 1)
            assert cpu <= size.vcpu_count / 4, name
            assert memory_gib <= size.memory_gib / 4, name
        cluster.objects[PODS].clear()
    assert not efa_count(settings) or len(bodies(stage)["trn-verify-collectives-0"]["spec"]["tasks"]) == 1


def test_a_pod_without_the_toleration_or_for_another_group_would_find_none():
    """The scheduler of these tests refuses what Kubernetes refuses."""
    stage, _, nodes = stage_with("trn1.32xlarge")
    cluster = stage.subject.kubernetes
    assert isinstance(cluster, RunningCluster)
    spec = templates(bodies(stage)["trn-verify-gang"])[0]["spec"]
    pod = {"metadata": {"name": "x"}, "spec": spec}
    assert cluster.misfits(pod, nodes[0]) == []
    assert cluster.misfits({**pod, "spec": {**spec, "tolerations": []}}, nodes[0]) == [NEURON_RESOURCE]
    assert cluster.misfits(pod, {**nodes[0], "metadata": {"name": "x", "labels": {}}}) == ["trn/node-group"]
    nodes[0]["status"]["allocatable"][EFA_RESOURCE] = "7"
    assert cluster.misfits(pod, nodes[0]) == [EFA_RESOURCE]


def test_everything_carries_the_labels_and_ends_by_itself():
    """A run that was killed with no chance to remove anything leaves nothing for long."""
    stage, _, _ = stage_with("trn2.48xlarge")
    for name, body in bodies(stage).items():
        parts = [body["metadata"], *(template["metadata"] for template in templates(body))]
        assert {(part["labels"][CLUSTER_LABEL], part["labels"][TEST_LABEL]) for part in parts} == {(NAME, name)}
        assert body["metadata"]["namespace"] == "training"
        assert body["spec"]["ttlSecondsAfterFinished"] == KEPT_S
        assert all(60 < template["spec"]["activeDeadlineSeconds"] <= 2100 for template in templates(body))
        if body["apiVersion"] == "batch/v1":
            assert body["spec"]["activeDeadlineSeconds"] == templates(body)[0]["spec"]["activeDeadlineSeconds"]
        else:
            # A gang whose pods reach their deadline ends as a whole, and is then removed.
            assert body["spec"]["policies"] == [{"events": ["PodFailed", "PodEvicted"], "action": "TerminateJob"}]
    for module in (driver, file_system, gang, collectives):
        assert module.LIMIT_S < module.LIFE_S


def test_the_gang_is_all_or_nothing_and_takes_whole_nodes():
    """Of all groups together."""
    stage, settings, _ = stage_with("trn1n.32xlarge")
    nodes = [Nodes("a", 2, settings), Nodes("b", 3, NodeGroup.model_validate({"instanceType": "trn1.2xlarge"}))]
    spec = gang.job(stage, nodes, "big")["spec"]
    assert (spec["minAvailable"], spec["queue"], spec["schedulerName"]) == (5, "big", "volcano")
    limits = [task["template"]["spec"]["containers"][0]["resources"]["limits"] for task in spec["tasks"]]
    assert limits == [{NEURON_RESOURCE: "16", EFA_RESOURCE: "16"}, {NEURON_RESOURCE: "1"}]
    assert [task["replicas"] for task in spec["tasks"]] == [2, 3]


@pytest.mark.parametrize(
    ("queues", "chosen"),
    [
        ({"training": {}, "test": {}}, "training"),
        ({"small": {"capability": {"cpu": 4}}, "test": {}}, "test"),
        ({"all": {}, "team": {"parent": "all"}}, "team"),
    ],
)
def test_the_queue_is_one_that_takes_jobs(queues: dict[str, Any], chosen: str):
    """Volcano refuses a job for a queue that has queues below it."""
    settings: Settings = of(addons={"volcano": {"queues": queues}}).settings
    listed = {name: entry for name, entry in settings.addons.of(VolcanoSettings).queues.items() if name in queues}
    volcano = settings.addons.of(VolcanoSettings).model_copy(update={"queues": listed})
    assert queue(settings.model_copy(update={"addons": settings.addons.model_copy(update={"volcano": volcano})})) == chosen


def test_the_claim_is_mounted_where_the_script_writes():
    """And shared memory only where ranks share a node."""
    stage, _, _ = stage_with("trn1.32xlarge")
    spec = templates(bodies(stage)["trn-verify-throughput"])[0]["spec"]
    assert spec["volumes"] == [{"name": "shared", "persistentVolumeClaim": {"claimName": "fsx-claim"}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "shared", "mountPath": spec["containers"][0]["command"][-1]}]
    spec = templates(bodies(stage)["trn-verify-collectives-0"])[0]["spec"]
    assert spec["volumes"] == [{"name": "memory", "emptyDir": {"medium": "Memory"}}]
    spec = templates(bodies(stage)["trn-verify-driver"])[0]["spec"]
    assert (spec["volumes"], spec["automountServiceAccountToken"]) == ([], False)
    assert "affinity" in pod_spec(Pod("x", ("x",), life_s=1, groups=("a",)))
