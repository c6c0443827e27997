"""`trn drain` on a real API server with the pinned CRDs: one object of each of its kinds is made and drained, with its rights and no more."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from facts.kubernetes_kinds import Resource
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.crds import install
from tests.addons.test_custom_resources import BASES, CLUSTER_QUEUE, LOCAL_QUEUE, POOL, SAMPLES
from tests.kubernetes import crds
from tests.kubernetes.client import client_of
from tests.kubernetes.pods import IMAGE
from tests.kubernetes.rights import granted
from tests.trn.ending import draining
from trn.ending.drain.plan import plan_drain
from trn.kubernetes.client import KubernetesClient, Unreachable
from trn.kubernetes.kinds import KINDS, STATEFUL_SETS, Kind
from trn.rights import DRAIN, drain_rights

pytestmark = pytest.mark.kubernetes
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": IMAGE}]}}
JOB = {"template": TEMPLATE, "suspend": True}
REPLICAS = {"replicas": 1, "template": TEMPLATE}
TASKS = {"tasks": [{"name": "worker", "replicas": 1, "template": TEMPLATE}]}
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
SPECS: Mapping[str, dict[str, Any]] = {
    "queues.scheduling.volcano.sh": {"weight": 1},
    "clusterqueues.kueue.x-k8s.io": BASES[CLUSTER_QUEUE, ""],
    "localqueues.kueue.x-k8s.io": BASES[LOCAL_QUEUE, ""],
    "nodesets.slinky.slurm.net": {"replicas": 2},
    "cronjobs.batch": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": TEMPLATE}}},
    "cronjobs.batch.volcano.sh": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": TASKS}},
    "rayclusters.ray.io": SAMPLES["ray-cluster"]["spec"],
    "trainjobs.trainer.kubeflow.org": {"runtimeRef": {"name": "none"}},
    "jobsets.jobset.x-k8s.io": {"replicatedJobs": [{"name": "worker", "template": {"spec": {"template": TEMPLATE}}}]},
    "pytorchjobs.kubeflow.org": {"pytorchReplicaSpecs": {"Worker": REPLICAS}},
    "tfjobs.kubeflow.org": {"tfReplicaSpecs": {"Worker": REPLICAS}},
    "mpijobs.kubeflow.org": {"mpiReplicaSpecs": {"Launcher": REPLICAS, "Worker": REPLICAS}},
    "jobs.batch.volcano.sh": TASKS,
    "jobs.batch": JOB,
    "ingresses.networking.k8s.io": {"defaultBackend": BACKEND},
    "services": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    "persistentvolumeclaims": {
        "storageClassName": "no-such-class", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    },
    "nodepools.karpenter.sh": BASES[POOL, ""],
    "nodeclaims.karpenter.sh": {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "trn1"}, "requirements": [],
    },
}  # fmt: skip
"""What each kind's CRD wants in `spec`, as short as it can be; the others take anything."""
CLUSTER_WIDE = {"queues.scheduling.volcano.sh", "clusterqueues.kueue.x-k8s.io", "nodepools.karpenter.sh", "nodeclaims.karpenter.sh"}


def item_of(kind: Kind, namespace: str) -> Object:
    """An object of a kind, as a user makes it."""
    resource = kind.resource
    version = resource.path.removeprefix("/apis/").removeprefix("/api/")
    metadata = {"name": "users"} | ({} if resource.qualified in CLUSTER_WIDE else {"namespace": namespace})
    return {"apiVersion": version, "kind": resource.kind.split()[-1], "metadata": metadata, "spec": dict(SPECS.get(resource.qualified, {}))}


@pytest.fixture(scope="module")
def with_kinds(with_kinds: Api) -> Api:
    """And with gateways, which no chart of ours brings."""
    install(with_kinds, [crds.made("gateways.gateway.networking.k8s.io", "gateway.networking.k8s.io/Gateway")])
    return with_kinds


@pytest.fixture
def items(with_kinds: Api, namespace: str) -> Iterator[dict[str, Object]]:
    """One object of every kind that a drain acts on, by the kind's plural and group."""
    made = {kind.resource.qualified: item_of(kind, namespace) for kind in KINDS}
    for item in made.values():
        with_kinds.create(item).ok()
    yield made
    for item in made.values():
        with_kinds.delete(item, foreground=False)


