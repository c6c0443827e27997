"""`trn jobs` and `trn why`: every kind of job, its nodes and its state, from one look at a cluster."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from addons import kuberay, mpi_operator, trainer, training_operator, volcano
from facts.kubernetes_kinds import Resource
from tests.support import ROOT
from tests.trn.change.owned import stack_of
from tests.trn.given import Given
from tests.trn.jobs.situations import event, item, pod
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from tests.trn.kubernetes.healthy_cluster import Healthy
from training.launchers import launchers
from training.phase import Phase
from trn.app import app
from trn.cli.errors import CommandError
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS, FoundJob, launcher_of, phase_of
from trn.kubernetes.jobs.look import EVENTS, View, look
from trn.kubernetes.jobs.table import rows
from trn.kubernetes.kinds import JOBS, KINDS

NEURON: dict[str, Any] = {"containers": [{"name": "work", "resources": {"limits": {"aws.amazon.com/neuron": "16"}}}]}
PLAIN: dict[str, Any] = {"containers": [{"name": "launcher"}]}


def template(spec: dict[str, Any] = NEURON) -> dict[str, Any]:
    """A pod template."""
    return {"template": {"spec": spec}}


SPECS: dict[Resource, dict[str, Any]] = {
    volcano.JOBS: {"tasks": [{"replicas": 2, **template()}]},
    JOBS: {"parallelism": 2, "completions": 2, **template()},
    trainer.JOB_SETS: {"replicatedJobs": [{"replicas": 1, "template": {"spec": {"parallelism": 2, **template()}}}]},
    training_operator.PYTORCH_JOBS: {
        "pytorchReplicaSpecs": {"Master": {"replicas": 1, **template()}, "Worker": {"replicas": 1, **template()}}
    },
    mpi_operator.JOBS: {"mpiReplicaSpecs": {"Launcher": {"replicas": 1, **template(PLAIN)}, "Worker": {"replicas": 2, **template()}}},
    kuberay.JOBS: {"rayClusterSpec": {"headGroupSpec": template(PLAIN), "workerGroupSpecs": [{"replicas": 2, **template()}]}},
    trainer.TRAIN_JOBS: {"trainer": {"numNodes": 2, "resourcesPerNode": {"limits": {"aws.amazon.com/neuron": 16}}}},
}


def seen(cluster: FakeCluster) -> View:
    """One look at the training namespace."""
    cluster.objects.setdefault(PODS, [])
    return look(cluster, "training")


@pytest.mark.parametrize("resource", SPECS, ids=lambda resource: resource.kind)
def test_nodes_of_every_kind_are_counted(resource: Resource):
    """Pods that ask for Neuron take a node each; a launcher or a head does not."""
    cluster = FakeCluster()
    cluster.put(resource, "bert", kind=resource.kind, spec=SPECS[resource])
    (row,) = rows(seen(cluster))
    assert (row.name, row.kind, row.nodes_wanted, row.nodes_running, row.state) == ("bert", resource.kind, 2, 0, Phase.WAITING)


def test_every_kind_that_a_launcher_makes_is_listed():
    """And its state is read as that launcher reads it."""
    listed = {(kind.resource.path, kind.resource.plural) for kind in JOB_KINDS}
    assert {(it.resource.path, it.resource.plural) for it in launchers() if it.resource is not None} <= listed
    assert getattr(launcher_of(volcano.JOBS), "name", "") == "volcano"


def test_every_kind_with_pods_is_a_job():
    """One table for drain, logs, top and jobs: a kind whose pods bear its name is listed."""
    assert {kind.resource for kind in KINDS if kind.drained.pod_label} <= {kind.resource for kind in JOB_KINDS}


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ({"conditions": [{"type": "Succeeded", "status": "True"}]}, Phase.SUCCEEDED),
        ({"conditions": [{"type": "Failed", "status": "True"}]}, Phase.FAILED),
        ({"conditions": [{"type": "Failed", "status": "False"}]}, Phase.WAITING),
        ({"jobStatus": "FAILED"}, Phase.FAILED),
        ({}, Phase.WAITING),
    ],
)
def test_kinds_without_a_launcher_are_read_by_their_conditions(status: dict[str, Any], phase: Phase):
    """A LeaderWorkerSet has no launcher, nor has a RayCluster."""
    resource = next(kind.resource for kind in JOB_KINDS if launcher_of(kind.resource) is None)
    job: dict[str, Any] = {"metadata": {"name": "x"}, "status": status}
    assert phase_of(resource, job, ()) == phase
    job["metadata"]["deletionTimestamp"] = "2026-11-22T10:00:00Z"
    assert phase_of(resource, job, ()) == Phase.STOPPING


def test_a_job_without_a_launcher_runs_when_a_pod_does():
    """There is nothing else to go by."""
    resource = next(kind.resource for kind in JOB_KINDS if launcher_of(kind.resource) is None)
    assert phase_of(resource, {"metadata": {}}, ({"status": {"phase": "Running"}},)) == Phase.RUNNING


def test_running_nodes_and_since_when():
    """Of this job and not of one whose name begins alike; jobs of other namespaces and what a job made are left out."""
    cluster = FakeCluster()
    cluster.objects[PODS] = []
    bert = item(phase="Running")
    cluster.objects[volcano.JOBS] = [bert]
    cluster.put(volcano.JOBS, "elsewhere", "other")
    cluster.put(JOBS, "made", metadata={"ownerReferences": [{"kind": "JobSet", "name": "x"}]})
    for number in range(2):
        made = pod(bert, number, at=f"node-{number}")
        made["status"] |= {"phase": "Running", "startTime": f"2026-11-22T11:0{number}:00Z"}
        cluster.objects[PODS].append(made)
    (row,) = rows(seen(cluster))
    assert (row.nodes_wanted, row.nodes_running, row.since, row.state, row.cause) == (2, 2, "2026-11-22T11:00:00Z", Phase.RUNNING, None)


def test_pods_of_a_ray_job_are_found_by_their_cluster():
    """They bear its name alone."""
    cluster = FakeCluster()
    cluster.objects[PODS] = []
    cluster.put(kuberay.JOBS, "bert", spec=SPECS[kuberay.JOBS])
    labels = {kuberay.OWNER_LABEL: "bert"}
    cluster.put(kuberay.CLUSTERS, "bert-x", metadata={"labels": labels, "ownerReferences": [{"kind": "RayJob", "name": "bert"}]})
    cluster.put(PODS, "bert-x-worker-1", metadata={"labels": {"ray.io/cluster": "bert-x"}}, status={"phase": "Running"})
    (row,) = rows(seen(cluster))
    assert (row.name, row.nodes_running) == ("bert", 1)


def test_two_jobs_of_one_name_must_be_named_in_full():
    """As kubectl names them; what another object made is found by its full name only."""
    cluster = FakeCluster()
    cluster.put(volcano.JOBS, "bert")
    cluster.put(JOBS, "bert")
    cluster.put(JOBS, "nccom-launcher", metadata={"ownerReferences": [{"kind": "MPIJob", "name": "nccom"}]})
    cluster.put(mpi_operator.JOBS, "nccom-launcher")
    view = seen(cluster)
    with pytest.raises(CommandError, match="there are 2 jobs `bert`") as refused:
        view.named("bert", "training")
    assert (refused.value.code, refused.value.hint) == (2, "name one in full: jobs.batch.volcano.sh/bert, jobs.batch/bert")
    assert view.named("jobs.batch/bert", "training").kind.resource == JOBS
    assert view.named("nccom-launcher", "training").kind.resource == mpi_operator.JOBS
    with pytest.raises(CommandError, match="no job `none` in training") as refused:
        view.named("none", "training")
    assert (refused.value.code, "bert" in refused.value.hint) == (2, True)


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """The shipped stack with a Volcano Job that a webhook keeps from having pods."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    made.cluster.objects[volcano.JOBS] = [item()]
    for node in made.nodes:
        node["status"]["allocatable"] |= {"cpu": "127610m", "memory": "500Gi"}
    made.cluster.objects[EVENTS] = [event("FailedCreate", 'failed calling webhook "mutatepod.volcano.sh": no endpoints')]
    made.cluster.objects[EVENTS][0]["metadata"] = {"namespace": "training"}
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.engine = stack_of("trainium-dev")
    return made


