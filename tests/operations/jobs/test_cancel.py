"""`trn cancel`: one job of any kind ends, with a checkpoint where it keeps any, and nothing else does."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from addons import volcano
from facts.kubernetes_kinds import Resource
from operations.cli import app
from operations.cluster.drain.kinds import JOBS
from operations.errors import CommandError
from operations.jobs.cancel.plan import CancelPlan, plan_cancel
from operations.jobs.cancel.run import cancel_job, saved_on_request
from operations.jobs.listing.kinds import JOB_KINDS
from operations.jobs.listing.look import look
from operations.kube.job_pods import PODS
from operations.kube.rights import RIGHTS
from tests.operations.fake_kubernetes import FakeCluster
from tests.operations.healthy_cluster import Healthy
from tests.operations.jobs.situations import item, pod
from tests.operations.owned import hold
from tests.operations.running_cluster import RunningCluster
from tests.operations.test_kube_rights import resource
from tests.support import ROOT
from training.entry.stop_request import STOPPED

LOG = "/api/v1/namespaces/training/pods/bert-worker-0/log?container=work&follow=true&sinceSeconds=1"
SAVED = """{"trn": "step", "step": 40, "time": 1.0, "rank": 0, "loss": 6.9}
{"trn": "event", "event": "stopping", "time": 2.0, "node": 0, "step": 40}
{"trn": "event", "event": "saved", "time": 3.0, "rank": 0, "step": 41, "path": "/fsx/c/41"}
{"trn": "event", "event": "stopped", "time": 3.1, "rank": 0, "step": 41}
"""
"""What a worker writes when it is asked to stop (training/entry)."""


def put_bert(cluster: FakeCluster, *, checkpoints: bool = True, runs: bool = True) -> None:
    """A Volcano Job of two nodes with its pods, which go with it."""
    kept: dict[str, Any] = {"checkpoints": {"path": "/fsx/c", "grace": "4m"}} if checkpoints else {}
    made = item(phase="Running" if runs else "Pending", **kept)
    cluster.objects[volcano.JOBS] = [made]
    cluster.objects[PODS] = []
    for number in range(2 if runs else 0):
        each = pod(made, number, at=f"node-{number}")
        each["metadata"] |= {"uid": f"uid-{number}", "ownerReferences": [{"kind": "Job", "uid": "uid-bert"}]}
        each["status"] = {"phase": "Running"}
        cluster.objects[PODS].append(each)


def planned(cluster: FakeCluster, *, now: bool = False) -> CancelPlan:
    """The plan for bert."""
    view = look(cluster, "training")
    return plan_cancel(view, view.named("bert", "training"), now=now)


def test_the_workers_are_asked_for_a_checkpoint_and_their_word_is_read():
    """SIGTERM and the job's own grace are what deleting means; the log is followed, since it is gone with the pod."""
    cluster, told = FakeCluster(), list[str]()
    put_bert(cluster)
    cluster.put(volcano.JOBS, "other")
    cluster.texts[LOG] = SAVED
    plan = planned(cluster)
    assert (plan.grace_s, plan.saves, plan.folder) == (240, True, "/fsx/c")
    assert "its workers are asked for a checkpoint in /fsx/c first, and have 240 s for it" in plan.lines
    outcome = cancel_job(plan, cluster, lambda seconds: None, told.append)
    assert (outcome.is_gone, outcome.saved_step) == (True, 41)
    assert cluster.log == ["delete Volcano Job bert"]
    assert [each["metadata"]["name"] for each in cluster.objects[volcano.JOBS]] == ["other"]
    assert cluster.objects[PODS] == []


def test_a_pod_of_another_owner_with_the_jobs_label_stays():
    """A label can be written by every user: only what the job made is deleted, and waited for."""
    cluster, told = FakeCluster(), list[str]()
    put_bert(cluster)
    foreign = cluster.objects[PODS][1]
    foreign["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web", "uid": "uid-web"}]
    assert cancel_job(planned(cluster, now=True), cluster, lambda seconds: None, told.append).is_gone
    assert cluster.objects[PODS] == [foreign]
    assert [line for line in cluster.log if line.startswith("delete Pod")] == ["delete Pod bert-worker-0 in 1 s"]
    assert "pod bert-worker-1 bears the job's label and was not shown to be made by it: it is left" in told


def kind_of(plural: str) -> Resource:
    """A kind of jobs by its plural."""
    return next(kind.resource for kind in JOB_KINDS if kind.resource.plural == plural)


