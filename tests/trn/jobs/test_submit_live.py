"""`trn submit` on a cluster: looked up, judged by the server, made as a whole or not at all, and deleted as a whole."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from facts.hours import Hours
from facts.kubernetes_kinds import Resource
from simulator.kubernetes_endpoint.server import ApiServer
from tests.simulator.account.standing import standing
from tests.support import ROOT
from tests.training.sites import BLOCK, EVERYTHING, NEEDED, SITE, group, job, site
from tests.trn.aws.cloud import Cloud
from tests.trn.aws.healthy import HealthyAccount
from tests.trn.change.owned import stack_of
from tests.trn.given import Given
from tests.trn.jobs.carried import Carried, carried
from tests.trn.kubernetes.healthy_cluster import CLAIM, Healthy
from tests.trn.kubernetes.running_cluster import RunningCluster
from tests.trn.test_kube_rights import resource
from training.environment import CACHE
from training.launchers import launchers
from training.site import Site
from trn.app import app
from trn.aws.images import has_image
from trn.cli.errors import CommandError
from trn.cli.findings import Finding
from trn.jobs.cost import cost_of
from trn.jobs.rendering import Rendered, path_of, rendered, resource_of
from trn.jobs.submit import apply, preflight
from trn.jobs.submit.change import Submit
from trn.kubernetes.client import Kubernetes, KubernetesClient
from trn.kubernetes.job_pods import PODS
from trn.practice.kubernetes import SimulatedClient
from trn.rights import RIGHTS

QUEUE = "/apis/scheduling.volcano.sh/v1beta1/queues/training"
OPEN: dict[str, Any] = {"spec": {}, "status": {"state": "Open"}}


def of(on: Site = SITE, **keys: Any) -> Rendered:
    """A job on a site."""
    return rendered(job(**keys), on, "job.yaml")


def unknown(image: str) -> None:
    """Nothing is known of any image."""


def submit_to(found: Rendered, cluster: Kubernetes, known: bool | None = None, cache: str = "") -> Carried:
    """`trn submit`. `known`: what is known of its image; `cache`: that of `trn precompile`."""
    return carried(Submit("submit dev job.yaml", found, cache, lambda _api, _image: known), cluster)


def changes(cluster: RunningCluster) -> list[str]:
    """What was done, but with the lock."""
    return [line for line in cluster.log if line.startswith(("make", "apply", "delete", "judge")) and "Lease" not in line]


@pytest.fixture
def cluster() -> RunningCluster:
    """Two nodes, an open queue, a bound claim."""
    healthy = Healthy()
    healthy.cluster.served[QUEUE] = json.loads(json.dumps(OPEN))
    return healthy.cluster


def looked(cluster: RunningCluster, **keys: Any) -> dict[str, Finding]:
    """Findings by what was looked at."""
    return {finding.check: finding for finding in preflight.findings(of(**keys), cluster, unknown)}


def on_block(cluster: RunningCluster, day: int, hour: int, **keys: Any) -> tuple[str, str] | None:
    """Verdict and text about the capacity block, on a day of December."""
    nodes = group("g", "trn1.32xlarge", block=BLOCK)
    now = datetime(2026, 12, day, hour, tzinfo=UTC)
    found = preflight.findings(of(site(node_groups={"g": nodes}), **keys), cluster, unknown, now)
    return next(((item.verdict, item.what) for item in found if item.check == "block" and "begins at" not in item.what), None)


CHECKPOINTS = {"path": "/fsx/checkpoints"}
SAVES = {"checkpoints": CHECKPOINTS}


def test_a_job_is_held_against_what_is_left_of_its_block(cluster: RunningCluster):
    """It ends before, saves and goes on, starts anew, or comes too late."""
    assert on_block(cluster, 2, 10, timeLimit="24h") == (
        "pass", "its time limit of 24h ends before the nodes of g are drained at 2026-12-03 10:30 UTC",
    )  # fmt: skip
    assert on_block(cluster, 2, 10, timeLimit="25h", **SAVES) == (
        "warn",
        "nodes of g are drained at 2026-12-03 10:30 UTC, after at most 24.5 hours of the job: it saves then, and goes on where there are nodes again",
    )
    assert (on_block(cluster, 2, 10) or ("", ""))[1].endswith("it keeps no checkpoints, and starts anew")
    assert on_block(cluster, 3, 11) == ("fail", "the capacity block of g is over: its nodes were drained at 2026-12-03 10:30 UTC")


NIGHTS = Hours("0 20 * * MON-FRI", "0 7 * * MON-FRI", "Europe/Berlin")


def at_night(cluster: RunningCluster, day: int, hour: int, hours: Hours = NIGHTS, **keys: Any) -> dict[str, Finding]:
    """Findings of a job on a group with a schedule, on a day of December 2026."""
    on = site(node_groups={"g": group("g", "trn1.32xlarge", hours=hours)})
    now = datetime(2026, 12, day, hour, tzinfo=UTC)
    return {item.check: item for item in preflight.findings(of(on, **keys), cluster, unknown, now)}


def test_a_job_is_held_against_the_hours_of_its_group(cluster: RunningCluster):
    """20:00 in Berlin is 19:00 in UTC; whoever submits at noon should know before the evening."""
    found = at_night(cluster, 1, 12, timeLimit="7h")["night"]
    assert (found.verdict, found.what) == ("pass", "its time limit of 7h ends before the schedule empties g at 2026-12-01 19:00 UTC")
    found = at_night(cluster, 1, 12, NIGHTS, timeLimit="8h", **SAVES)["night"]
    saves = "of the job: it saves then, and goes on"
    what = f"a schedule empties g at 2026-12-01 19:00 UTC, after at most 7.0 hours {saves} when the group has nodes again"
    assert (found.verdict, found.what) == ("warn", what)
    assert at_night(cluster, 1, 12)["night"].what.endswith("it keeps no checkpoints, and starts anew")
    found = at_night(cluster, 1, 12, Hours("0 20 * * FRI", None, "UTC"), **SAVES)["night"]
    assert found.what.endswith(f"after at most 80.0 hours {saves} after `trn scale {SITE.stack} g`")


def test_a_job_of_the_night_begins_in_the_morning(cluster: RunningCluster):
    """And has the whole day; what fills the group is said, in place of a hint to size it by hand."""
    found = at_night(cluster, 1, 22, timeLimit="13h")
    assert found["night"].verdict == "pass"
    assert "its schedule fills the group at 2026-12-02 06:00 UTC" in found["nodes"].do
    assert at_night(cluster, 1, 22, timeLimit="14h")["night"].verdict == "warn"
    assert "`trn scale" in at_night(cluster, 1, 22, Hours("0 20 * * *", None, "UTC"))["nodes"].do


def test_before_its_block_a_job_waits_and_has_all_of_it(cluster: RunningCluster):
    """47 hours from the start until the drain."""
    assert (on_block(cluster, 1, 0, timeLimit="47h") or ("", ""))[0] == "pass"
    assert (on_block(cluster, 1, 0, **SAVES) or ("", ""))[1].startswith(
        "nodes of g are drained at 2026-12-03 10:30 UTC, after at most 47.0 hours"
    )
    nodes = group("g", "trn1.32xlarge", block=BLOCK)
    found = preflight.findings(of(site(node_groups={"g": nodes})), cluster, unknown, datetime(2026, 12, 1, tzinfo=UTC))
    assert ("block", "warn", "the capacity block of g begins at 2026-12-01 11:30 UTC") in [
        (item.check, item.verdict, item.what) for item in found
    ]
    (nodes_finding,) = [item for item in found if item.check == "nodes"]
    assert "goes up by itself" in nodes_finding.do


def test_a_job_that_can_run_is_made_as_a_whole(cluster: RunningCluster):
    """Judged first and under the lock, every object of it, then made, the job last; what is made for it is its own: it is deleted with it."""
    assert submit_to(of(), cluster).code == 0
    judged = ["judge ConfigMap bert-entry", "judge Job bert"]
    assert changes(cluster) == [
        *judged,
        *judged,
        "make ConfigMap bert-entry",
        "make Job bert",
        "apply ConfigMap bert-entry",
    ]
    (owner,) = cluster.served["/api/v1/namespaces/training/configmaps/bert-entry"]["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "bert", "uid": "uid-bert"}


WRONG: dict[str, tuple[Callable[[RunningCluster], Any], dict[str, Any], str, str, str]] = {
    "queue closed": (lambda it: it.served[QUEUE]["status"].update(state="Closed"), {}, "queue", "fail", "training is Closed"),
    "queue not there": (lambda it: it.served.pop(QUEUE), {}, "queue", "fail", "no Volcano queue training"),
    "more than the queue may have": (
        lambda it: it.served[QUEUE]["spec"].update(capability={"aws.amazon.com/neuron": 16}), {}, "queue", "fail",
        "asks for 32 aws.amazon.com/neuron, training may have 16 in all",
    ),
    "more than the queue has left": (
        lambda it: it.served[QUEUE].update(
            spec={"capability": {"cpu": "300", "memory": "1Ti"}}, status={"state": "Open", "allocated": {"cpu": "100500m"}}
        ),
        {}, "queue", "warn", "training has 199.5 cpu left, the job asks for 250",
    ),
    "claim not there": (lambda it: it.served.pop(CLAIM), {}, "claim", "fail", "there is no claim fsx-claim in training"),
    "claim not bound": (lambda it: it.served[CLAIM]["status"].update(phase="Pending"), {}, "claim", "warn", "fsx-claim is Pending"),
    "no such priority": (lambda it: None, {"priority": "high"}, "priority", "fail", "no PriorityClass high"),
    "nodes missing": (lambda it: None, {"nodes": 3}, "nodes", "warn", "2 of 3 nodes of trn1-32xl are ready"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_the_cluster_lacks_is_found_before_anything_is_made(cluster: RunningCluster, case: str):
    """A failure ends the command; what only has to be waited for is a warning."""
    breaks, keys, check, verdict, says = WRONG[case]
    breaks(cluster)
    finding = looked(cluster, **keys)[check]
    assert (finding.verdict, says in finding.what, bool(finding.do)) == (verdict, True, True)
    if verdict == "fail":
        told, reports = list[str](), list[Any]()
        with pytest.raises(CommandError, match="trainium-dev cannot run bert: nothing was submitted"):
            carried(Submit("submit dev job.yaml", of(**keys), "", lambda _api, _image: None), cluster, told=told, reports=reports)
        assert any(says in line for line in told)
        assert (changes(cluster), reports[0]["submitted"], check in str(reports[0]["findings"])) == ([], False, True)
        return
    assert submit_to(of(**keys), cluster).code == 0
    assert "make Job bert" in changes(cluster)


def test_a_node_that_takes_no_pods_does_not_count(cluster: RunningCluster):
    """It is cordoned, or not ready."""
    cluster.objects[preflight.NODES][0]["spec"]["unschedulable"] = True
    assert looked(cluster)["nodes"].what == "1 of 2 nodes of trn1-32xl are ready"
    cluster.objects[preflight.NODES][1]["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    assert looked(cluster)["nodes"].what == "0 of 2 nodes of trn1-32xl are ready"


def test_nodes_of_a_pool_are_made_by_karpenter(cluster: RunningCluster):
    """There is no group to be scaled."""
    pools = site(pools={"big": group("big", "trn1.32xlarge", size=0, is_pool=True)})
    (finding,) = [item for item in preflight.findings(of(pools, pool="big"), cluster, unknown) if item.check == "nodes"]
    assert finding.do == "Karpenter makes the others once the job waits"


def test_a_second_job_of_the_name_is_refused(cluster: RunningCluster):
    """Applied again, it would change the one that runs."""
    assert submit_to(of(), cluster).code == 0
    with pytest.raises(CommandError, match=r"there is a Volcano Job `bert` in training already; it is waiting; nothing was submitted"):
        submit_to(of(), cluster)


@pytest.mark.parametrize("launcher", ["volcano", "indexed-job", "jobset"])
def test_a_job_that_the_server_refuses_leaves_nothing(cluster: RunningCluster, launcher: str):
    """What was made before it is deleted again."""
    found = of(launcher=launcher)
    *others, made = found.objects
    cluster.refusals[f"{made['kind']} bert"] = [CommandError("422 Unprocessable Entity: spec.tasks: too many")]
    with pytest.raises(CommandError, match="too many"):
        apply.submit(found.objects, cluster, lambda line: None)
    deleted = [line for line in cluster.log if line.startswith("delete")]
    assert deleted == [f"delete {body['kind']} {body['metadata']['name']}" for body in reversed(others)]


def test_a_job_that_was_made_meanwhile_is_refused_under_the_lock(cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch):
    """Another tool knows no lock of ours."""
    make, (files, theirs) = cluster.make, of(checkpoints=CHECKPOINTS).objects

    def meanwhile(kind: Resource, namespace: str, body: dict[str, Any]) -> dict[str, Any]:
        cluster.served[path_of(theirs)] = {**theirs, "metadata": {**theirs["metadata"], "uid": "uid-theirs"}}
        return make(kind, namespace, body)

    monkeypatch.setattr(cluster, "make", meanwhile)
    with pytest.raises(CommandError, match="there is a Volcano Job `bert` in training already"):
        submit_to(of(), cluster)
    assert path_of(files) not in cluster.served
    assert cluster.served[path_of(theirs)]["metadata"]["uid"] == "uid-theirs"


def cut_off(cluster: RunningCluster, **changed: Any) -> dict[str, Any]:
    """A submission that was killed when its job was there, and its files were not yet the job's: the files."""
    files, made = of().objects
    mark = {"annotations": {apply.MARK: "of the killed one"}}
    cluster.make(resource_of(files), "training", {**files, **changed})
    cluster.make(resource_of(made), "training", {**made, "metadata": {**made["metadata"], **mark}})
    return cluster.served[path_of(files)]


