"""`trn practice up --kubernetes=kind` with a kind that answers with an API server of ours: what it does not make is said in fake_tools.py.

The cluster has a node of its own, as kind's container is one, ready and empty.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_kubernetes import made_cluster, running
from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.own_nodes import TAINT
from tests.kubernetes.conftest import Programs
from tests.kubernetes.pods import IMAGE
from tests.local_kubernetes.fake_tools import FakeTool
from tests.support import copy_project
from tests.trn.practice.commands import trn
from trn.practice.engine.project import EngineFolder, practice_folder

pytestmark = pytest.mark.kubernetes
NODE = "trn-dev-control-plane"
UP = "practice up dev --kubernetes=kind --engine rehearsal --quiet"


@pytest.fixture(scope="module")
def cluster(programs: Programs) -> Iterator[ControlPlane]:
    """What kind would have made, with what kind puts into it."""
    programs("kwok", "volcano")
    started = ControlPlane.start(programs("kubernetes", "etcd"))
    api = started.api()
    api.create(own_node()).ok()
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    api.merge(own_node(), {"status": {"conditions": [ready]}}, status=True).ok()
    for item in (deployment("coredns"), daemon_set("kube-proxy")):
        api.create(item).ok()
    yield started
    started.stop()


def own_node() -> Object:
    """The container's, with room for pods. It has a lease that lasts, since no kubelet renews it."""
    room = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": NODE, "kubernetes.io/os": "linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE, "labels": labels},
        "status": {"capacity": room, "allocatable": room},
    }


def deployment(name: str) -> Object:
    """One of the tool's own, with labels that the stack's of the name does not have."""
    template = {"metadata": {"labels": {"k8s-app": name}}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}}
    spec = {"selector": {"matchLabels": {"k8s-app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "kube-system"}, "spec": spec}


def daemon_set(name: str) -> Object:
    """The same on every node."""
    return {**deployment(name), "kind": "DaemonSet"}


@pytest.fixture(scope="module")
def kind(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> FakeTool:
    """The tool."""
    return FakeTool(tmp_path_factory.mktemp("kind"), "kind", cluster.kubeconfig.read_text())


@pytest.fixture(scope="module")
def folder(kind: FakeTool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineFolder]:
    """A project whose stack dev is up in a cluster of the tool's. The working folder for this module's tests."""
    root = tmp_path_factory.mktemp("practice-kind")
    copy_project(root)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(root)
        monkeypatch.setenv("PATH", f"{kind.folder}{os.pathsep}{os.environ['PATH']}")
        code, said, errors = trn(UP)
        assert code == 0, said + errors
        assert "with kind v9.8.7" in errors
        assert "Kubernetes v1.35.4 by kind started" in errors
        yield practice_folder("dev")
        running.end(practice_folder("dev").kubernetes)


def pods_on(api: Api, node: str) -> list[str]:
    """Names of pods that are bound to a node, without those that end there: this one has no kubelet to say that they have."""
    found = (item["metadata"] for item in api.items("/api/v1/pods", fieldSelector=f"spec.nodeName={node}"))
    return [metadata["name"] for metadata in found if "deletionTimestamp" not in metadata]


def test_the_nodes_of_the_stack_are_beside_the_clusters_own(folder: EngineFolder):
    """kubectl shows them with the kubeconfig that practice wrote."""
    tree = json.loads((folder.kubernetes / running.KUBECONFIG).read_text())
    found = running.find(folder.kubernetes)
    assert found is not None
    assert tree["clusters"][0]["cluster"]["server"] == found.server
    names = [item["metadata"]["name"] for item in found.api().items("/api/v1/nodes")]
    assert len(names) == 5
    assert NODE in names


def test_the_clusters_own_node_takes_no_pod(folder: EngineFolder, cluster: ControlPlane):
    """Not even of DaemonSets that tolerate everything, and what kind had there has given way to the stack's own."""
    api = cluster.api()
    node = api.get(own_node()).ok()
    assert node["spec"]["unschedulable"] is True
    assert TAINT in node["spec"]["taints"]
    wait(lambda: pods_on(api, NODE) == [], "it is empty")
    for name in ("kube-proxy", "coredns"):
        item = (daemon_set if name == "kube-proxy" else deployment)(name)
        selector = api.get(item).ok()["spec"]["selector"]["matchLabels"]
        assert "k8s-app" not in selector
    wait(lambda: api.get(daemon_set("kube-proxy")).ok()["status"].get("numberReady") == 4, "it runs on the stack's nodes")


def test_a_job_runs_on_the_stacks_nodes_and_the_commands_see_it(folder: EngineFolder, cluster: ControlPlane):
    """With Volcano's programs on this machine, and the certificate of the kubeconfig: this API server knows no tokens of EKS's callers."""
    wait(lambda: trn("practice job dev bert")[0] == 0, "the queue takes it")
    path = "/api/v1/namespaces/training/pods"

    def workers() -> list[str]:
        found = cluster.api().items(path, labelSelector="volcano.sh/job-name=bert")
        return [item["status"]["phase"] for item in found]

    wait(lambda: workers() == ["Running", "Running"], "both workers run")
    code, said, errors = trn("--practice jobs dev")
    assert code == 0, said + errors
    assert "bert" in said
    code, said, errors = trn("--practice cancel dev bert --yes")
    assert code == 0, said + errors
    wait(lambda: workers() == [], "they are gone")


def test_what_runs_beside_it_may_be_killed(folder: EngineFolder, kind: FakeTool):
    """The cluster goes on without it, with all that is in it; the next `up` finds it and makes no other."""
    found = running.find(folder.kubernetes)
    assert found is not None
    os.kill(found.record.process, signal.SIGKILL)
    wait(lambda: not Path(found.record.folder).exists(), "its processes are gone")
    assert "has ended" in trn("--practice status dev")[2]
    code, said, errors = trn("practice up dev --quiet")
    assert code == 0, said + errors
    assert "by kind started" in errors
    assert len([line for line in kind.asked if line.startswith("create")]) == 1


def test_another_way_is_refused(folder: EngineFolder):
    """Its objects are in the cluster that it has."""
    code, _, errors = trn("practice up dev --kubernetes=go --quiet")
    assert code == 2
    assert "the stack's API server is kind's, and not go's" in errors


def test_down_deletes_that_cluster_and_no_other(folder: EngineFolder, kind: FakeTool):
    """And keeps its name while the tool cannot."""
    made = made_cluster.read(folder.kubernetes)
    assert made is not None
    kind.has("others")
    kind.will("keeps")
    code, said, errors = trn("practice down dev --quiet")
    assert code == 1, said + errors
    assert f"the cluster {made.name} is still there" in errors, said
    assert kind.clusters == {"others", made.name}
    kind.will_not("keeps")
    code, said, errors = trn("practice down dev --quiet")
    assert code == 0, said + errors
    assert kind.clusters == {"others"}
    assert not folder.kubernetes.exists()
    wait(lambda: subprocess.run(["pgrep", "-f", str(folder.kubernetes)], capture_output=True, check=False).returncode == 1, "nothing runs")