class Controllers:
    """What the controllers of these kinds do, as far as a drain waits for it: none of them runs here. Acts once each time it is called."""

    def __init__(self, api: Api, items: Mapping[str, Object]) -> None:
        self._api, self._items = api, items

    def act(self, _seconds: float = 0) -> None:
        """Volcano closes queues on command, Slurm's operator ends pods, Karpenter's machines go with their pool."""
        for command in self._api.items("/apis/bus.volcano.sh/v1alpha1/commands"):
            queue = self._items["queues.scheduling.volcano.sh"]
            assert command["target"]["name"] == queue["metadata"]["name"]
            self._api.merge(queue, {"status": {"state": "Closed"}}, status=True).ok()
            self._api.delete({**command, "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command"}, foreground=False)
        nodes = self._items["nodesets.slinky.slurm.net"]
        self._api.merge(nodes, {"status": {"replicas": self._api.get(nodes).ok()["spec"]["replicas"]}}, status=True).ok()
        if not self._api.exists(self._items["nodepools.karpenter.sh"]):
            self._api.delete(self._items["nodeclaims.karpenter.sh"], foreground=False)
        # A drain looks so many times and no more: the garbage collector takes up to 30 s to learn of a kind, longer on a busy machine.
        time.sleep(1.5)


def drain(client: KubernetesClient, controllers: Controllers) -> tuple[list[str], list[str]]:
    """What is left, and what was said meanwhile."""
    said: list[str] = []
    return draining.drain(client, pause=controllers.act, tell=said.append), said


def rules() -> dict[str, set[str]]:
    """The documented rights of a drain of everything: verbs by resource."""
    found: dict[str, set[str]] = {}
    for one in (DRAIN, *map(drain_rights, KINDS)):
        for resource, verbs in one.items():
            found.setdefault(resource, set()).update(verbs)
    return found


def test_what_a_kubernetes_of_its_own_owns_stays(control_plane: ControlPlane, with_kinds: Api, namespace: str):
    """A StatefulSet's claim, and a Job that a CronJob made, go with their owners."""
    claim = {**SPECS["persistentvolumeclaims"]}
    spec = {
        "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }  # fmt: skip
    with_kinds.create(
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": namespace}, "spec": spec}
    ).ok()
    own = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0", "namespace": namespace}}
    wait(lambda: with_kinds.exists(own), "the claim is made")
    assert [step.target.name for step in plan_drain(client_of(control_plane)).steps if step.target.namespace == namespace] == []


@pytest.mark.parametrize("resource", [kind.resource for kind in KINDS] + [STATEFUL_SETS], ids=lambda resource: resource.qualified)
def test_no_list_right_is_for_nothing(control_plane: ControlPlane, with_kinds: Api, resource: Resource):
    """Without it nothing is known of this one kind, and the plan says where."""
    fewer = {name: verbs - ({"list"} if name == resource.qualified else set()) for name, verbs in rules().items()}
    with granted(control_plane, "drainer", fewer):
        unknown = plan_drain(client_of(control_plane, "drainer", ())).unknown
    assert list(unknown) == [resource.kind]
    assert f"403 Forbidden (GET {resource.path}/{resource.plural}" in unknown[resource.kind]


ACTING = [kind for kind in KINDS if kind.verb != "wait for"]


@pytest.mark.parametrize("kind", ACTING, ids=lambda kind: kind.resource.qualified)
def test_no_acting_right_is_for_nothing(control_plane: ControlPlane, with_kinds: Api, kind: Kind):
    """Without it the object stays; the API server says which right is missing."""
    acts = {(verb, name) for name, verbs in drain_rights(kind).items() for verb in verbs if verb != "list"}
    assert len(acts) == 1
    ((verb, name),) = acts
    fewer = {other: verbs - ({verb} if other == name else set()) for other, verbs in rules().items()}
    item = item_of(kind, "default")
    item["metadata"]["uid"] = "0" * 8
    with granted(control_plane, "drainer", fewer), pytest.raises(Unreachable, match="403 Forbidden"):
        kind.act(client_of(control_plane, "drainer", ()), item)


def test_every_kind_is_drained_with_the_documented_rights(control_plane: ControlPlane, with_kinds: Api, items: dict[str, Object]):
    """Closed, emptied or deleted as its table says; the kinds' paths, bodies and patches are those that the pinned CRDs take.

    The last test: for up to 30 s after a kind was made the garbage collector does not know it, and a drain waits for it.
    """
    with granted(control_plane, "drainer", rules()):
        left, said = drain(client_of(control_plane, "drainer", ()), Controllers(with_kinds, items))
    assert left == [], said
    assert [line for line in said if "cannot" in line] == []
    for kind in KINDS:
        found = with_kinds.get(items[kind.resource.qualified])
        assert (found.status == 200) == (kind.verb in ("close", "empty")), kind.resource
    assert with_kinds.get(items["clusterqueues.kueue.x-k8s.io"]).ok()["spec"]["stopPolicy"] == "HoldAndDrain"
    assert with_kinds.get(items["localqueues.kueue.x-k8s.io"]).ok()["spec"]["stopPolicy"] == "HoldAndDrain"
    assert with_kinds.get(items["nodesets.slinky.slurm.net"]).ok()["spec"]["replicas"] == 0