def test_a_submission_that_was_killed_after_its_job_was_made_is_completed(cluster: RunningCluster):
    """What is beside the job is its own then; once more, it is a second job."""
    cut_off(cluster)
    done = submit_to(of(), cluster)
    assert (done.code, done.report["uid"], [entry["verb"] for entry in done.report["done"]]) == (0, "uid-bert", ["complete"])
    assert bert_entry(cluster)["metadata"]["ownerReferences"][0]["uid"] == "uid-bert"
    assert changes(cluster)[2:] == ["apply ConfigMap bert-entry"]
    with pytest.raises(CommandError, match="there is a Volcano Job `bert` in training already"):
        submit_to(of(), cluster)


@pytest.mark.parametrize("what", ["another job file", "no mark", "files of another owner", "other files", "no files"])
def test_another_job_of_the_name_is_not_completed(cluster: RunningCluster, what: str):
    """It is a second job of the name, and nothing of it is touched."""
    files = cut_off(cluster, **({"data": {"entry.py": "other"}} if what == "other files" else {}))
    if what == "no mark":
        cluster.served[path_of(of().objects[-1])]["metadata"].pop("annotations")
    if what == "files of another owner":
        files["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": "bert", "uid": "uid-jobset"}]
    if what == "no files":
        cluster.served.pop(path_of(of().objects[0]))
    before = json.dumps(cluster.served)
    with pytest.raises(CommandError, match="there is a Volcano Job `bert` in training already"):
        submit_to(of(checkpoints=CHECKPOINTS) if what == "another job file" else of(), cluster)
    assert json.dumps(cluster.served) == before


