"""`trn cancel`: one job of any kind ends, with a checkpoint where it keeps any, and nothing else does."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from addons import volcano
from facts.kubernetes_kinds import Resource
from tests.support import ROOT
from tests.trn.change.owned import FakePulumi, stack_of
from tests.trn.given import Given
from tests.trn.jobs.carried import cancelled
from tests.trn.jobs.situations import item, pod
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from tests.trn.kubernetes.healthy_cluster import Healthy
from tests.trn.kubernetes.running_cluster import RunningCluster
from tests.trn.test_kube_rights import resource
from training.entry.stop_request import STOPPED
from trn.app import app
from trn.cli.errors import CommandError
from trn.kubernetes.cancellation import CancelPlan, saved_on_request
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import look
from trn.kubernetes.kinds import JOBS
from trn.rights import RIGHTS

LOG = "/api/v1/namespaces/training/pods/bert-worker-0/log?container=work&follow=true&sinceSeconds=1"
SAVED = """{"trn": "step", "step": 40, "time": 1.0, "rank": 0, "loss": 6.9}
{"trn": "event", "event": "stopping", "time": 2.0, "node": 0, "step": 40}
{"trn": "event", "event": "saved", "time": 3.0, "rank": 0, "step": 41, "path": "/fsx/c/41"}
{"trn": "event", "event": "stopped", "time": 3.1, "rank": 0, "step": 41}
"""
"""What a worker writes when it is asked to stop (training/entry)."""


def put_bert(cluster: FakeCluster, *, checkpoints: bool = True, runs: bool = True, grace: str = "4m") -> None:
    """A Volcano Job of two nodes with its pods, which go with it."""
    kept: dict[str, Any] = {"checkpoints": {"path": "/fsx/c", "grace": grace}} if checkpoints else {}
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
    return CancelPlan(view.named("bert", "training"), now, view.owners)


def deletions(cluster: FakeCluster) -> list[str]:
    """What was deleted, but the lock."""
    return [line for line in cluster.log if line.startswith("delete") and "Lease" not in line]


def test_the_workers_are_asked_for_a_checkpoint_and_their_word_is_read():
    """SIGTERM and the job's own grace are what deleting means; the log is followed, since it is gone with the pod."""
    cluster = FakeCluster()
    put_bert(cluster)
    cluster.put(volcano.JOBS, "other")
    cluster.texts[LOG] = SAVED
    plan = planned(cluster)
    assert (plan.grace_s, plan.saves, plan.folder) == (240, True, "/fsx/c")
    assert "its workers are asked for a checkpoint in /fsx/c first, and have 240 s for it" in plan.lines
    done = cancelled(cluster)
    assert (done.code, done.is_gone, done.report["checkpointStep"]) == (0, True, 41)
    assert deletions(cluster) == ["delete Volcano Job bert"]
    assert [each["metadata"]["name"] for each in cluster.objects[volcano.JOBS]] == ["other"]
    assert cluster.objects[PODS] == []


def test_a_pod_of_another_owner_with_the_jobs_label_stays():
    """A label can be written by every user: only what the job made is deleted, and waited for."""
    cluster = FakeCluster()
    put_bert(cluster)
    foreign = cluster.objects[PODS][1]
    foreign["metadata"]["ownerReferences"] = [{"kind": "ReplicaSet", "name": "web", "uid": "uid-web"}]
    done = cancelled(cluster, now=True)
    assert (done.is_gone, cluster.objects[PODS]) == (True, [foreign])
    assert deletions(cluster) == ["delete Volcano Job bert", "delete Pod bert-worker-0 in 1 s"]
    assert "pod bert-worker-1 bears the job's label and was not shown to be made by it: it is left" in done.told


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
    job = f"{kinds[0].qualified}/bert"
    assert {each["metadata"]["name"] for each in look(cluster, "training").named(job, "training").pods} == {"pod-own", "pod-foreign"}
    assert cancelled(cluster, job, now=True).is_gone
    assert deletions(cluster)[1:] == ["delete Pod pod-own in 1 s"]
    assert [each["metadata"]["name"] for each in cluster.objects[PODS]] == ["pod-foreign"]


def test_without_time_nothing_is_saved():
    """The pods get one second; what was trained since the last checkpoint is lost, and the plan says so."""
    cluster = FakeCluster()
    put_bert(cluster)
    plan = planned(cluster, now=True)
    assert plan.lines[1].startswith("what it trained since its last checkpoint in /fsx/c is lost")
    assert cancelled(cluster, now=True).report["checkpointStep"] is None
    assert deletions(cluster) == ["delete Volcano Job bert", "delete Pod bert-worker-0 in 1 s", "delete Pod bert-worker-1 in 1 s"]


