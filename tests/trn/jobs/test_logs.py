"""`trn logs`: every worker of one job, and of no other."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from addons import kuberay
from tests.support import ROOT
from tests.trn.given import Given
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from tests.trn.kubernetes.healthy_cluster import Healthy
from trn.app import app
from trn.jobs.logs.workers import workers
from trn.kubernetes.job_pods import PODS


def put(cluster: FakeCluster, name: str, job: str, state: dict[str, Any] | None = None, **more: Any) -> None:
    """A pod with one container and ten lines of log."""
    statuses = [{"name": "worker", "state": state}] if state else []
    cluster.objects.setdefault(PODS, [])
    labels = {more.get("label", "volcano.sh/job-name"): job}
    cluster.put(
        PODS, name, more.get("namespace", "training"), metadata={"labels": labels}, status={"phase": "Pending", "containerStatuses": statuses},
        spec={"containers": [{"name": "worker"}], **({"nodeName": "node-1"} if state else {})},
    )  # fmt: skip
    path = f"/api/v1/namespaces/training/pods/{name}/log?container=worker&tailLines=2"
    cluster.texts[path] = f"{name} step 1\n[b]step 2[/b]\n"


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, given: Given) -> FakeCluster:
    """The shipped stack with a job of three workers, and jobs with names that look alike."""
    monkeypatch.chdir(ROOT)
    healthy = Healthy()
    given.api = healthy.cloud.api
    given.cluster = healthy.cluster
    put(healthy.cluster, "bert-worker-10", "bert", {"waiting": {"reason": "ImagePullBackOff"}})
    put(healthy.cluster, "bert-worker-2", "bert", {"running": {"startedAt": "2026-11-01T00:00:00Z"}})
    put(healthy.cluster, "bert-worker-3", "bert")
    put(healthy.cluster, "bert-2-worker-0", "bert-2", {"running": {}})
    put(healthy.cluster, "bert-worker-0", "bert", {"running": {}}, namespace="other")
    put(healthy.cluster, "prepare-x", "prepare", {"terminated": {"reason": "OOMKilled"}}, label="batch.kubernetes.io/job-name")
    return healthy.cluster


def test_workers_come_in_order_with_their_state(cluster: FakeCluster):
    """One that has not started has no log, and says why."""
    found = list(workers(cluster, "bert", "training", 2))
    assert [(worker.pod, worker.node, worker.state, len(worker.lines)) for worker in found] == [
        ("bert-worker-2", "node-1", "running", 2),
        ("bert-worker-3", "no node", "waiting Pending", 0),
        ("bert-worker-10", "node-1", "waiting ImagePullBackOff", 0),
    ]


def test_a_kubernetes_job_is_a_job_too(cluster: FakeCluster):
    """And one whose log is gone with its node has none."""
    cluster.texts.clear()
    (worker,) = workers(cluster, "prepare", "training", 2)
    assert (worker.state, worker.lines) == ("terminated OOMKilled", ())


@pytest.mark.parametrize(
    ("job", "labels"),
    [
        ("bert-torch", {"training.kubeflow.org/job-name": "bert-torch"}),
        ("nccom", {"training.kubeflow.org/job-name": "nccom", "batch.kubernetes.io/job-name": "nccom-launcher"}),
        ("llama", {"jobset.sigs.k8s.io/jobset-name": "llama", "batch.kubernetes.io/job-name": "llama-node-0"}),
        ("serve", {"leaderworkerset.sigs.k8s.io/name": "serve"}),
        ("tune", {"ray.io/cluster": "tune-x7k2p"}),
        ("tune-x7k2p", {"ray.io/cluster": "tune-x7k2p"}),
    ],
)
def test_jobs_of_all_kinds_are_found_by_their_pods(cluster: FakeCluster, job: str, labels: dict[str, str]):
    """Each operator has a label of its own; a RayJob's pods bear the name of its RayCluster."""
    metadata = {"labels": {"ray.io/originated-from-cr-name": "tune"}}
    cluster.put(kuberay.CLUSTERS, "tune-x7k2p", metadata=metadata)
    cluster.put(kuberay.CLUSTERS, "tune-x7k2p", "other", metadata={"labels": {"ray.io/originated-from-cr-name": "theirs"}})
    cluster.put(kuberay.CLUSTERS, "by-hand")
    cluster.put(PODS, "pod-0", metadata={"labels": labels}, spec={"containers": [{"name": "worker"}]}, status={"phase": "Pending"})
    assert [worker.pod for worker in workers(cluster, job, "training", 2)] == ["pod-0"]
    assert list(workers(cluster, "theirs", "training", 2)) == []


def test_a_cluster_without_ray_has_no_ray_jobs(cluster: FakeCluster):
    """And is asked for none."""
    del cluster.objects[kuberay.CLUSTERS]
    assert len(list(workers(cluster, "bert", "training", 2))) == 3


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["logs", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_each_line_bears_its_pod(cluster: FakeCluster):
    """As it is: brackets are no markup."""
    code, out, _ = trn("bert", "--tail", "2")
    assert code == 0
    assert out.splitlines()[:3] == [
        "bert-worker-2 worker on node-1: running", "bert-worker-2 | bert-worker-2 step 1", "bert-worker-2 | [b]step 2[/b]",
    ]  # fmt: skip
    code, out, _ = trn("bert", "--tail", "2", "--json", "-")
    assert (code, json.loads(out)["containers"][0]["lines"][1]) == (0, "[b]step 2[/b]")
    assert len(json.loads(trn("bert", "--namespace", "other", "--json", "-")[1])["containers"]) == 1


def test_a_job_that_is_not_there_is_misuse(cluster: FakeCluster):
    """With the jobs that are."""
    code, _, err = trn("bort")
    assert (code, "there are no pods of a job `bort` in training" in err) == (2, True)
    assert "jobs with pods there: bert, bert-2, prepare" in err
    cluster.objects[PODS].clear()
    assert "jobs with pods there: none" in trn("bort")[2]


def test_what_the_start_before_said_is_shown(cluster: FakeCluster):
    """Of a pod that was made anew by what its entry script kept; of a container that kubelet started again by kubelet's own."""
    log = "/api/v1/namespaces/training/pods/{}/log?container=worker{}"
    said = json.dumps({"trn": "event", "event": "previous", "time": 1.0, "lines": ["step 7", "Segmentation fault"]})
    cluster.texts[log.format("bert-worker-2", "&limitBytes=131072")] = f"{said}\nstep 1\n"
    put(cluster, "bert-worker-1", "bert", {"waiting": {"reason": "CrashLoopBackOff"}})
    cluster.objects[PODS][-1]["status"]["containerStatuses"][0]["restartCount"] = 2
    cluster.texts[log.format("bert-worker-1", "&previous=true&tailLines=1")] = "out of memory\n"
    found = {worker.pod: worker.lines for worker in workers(cluster, "bert", "training", 1, previous=True)}
    assert (found["bert-worker-1"], found["bert-worker-2"]) == (("out of memory",), ("Segmentation fault",))
    assert found["bert-worker-3"] == ()
    assert "bert-worker-2 | Segmentation fault" in trn("bert", "--previous", "--tail", "1")[1]