def test_what_another_has_is_not_given_to_the_job(cluster: RunningCluster):
    """Of two things beside it one is another's: it is not this submission that was cut off."""
    *others, made = of(launcher="indexed-job").objects
    for body in others:
        cluster.make(resource_of(body), "training", body)
    mark = {"annotations": {apply.MARK: "of the killed one"}}
    there = cluster.make(resource_of(made), "training", {**made, "metadata": {**made["metadata"], **mark}})
    assert len(others) == 3
    assert apply.is_cut_off([*others, made], there, cluster)
    cluster.served[path_of(others[1])]["metadata"]["ownerReferences"] = [{"kind": "JobSet", "name": "bert", "uid": "uid-jobset"}]
    assert not apply.is_cut_off([*others, made], there, cluster)


def test_a_job_that_was_made_again_gets_nothing_of_the_one_that_was_cut_off(cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch):
    """Right before the act: what is beside it would be deleted with a job that it is not of."""
    cut_off(cluster)
    path, read, looks = path_of(of().objects[-1]), cluster.read, list[str]()

    def meanwhile(asked: str) -> dict[str, Any] | None:
        looks.extend([asked] if asked == path else [])
        if len(looks) == 3:
            cluster.served[path]["metadata"]["uid"] = "uid-another"
        return read(asked)

    monkeypatch.setattr(cluster, "read", meanwhile)
    done = submit_to(of(), cluster)
    assert (done.code, [entry["outcome"] for entry in done.report["left"]]) == (1, ["moved"])
    assert done.told[-1] == "jobs.batch.volcano.sh/bert is another one by now"
    assert "ownerReferences" not in bert_entry(cluster)["metadata"]