@pytest.mark.parametrize(("checkpoints", "runs"), [(False, True), (True, False)])
def test_no_checkpoint_is_expected_of_a_job_that_keeps_none_or_does_not_run(checkpoints: bool, runs: bool):
    """So its absence is no failure."""
    cluster = FakeCluster()
    put_bert(cluster, checkpoints=checkpoints, runs=runs)
    assert not planned(cluster).saves
    done = cancelled(cluster)
    assert (done.code, done.is_gone) == (0, True)


@pytest.mark.parametrize("grace", [1, 30])
def test_a_job_that_a_finalizer_holds_is_reported(grace: int):
    """After its grace and two minutes, however long that is."""
    cluster = FakeCluster()
    put_bert(cluster, grace=f"{grace}m")
    cluster.stuck.add("bert")
    cluster.texts[LOG] = SAVED
    waited = list[float]()
    done = cancelled(cluster, pause=waited.append)
    assert (done.code, done.is_gone, sum(waited)) == (1, False, pytest.approx(60 * grace + 120))
    assert done.report["checkpointStep"] == 41
    assert "jobs.batch.volcano.sh/bert is still there" in done.told[-1]


def test_another_job_of_the_name_is_not_deleted(monkeypatch: pytest.MonkeyPatch):
    """It was made right before the deletion, after the last look."""
    cluster = FakeCluster()
    put_bert(cluster)
    another = item(phase="Running")
    another["metadata"]["uid"] = "uid-another"
    look_at, delete = cluster.objects[volcano.JOBS], cluster.delete

    def meanwhile(*arguments: Any, **more: Any) -> None:
        look_at[0] = another
        delete(*arguments, **more)

    monkeypatch.setattr(cluster, "delete", meanwhile)
    done = cancelled(cluster)
    assert (done.code, done.report["left"][0]["outcome"], cluster.objects[volcano.JOBS]) == (1, "moved", [another])
    assert done.told[-1] == "Volcano Job training/bert: another Volcano Job has the name bert by now"


def test_a_job_that_begins_to_run_at_the_question_is_not_lost_by_a_yes(monkeypatch: pytest.MonkeyPatch):
    """Whoever agreed to the end of a job that waits did not agree to what is then lost."""
    cluster = FakeCluster()
    put_bert(cluster, checkpoints=False, runs=False)
    make = cluster.make

    def meanwhile(*arguments: Any) -> Any:
        put_bert(cluster, checkpoints=False)
        return make(*arguments)

    monkeypatch.setattr(cluster, "make", meanwhile)
    with pytest.raises(CommandError, match="it keeps no checkpoints that are known"):
        cancelled(cluster)
    assert (deletions(cluster), len(cluster.objects[volcano.JOBS])) == ([], 1)


def test_a_lock_that_cannot_be_given_up_loses_nothing():
    """The job is gone, and its end is told; the lock stays, and the next run needs to know."""
    cluster = FakeCluster()
    put_bert(cluster, checkpoints=False)
    cluster.refusals["trn-bert"] = [CommandError("500 Internal Server Error")]
    done = cancelled(cluster)
    assert (done.code, done.is_gone, done.report["lock"]) == (1, True, "the lock trn-bert stays: 500 Internal Server Error")
    with pytest.raises(CommandError, match="there is no job"):
        cancelled(cluster)
    put_bert(cluster, checkpoints=False)
    with pytest.raises(CommandError, match="the job bert is locked by"):
        cancelled(cluster)
    assert cancelled(cluster, break_lock=True).code == 0


def test_consent_to_a_job_is_consent_to_its_pods(monkeypatch: pytest.MonkeyPatch):
    """Its controller has made one of them again since; each is deleted by the uid that it has."""
    cluster = FakeCluster()
    put_bert(cluster)
    make = cluster.make

    def meanwhile(*arguments: Any) -> Any:
        cluster.objects[PODS][0]["metadata"]["uid"] = "uid-again"
        return make(*arguments)

    monkeypatch.setattr(cluster, "make", meanwhile)
    done = cancelled(cluster, now=True)
    assert (done.code, [entry["id"] for entry in done.report["done"]]) == (0, ["uid-bert", "uid-again", "uid-1"])