CHAINS: dict[str, tuple[str, dict[Resource, str], str]] = {
    "JobSet": ("jobset.sigs.k8s.io/jobset-name", {kind_of("jobsets"): "bert", JOBS: "bert-worker-0"}, "Job"),
    "TrainJob": (
        "jobset.sigs.k8s.io/jobset-name",
        {kind_of("trainjobs"): "bert", kind_of("jobsets"): "bert", JOBS: "bert-node-0"},
        "Job",
    ),
    "RayJob": ("ray.io/cluster", {kind_of("rayjobs"): "bert", kind_of("rayclusters"): "bert-x7f2k"}, "RayCluster"),
    "MPIJob": ("training.kubeflow.org/job-name", {kind_of("mpijobs"): "bert", JOBS: "bert-launcher"}, "Job"),
}
"""Kinds whose pods are made by something that they made: label of the pods, the chain from the job down, and what makes the pods."""


@pytest.mark.parametrize("case", CHAINS)
def test_pods_of_a_long_chain_end_and_those_of_another_controller_stay(case: str):
    """Under the same label: what leads to the job is its own, whatever else is there is left."""
    label, chain, maker = CHAINS[case]
    cluster, above = FakeCluster(), ""
    kinds = list(chain)
    for number, (each, name) in enumerate(chain.items()):
        uid = f"uid-{number}"
        owned = {"ownerReferences": [{"kind": kinds[number - 1].kind, "name": above, "uid": f"uid-{number - 1}"}]} if above else {}
        labels = {"ray.io/originated-from-cr-name": "bert"} if each.plural == "rayclusters" else {}
        cluster.put(each, name, metadata={"uid": uid, "labels": labels, **owned})
        above = name
    cluster.objects[PODS] = []
    makers = {"own": {"uid": f"uid-{len(chain) - 1}", "kind": maker}, "foreign": {"uid": "uid-web", "kind": "ReplicaSet"}}
    for name, owner in makers.items():
        metadata = {"labels": {label: above if case == "RayJob" else "bert"}, "ownerReferences": [{**owner, "name": "x"}]}
        cluster.put(PODS, f"pod-{name}", metadata=metadata, status={"phase": "Running"})
    view = look(cluster, "training")
    plan = plan_cancel(view, view.named(f"{kinds[0].qualified}/bert", "training"), now=True)
    assert {each["metadata"]["name"] for each in plan.job.pods} == {"pod-own", "pod-foreign"}
    assert cancel_job(plan, cluster, lambda seconds: None, lambda line: None).is_gone
    assert [line for line in cluster.log if line.startswith("delete Pod")] == ["delete Pod pod-own in 1 s"]
    assert [each["metadata"]["name"] for each in cluster.objects[PODS]] == ["pod-foreign"]


def test_without_time_nothing_is_saved():
    """The pods get one second; what was trained since the last checkpoint is lost, and the plan says so."""
    cluster = FakeCluster()
    put_bert(cluster)
    plan = planned(cluster, now=True)
    assert plan.lines[1].startswith("what it trained since its last checkpoint in /fsx/c is lost")
    assert cancel_job(plan, cluster, lambda seconds: None, lambda line: None).saved_step is None
    assert cluster.log == ["delete Volcano Job bert", "delete Pod bert-worker-0 in 1 s", "delete Pod bert-worker-1 in 1 s"]


@pytest.mark.parametrize(("checkpoints", "runs"), [(False, True), (True, False)])
def test_no_checkpoint_is_expected_of_a_job_that_keeps_none_or_does_not_run(checkpoints: bool, runs: bool):
    """So its absence is no failure."""
    cluster = FakeCluster()
    put_bert(cluster, checkpoints=checkpoints, runs=runs)
    plan = planned(cluster)
    assert not plan.saves
    assert cancel_job(plan, cluster, lambda seconds: None, lambda line: None).is_gone


def test_a_job_that_a_finalizer_holds_is_reported():
    """After its grace and two minutes."""
    cluster = FakeCluster()
    put_bert(cluster, checkpoints=False)
    cluster.stuck.add("bert")
    waited = list[float]()
    assert not cancel_job(planned(cluster), cluster, waited.append, lambda line: None).is_gone
    assert sum(waited) == pytest.approx(30 + 120)


def test_another_job_of_the_name_is_not_deleted():
    """It was made between the question and the deletion."""
    cluster = FakeCluster()
    put_bert(cluster)
    plan = planned(cluster)
    another = item(phase="Running")
    another["metadata"]["uid"] = "uid-another"
    cluster.objects[volcano.JOBS] = [another]
    with pytest.raises(CommandError, match="409 Conflict"):
        cancel_job(plan, cluster, lambda seconds: None, lambda line: None)


def test_another_owners_job_is_refused():
    """What a TrainJob made comes again; what an add-on runs is the stack's."""
    cluster = FakeCluster()
    cluster.put(JOBS, "llama-node-0", metadata={"ownerReferences": [{"kind": "TrainJob", "name": "llama", "uid": "u"}]})
    with pytest.raises(CommandError, match="belongs to TrainJob llama") as refused:
        plan_cancel(look(cluster, "training"), look(cluster, "training").named("llama-node-0", "training"), now=False)
    assert (refused.value.code, refused.value.hint) == (2, "`trn cancel llama`")
    cluster.put(JOBS, "init", "volcano-system")
    with pytest.raises(CommandError, match="a namespace of Kubernetes or of an add-on"):
        plan_cancel(look(cluster, "volcano-system"), look(cluster, "volcano-system").named("init", "volcano-system"), now=False)