def test_a_cache_that_a_pod_uses_is_not_filled(cluster: RunningCluster):
    """Its locks are no leftovers; of another cache it may be."""
    env = [{"name": CACHE, "value": "/fsx/cache"}]
    cluster.objects[PODS] = []
    cluster.put(PODS, "busy", spec={"containers": [{"env": env}]}, status={"phase": "Running"})
    with pytest.raises(CommandError, match="busy uses the cache /fsx/cache; nothing was submitted"):
        submit_to(of(), cluster, cache="/fsx/cache")
    assert changes(cluster) == []
    assert submit_to(of(), cluster, cache="/fsx/other").code == 0


def test_what_a_job_has_to_wait_for_by_now_is_told(cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch):
    """It was not there at the first look; nothing is asked."""
    make = cluster.make

    def meanwhile(*arguments: Any) -> dict[str, Any]:
        cluster.served[CLAIM]["status"]["phase"] = "Pending"
        return make(*arguments)

    monkeypatch.setattr(cluster, "make", meanwhile)
    done = submit_to(of(), cluster)
    assert (done.code, "claim: fsx-claim is Pending: pods wait for it" in done.told) == (0, True)


@contextmanager
def cannot_be_owned(cluster: RunningCluster) -> Iterator[None]:
    """What is beside a job gets no owner: the last step of a submission fails."""
    whole = cluster.apply

    def refuse(resource: Resource, namespace: str, body: dict[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        if not dry_run:
            raise CommandError("no owner")
        return whole(resource, namespace, body, dry_run=dry_run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "apply", refuse)
        yield


def bert_entry(cluster: RunningCluster) -> dict[str, Any]:
    """The files beside the job."""
    return cluster.served["/api/v1/namespaces/training/configmaps/bert-entry"]


def submitted(cluster: RunningCluster, **keys: Any) -> list[str]:
    """Submit a job; what was told."""
    told = list[str]()
    apply.submit(of(**keys).objects, cluster, told.append, lambda seconds: None)
    return told


def test_of_two_submissions_of_a_name_one_wins_and_the_other_says_so(cluster: RunningCluster):
    """Both looked when no job was there. The second makes nothing of its own, and leaves what the first needs."""
    second = of()
    submitted(cluster)
    job_of_first = cluster.served[path_of(second.objects[-1])]
    del bert_entry(cluster)["metadata"]["ownerReferences"]  # It is not that far yet.
    with pytest.raises(CommandError, match=r"jobs.batch.volcano.sh/bert was made by another submission in the meantime"):
        apply.submit(second.objects, cluster, lambda line: None)
    assert cluster.served[path_of(second.objects[-1])] is job_of_first
    assert bert_entry(cluster)["data"] == second.objects[0]["data"]
    assert not [line for line in cluster.log if line.startswith("delete")]


def test_what_an_interrupted_submission_left_is_taken_over(cluster: RunningCluster):
    """Its process was killed before the job was there; the same job file completes it."""
    files = of().objects[0]
    cluster.make(resource_of(files), "training", files)
    assert submitted(cluster) == ["made jobs.batch.volcano.sh/bert"]
    assert bert_entry(cluster)["metadata"]["ownerReferences"][0]["uid"] == "uid-bert"


def test_what_another_submission_of_another_job_left_is_said(cluster: RunningCluster):
    """Whether it is at work is not known, so nothing of it is touched."""
    files = of().objects[0]
    cluster.make(resource_of(files), "training", {**files, "data": {"entry.py": "other"}})
    with pytest.raises(CommandError, match="is there since some time ago without a job, and says something else") as refused:
        submitted(cluster)
    assert "`kubectl -n training delete configmaps/bert-entry`" in refused.value.hint
    assert bert_entry(cluster)["data"] == {"entry.py": "other"}


def test_what_another_kind_of_job_has_under_the_name_is_left(cluster: RunningCluster):
    """A JobSet `bert` that runs would go on with the files of a Volcano Job `bert`."""
    submitted(cluster, launcher="jobset")
    before = bert_entry(cluster)
    with pytest.raises(CommandError, match="configmaps/bert-entry belongs to JobSet bert; nothing was submitted"):
        submitted(cluster)
    assert bert_entry(cluster) is before
    assert path_of(of().objects[-1]) not in cluster.served


def test_what_an_ended_job_has_left_is_made_anew(cluster: RunningCluster):
    """Kubernetes deletes it a moment after its owner: it would be gone under the new job."""
    submitted(cluster)
    del cluster.served[path_of(of().objects[-1])]
    bert_entry(cluster)["metadata"]["ownerReferences"][0]["uid"] = "uid-of-the-ended-one"
    submitted(cluster)
    assert "delete ConfigMap bert-entry" in cluster.log
    assert bert_entry(cluster)["metadata"]["ownerReferences"][0]["uid"] == "uid-bert"


@pytest.mark.parametrize("wrong", [CommandError("the API server does not answer"), KeyboardInterrupt()])
def test_a_job_whose_answer_was_lost_is_deleted_again(cluster: RunningCluster, wrong: BaseException, monkeypatch: pytest.MonkeyPatch):
    """The server has made it, and the command ends without knowing: nothing half made stays."""
    made = cluster.make

    def lost(resource: Resource, namespace: str, body: dict[str, Any]) -> dict[str, Any]:
        kept = made(resource, namespace, body)
        if resource.kind == "Job":
            raise wrong
        return kept

    monkeypatch.setattr(cluster, "make", lost)
    with pytest.raises(type(wrong)):
        submitted(cluster)
    assert [line for line in cluster.log if line.startswith("delete")] == ["delete Job bert", "delete ConfigMap bert-entry"]


def test_what_cannot_be_deleted_again_is_named(cluster: RunningCluster):
    """The first error stays the one that is shown."""
    cluster.refusals["Job bert"] = [CommandError("422 Unprocessable Entity")]
    cluster.refusals["bert-entry"] = [CommandError("403 Forbidden")]
    told = list[str]()
    with pytest.raises(CommandError, match="422 Unprocessable Entity"):
        apply.submit(of().objects, cluster, told.append)
    assert told[-1] == "what was made could not be deleted again, of jobs.batch.volcano.sh/bert, configmaps/bert-entry: 403 Forbidden"


def test_submit_uses_the_rights_that_are_listed_and_no_others(cluster: RunningCluster):
    """One too few fails in the middle; one too many is a right for nothing."""
    cluster.served["/apis/scheduling.k8s.io/v1/priorityclasses/high"] = {}
    for kind in launchers():
        if kind.resource is None:
            continue
        found = of(EVERYTHING, launcher=kind.name, name=kind.name, priority="high", **NEEDED.get(kind.name, {}))
        assert submit_to(found, cluster).code == 0
        # What an ended job has left is deleted first, and what is half made in the end.
        del cluster.served[path_of(found.objects[-1])]
        with cannot_be_owned(cluster), pytest.raises(CommandError, match="no owner"):
            apply.submit(found.objects, cluster, lambda line: None, lambda seconds: None)
    used = {(verb, resource(path)) for verb, path in cluster.seen}
    assert used == {(verb, kind) for kind, verbs in RIGHTS["submit"].items() for verb in verbs}


def test_the_simulated_cluster_takes_what_is_applied():
    """`trn --practice submit` ends here: the job gets pods on the stack's nodes."""
    world = standing()
    client = KubernetesClient(SimulatedClient(ApiServer(world), lambda: None), lambda: "practice")
    found = of()
    body = found.objects[-1]
    apply.dry_run(found.objects, client)
    assert client.list(resource_of(body)) == []
    apply.submit(found.objects, client, lambda line: None)
    (made,) = list(client.list(resource_of(body)) or ())
    assert made["spec"]["minAvailable"] == 2
    pods = client.list(resource_of({"apiVersion": "v1", "kind": "Pod"})) or []
    assert [pod["status"]["phase"] for pod in pods if pod["metadata"]["name"].startswith("bert-")] == ["Running"] * 2
    with pytest.raises(CommandError, match="no namespace elsewhere"):
        client.apply(resource_of(body), "elsewhere", body)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "its nodes cost 43.00 USD an hour, without a time limit"),
        ({"timeLimit": "90m"}, "its nodes cost 43.00 USD an hour, 64.50 USD until its time limit"),
        ({"nodes": 1, "devices": 4}, "its nodes cost 5.38 USD an hour, without a time limit"),
    ],
)
def test_a_job_says_what_it_costs(keys: dict[str, Any], says: str):
    """By list prices; of a node that it shares, its part."""
    assert cost_of(of(**keys).plan).text == says