def test_what_an_operator_makes_again_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    """A pod by another uid, whose owner was made by the job, and a Ray cluster that is there without pods: neither is gone."""
    cluster, jobs, clusters = FakeCluster(), kind_of("rayjobs"), kind_of("rayclusters")
    cluster.objects[PODS] = []
    cluster.put(jobs, "bert")
    made = {
        "uid": "uid-1",
        "labels": {"ray.io/originated-from-cr-name": "bert"},
        "ownerReferences": [{"kind": "RayJob", "uid": "uid-bert"}],
    }
    later = {"uid": "uid-again", "ownerReferences": [{"kind": "RayCluster", "uid": "uid-1"}], "labels": {"ray.io/cluster": "bert-x"}}
    seen = list[int]()

    def operator(_: float) -> None:
        seen.append(len(cluster.objects[PODS]))
        cluster.objects[clusters] = []
        if len(seen) == 1:
            cluster.put(PODS, "bert-x-head", metadata=later)
        elif len(seen) == 3:
            cluster.objects[PODS] = []

    cluster.put(clusters, "bert-x", metadata={**made, "ownerReferences": [{"kind": "RayJob", "uid": "uid-bert"}]})
    cluster.stuck.add("bert")
    delete = cluster.delete

    def at_once(*arguments: Any, **more: Any) -> None:
        delete(*arguments, **more)
        cluster.objects[jobs] = []

    monkeypatch.setattr(cluster, "delete", at_once)
    assert cancelled(cluster, f"{jobs.qualified}/bert", pause=operator).is_gone
    assert seen == [0, 1, 1]


def test_another_owners_job_is_refused():
    """What a TrainJob made comes again; what an add-on runs is the stack's."""
    cluster = FakeCluster()
    cluster.objects[PODS] = []
    cluster.put(JOBS, "llama-node-0", metadata={"ownerReferences": [{"kind": "TrainJob", "name": "llama", "uid": "u"}]})
    with pytest.raises(CommandError, match="belongs to TrainJob llama") as refused:
        cancelled(cluster, "llama-node-0")
    assert (refused.value.code, refused.value.hint) == (2, "`trn cancel llama`")
    cluster.put(JOBS, "init", "volcano-system")
    with pytest.raises(CommandError, match="a namespace of Kubernetes or of an add-on"):
        cancelled(cluster, "init", "volcano-system")
    assert cluster.log == []


def test_ctrl_c_says_what_goes_on():
    """The deletion is the server's by then."""
    cluster, told = FakeCluster(lag=100), list[str]()
    put_bert(cluster)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cancelled(cluster, pause=interrupt, told=told)
    assert "deleting jobs.batch.volcano.sh/bert; its pods have 240 s to end" in told


@pytest.mark.parametrize("now", [False, True])
def test_a_second_run_completes_one_that_was_killed(now: bool, monkeypatch: pytest.MonkeyPatch):
    """Its process ended when the deletion was asked for, or before the pods were: nothing is kept on this machine but the lock."""
    cluster = FakeCluster(lag=3)
    put_bert(cluster, checkpoints=False)
    delete = cluster.delete

    def killed(*arguments: Any, **more: Any) -> None:
        delete(*arguments, **more)
        monkeypatch.setattr(cluster, "delete", delete)
        raise SystemExit

    monkeypatch.setattr(cluster, "delete", killed)
    with pytest.raises(SystemExit):
        cancelled(cluster, now=now)
    assert cancelled(cluster, now=now).is_gone
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
        cancelled(cluster, job.reference, now=True)
    put_bert(cluster)
    cancelled(cluster)
    put_bert(cluster)
    cancelled(cluster, now=True)
    used = {(verb, resource(path)) for verb, path in cluster.seen}
    assert used == {(verb, kind) for kind, verbs in RIGHTS["cancel"].items() for verb in verbs}


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """The shipped stack with bert, which runs."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    put_bert(made.cluster)
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.on_pause = lambda _: None
    given.engine = stack_of("trainium-dev")
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


def test_a_cluster_that_the_state_does_not_prove_wants_its_name(healthy: Healthy, given: Given):
    """As for a drain: --yes alone is not enough."""
    given.engine = FakePulumi(None)
    result = trn("bert", "--yes")
    assert (result.exit_code, "--yes alone is not enough" in result.stderr) == (1, True)
    assert not [line for line in healthy.cluster.log if line.startswith("delete")]