def test_ctrl_c_says_what_goes_on():
    """The deletion is the server's by then."""
    cluster, told = FakeCluster(lag=100), list[str]()
    put_bert(cluster)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cancel_job(planned(cluster), cluster, interrupt, told.append)
    assert "it is being deleted, and its pods have 240 s from the request" in told[-1]


@pytest.mark.parametrize("now", [False, True])
def test_a_second_run_completes_one_that_was_killed(now: bool):
    """Its process ended when the deletion was asked for, or before the pods were: nothing is kept on this machine."""
    cluster = FakeCluster(lag=3)
    put_bert(cluster, checkpoints=False)

    def killed(_: str) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        cancel_job(planned(cluster, now=now), cluster, lambda seconds: None, killed)
    assert cancel_job(planned(cluster, now=now), cluster, lambda seconds: None, lambda line: None).is_gone
    assert (cluster.objects[volcano.JOBS], cluster.objects[PODS]) == ([], [])


@pytest.mark.parametrize(
    ("log", "step"),
    [
        (SAVED, 41),
        ("", None),
        ('{"trn": "event", "event": "saved", "time": 1.0, "rank": 0, "step": 40}\n', None),
        (f"exit code {STOPPED}\n", None),
    ],
)
def test_only_a_checkpoint_that_was_asked_for_counts(log: str, step: int | None):
    """One that was due a moment before does not have the newest steps."""
    assert saved_on_request(log) == step


def test_cancel_uses_the_rights_that_are_listed_and_no_others():
    """Over all kinds of jobs."""
    cluster = RunningCluster()
    for kind in JOB_KINDS:
        cluster.put(kind.resource, "theirs")
    view = look(cluster, "training")
    for job in view.jobs:
        cancel_job(plan_cancel(view, job, now=True), cluster, lambda seconds: None, lambda line: None)
    put_bert(cluster)
    cancel_job(planned(cluster), cluster, lambda seconds: None, lambda line: None)
    put_bert(cluster)
    cancel_job(planned(cluster, now=True), cluster, lambda seconds: None, lambda line: None)
    used = {(verb, resource(path)) for verb, path in cluster.seen}
    assert used == {(verb, kind) for kind, verbs in RIGHTS["cancel"].items() for verb in verbs}


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> Healthy:
    """The shipped stack with bert, which runs."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    put_bert(made.cluster)
    monkeypatch.setattr("operations.access.Live.aws", lambda _, stack, region: made.cloud.api)
    monkeypatch.setattr("operations.access.Live.kubernetes", lambda _, api, entry: made.cluster)
    monkeypatch.setattr("operations.access.Live.pause", lambda _, seconds: None)
    hold(monkeypatch, "trainium-dev")
    return made


def trn(*arguments: str, answer: str = "") -> Any:
    """Run it."""
    return CliRunner().invoke(app, ["cancel", *arguments], input=answer, catch_exceptions=False)


def test_the_command_shows_whose_cluster_it_is_asks_and_ends_the_job(healthy: Healthy, tmp_path: Path):
    """A no changes nothing."""
    refused = trn("bert", answer="n\n")
    assert (refused.exit_code, [line for line in healthy.cluster.log if line.startswith("delete")]) == (1, [])
    assert "Cancel jobs.batch.volcano.sh/bert in trainium-dev in us-west-2, account" in refused.stderr
    healthy.cluster.texts[LOG] = SAVED
    result = trn("bert", "--json", str(tmp_path / "out.json"), answer="y\n")
    assert result.exit_code == 0, result.output
    assert "cluster trainium-dev, by Pulumi's state and by the account" in result.stderr
    assert "jobs.batch.volcano.sh/bert is gone, with a checkpoint of step 41 in /fsx/c" in result.stdout
    assert json.loads((tmp_path / "out.json").read_text())["checkpointStep"] == 41


def test_a_checkpoint_that_no_worker_speaks_of_makes_the_exit_code_1(healthy: Healthy):
    """The job is gone all the same."""
    result = trn("bert", "--yes")
    assert (result.exit_code, "no worker said that it saved a checkpoint" in result.stdout) == (1, True)


def test_a_cluster_that_the_state_does_not_prove_wants_its_name(healthy: Healthy, monkeypatch: pytest.MonkeyPatch):
    """As for a drain: --yes alone is not enough."""
    hold(monkeypatch, "trainium-dev").export = None
    result = trn("bert", "--yes")
    assert (result.exit_code, "--yes alone is not enough" in result.stderr) == (1, True)
    assert not [line for line in healthy.cluster.log if line.startswith("delete")]