def test_a_type_without_a_list_price_has_no_cost():
    """It is not made up."""
    on = site(node_groups={"g": group("g", "trn2.3xlarge")})
    assert cost_of(of(on).plan).text == "no list price is known for its nodes"


def test_what_all_pods_ask_for_is_counted_together():
    """The queue counts so."""
    asked = preflight.asked(of(nodes=3).plan)
    assert asked == {
        "cpu": Decimal(375),
        "memory": Decimal(3 * 456 * 2**30),
        "aws.amazon.com/neuron": Decimal(48),
        "vpc.amazonaws.com/efa": Decimal(24),
    }


def test_the_command_submits_and_says_how_to_follow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: Given):
    """Whole way: job file, stack file, whose cluster it is, the cluster."""
    monkeypatch.chdir(ROOT)
    healthy = Healthy()
    healthy.cluster.served[QUEUE] = OPEN
    given.api = healthy.cloud.api
    given.cluster = healthy.cluster
    given.engine = stack_of("trainium-dev")
    path = tmp_path / "job.yaml"
    path.write_text("name: bert\ncommand: [python3, /fsx/train.py]\nnodes: 2\n")
    result = CliRunner().invoke(app, ["submit", str(path), "--json", str(tmp_path / "out.json")], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.stdout == (
        "bert is submitted to trainium-dev; to follow it:\n"
        "  trn watch dev bert\n"
        "  trn why dev bert\n"
        "  trn logs dev bert\n"
        "  trn cancel dev bert\n"
    )
    said = json.loads((tmp_path / "out.json").read_text())
    assert (said["submitted"], said["uid"], said["objects"]) == (True, "uid-bert", ["configmaps/bert-entry", "jobs.batch.volcano.sh/bert"])
    assert "cluster trainium-dev, by Pulumi's state and by the account" in result.stderr


@pytest.mark.parametrize(("known", "verdict", "code"), [(True, "pass", 0), (False, "fail", 1), (None, "skip", 0)])
def test_an_image_that_is_not_there_is_found(cluster: RunningCluster, known: bool | None, verdict: str, code: int):
    """Pods would wait in ImagePullBackOff and hold all nodes of the gang. What is in a public registry is not asked for."""
    found = of(image="123456789012.dkr.ecr.us-west-2.amazonaws.com/train:1")
    (finding,) = [item for item in preflight.findings(found, cluster, lambda image: known) if item.check == "image"]
    assert finding.verdict == verdict
    if code:
        with pytest.raises(CommandError, match="nothing was submitted"):
            submit_to(found, cluster, known)
    else:
        assert submit_to(found, cluster, known).code == 0


class Ecr:
    """An account with one repository."""

    region = "us-west-2"

    def __init__(self, code: str = "") -> None:
        self.code, self.asked = code, list[dict[str, Any]]()

    def call(self, call: Any, **parameters: Any) -> dict[str, Any]:
        """Refused with the code, where there is one."""
        self.asked.append(parameters)
        if self.code:
            raise ClientError({"Error": {"Code": self.code, "Message": "no"}}, call.operation)
        return {"imageDetails": [{}]}

    def pages(self, call: Any, key: str, **parameters: Any) -> Any:
        """Not used here."""
        raise NotImplementedError


@pytest.mark.parametrize(
    ("code", "known"),
    [("", True), ("ImageNotFoundException", False), ("RepositoryNotFoundException", False), ("AccessDeniedException", None)],
)
def test_ecr_is_asked_for_private_images_of_the_region(code: str, known: bool | None):
    """By digest where there is one; who may not ask is not stopped by it."""
    registry = "123456789012.dkr.ecr.us-west-2.amazonaws.com/team/train"
    for image, which in (
        (f"{registry}:1.0", {"imageTag": "1.0"}),
        (f"{registry}:1.0@sha256:{'a' * 64}", {"imageDigest": f"sha256:{'a' * 64}"}),
    ):
        ecr = Ecr(code)
        assert has_image(ecr, image) == known
        assert ecr.asked == [{"registryId": "123456789012", "repositoryName": "team/train", "imageIds": [which]}]


def test_images_of_elsewhere_are_not_asked_for():
    """Another region, or another registry."""
    ecr = Ecr("AnyOther")
    assert has_image(ecr, "public.ecr.aws/neuron/x:1") is None
    assert has_image(ecr, "123456789012.dkr.ecr.us-east-1.amazonaws.com/train:1") is None
    assert ecr.asked == []
    with pytest.raises(ClientError):
        has_image(ecr, "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:1")


def test_the_simulated_account_has_every_image_but_those_that_are_missing():
    """What users push is not simulated; a slip in a tag is."""
    around = HealthyAccount().around
    around.missing_images.add("train:2")
    cloud = Cloud(surroundings=around)
    registry = f"123456789012.dkr.ecr.{cloud.api.region}.amazonaws.com"
    assert (has_image(cloud.api, f"{registry}/train:1"), has_image(cloud.api, f"{registry}/train:2")) == (True, False)