def trn(*arguments: str) -> Any:
    """Run it."""
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_the_table_says_why_a_job_waits(healthy: Healthy):
    """One line for each, and the same as data."""
    result = trn("jobs")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("bert ")]
    assert result.exit_code == 0
    assert line.split()[:9] == ["bert", "Volcano", "Job", "0", "of", "2", "2026-11-22T10:00:00Z", "0", "waiting"]
    assert "the webhook mutatepod.volcano.sh does not answer" in line
    said = {row["name"]: row for row in json.loads(trn("jobs", "--json", "-").stdout)["jobs"]}
    assert (said["bert"]["cause"], said["bert"]["nodesWanted"], said["bert"]["state"]) == ("webhook", 2, "waiting")
    assert trn("jobs", "-n", "empty").stdout == "there are no jobs in empty\n"


def test_why_names_the_cause_and_the_next_command(healthy: Healthy):
    """Exit code 1 while something is in the way, 0 when nothing is, 2 for a job that is not there."""
    result = trn("why", "bert")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "jobs.batch.volcano.sh/bert is waiting: 0 of 2 nodes run"
    assert "\n  -> `trn addons dev`" in result.stdout
    assert json.loads(trn("why", "bert", "--json", "-").stdout)["cause"] == "webhook"
    healthy.cluster.objects[EVENTS] = []
    assert (trn("why", "bert").exit_code, "nothing holds it up" in trn("why", "bert").stdout) == (0, True)
    assert trn("why", "bertha").exit_code == 2


@pytest.mark.parametrize(
    ("resource", "status", "restarts"),
    [
        (volcano.JOBS, {"retryCount": 3}, 3),
        (kuberay.JOBS, {"failed": 2}, 2),
        (JOBS, {"failed": 5}, 0),
        (volcano.JOBS, {}, 0),
    ],
)
def test_restarts_are_those_that_its_controller_counts(resource: Resource, status: dict[str, Any], restarts: int):
    """A Job's `failed` counts pods, of which one start has several."""
    kind = next(each for each in JOB_KINDS if each.resource == resource)
    assert FoundJob(kind, {"metadata": {"name": "bert"}, "status": status}).restarts == restarts


def test_restarts_of_containers_in_their_pods_count_too():
    """Of one that kubelet starts again, as the training operator's are."""
    each = {"status": {"containerStatuses": [{"restartCount": 1}, {"restartCount": 4}]}}
    assert FoundJob(JOB_KINDS[0], {"metadata": {"name": "bert"}}, (each, {})).restarts == 4
