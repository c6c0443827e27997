"""`trn roll`: a group is rolled at a time that its jobs agree to, from wherever a run was stopped."""

from dataclasses import replace
from typing import Any

import pytest

from addons import volcano
from facts.resources.latency import Latency
from simulator.account import kinds
from tests.trn.change.stage import CLUSTER
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from tests.trn.running.rolling import GROUP, OTHER, Cluster, begin_pod, whole
from tests.trn.test_kube_rights import resource
from trn.cli.errors import CommandError
from trn.kubernetes.job_end import start, stop
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import look
from trn.rights import RIGHTS
from trn.running.roll.choices import Setting, choices
from trn.running.roll.plan import Way, plan_roll


def test_jobs_stop_nodes_are_replaced_and_jobs_start_again():
    """Nothing else of the stack is changed, and nothing stays closed."""
    found = Cluster()
    plan = found.plan()
    assert {urn.rsplit("::", 2)[-2].rsplit("$", 1)[-1] for urn in plan.targets} == {kinds.NODE_GROUP, kinds.LAUNCH_TEMPLATE}
    assert any("bert" in line and "keeps no checkpoints" in line for line in plan.lines)
    ended = found.roll()
    assert (ended.code, ended.out.strip(), found.names().count("up")) == (0, "trn1-32xl is rolled", 1)
    assert ended.report is not None
    assert (ended.report["group"], ended.report["way"], ended.report["plan"]) == (GROUP, "checkpoint", plan.lines)
    assert found.is_rolled()
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])


def test_it_asks_for_nothing_without_a_right():
    """Whoever may not administer the cluster is given what `trn iam` lists."""
    verbs = {"POST": "create", "PATCH": "patch", "GET": "list", "DELETE": "delete"}
    calls = [call.name.split() for call in whole() if call.way == "kubernetes"]
    asked = {(verbs[method], resource(path)) for method, path in calls}
    rights = {(verb, kind) for kind, verbs in RIGHTS["roll"].items() for verb in verbs}
    assert {("create", "commands.bus.volcano.sh"), ("patch", "nodes"), ("patch", "jobs.batch.volcano.sh")} <= asked <= rights


def test_a_group_on_a_capacity_block_is_not_rolled_with_nodes():
    """The block has no instance left for a successor: EKS refuses it."""
    found = Cluster()
    changed = found.planned()
    (urn,) = [urn for urn, change in changed.changes.items() if change.registration.type == kinds.NODE_GROUP]
    old = changed.changes[urn].old
    assert old is not None
    block = replace(changed.changes[urn], old=replace(old, inputs={**old.inputs, "capacityType": "CAPACITY_BLOCK"}))
    with pytest.raises(CommandError, match="only while it is empty"):
        plan_roll(GROUP, "checkpoint", "", replace(changed, changes={**changed.changes, urn: block}), [], {})


def test_a_job_is_waited_for_and_not_stopped():
    """With nodes closed, so that nothing starts on them; where it takes too long, they are opened again."""
    found, waited = Cluster(), list[float]()
    found.on_pause = waited.append
    ended = found.roll("when-idle")
    assert (ended.code, "still runs on trn1-32xl after 1 h: nothing was replaced" in ended.err) == (1, True), ended.err
    assert sum(waited) == 3600
    assert (found.groups_of_pods(), found.marks(), found.is_rolled()) == ([GROUP, GROUP], [], False)
    found.kube.delete(volcano.JOBS, "bert", "training")
    found.do("when-idle")
    assert found.is_rolled()


def test_a_job_that_does_not_leave_keeps_its_node():
    """What was asked of it stays asked: nothing is replaced, and the next run goes on from there."""
    found = Cluster()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trn.running.roll.change._is_among", lambda pods, plan: True)
        ended = found.roll()
    assert (ended.code, "up" in found.names()) == (1, False)
    assert "jobs.batch.volcano.sh/bert in training has not left trn1-32xl: nothing was replaced" in ended.out
    assert ended.report is not None
    assert [entry["verb"] for entry in ended.report["left"]] == ["stop"]
    assert found.marks()
    found.do()
    assert (found.groups_of_pods(), found.marks(), found.is_rolled()) == ([GROUP, GROUP], [], True)


@pytest.mark.parametrize(("way", "to"), [("checkpoint", ""), ("when-idle", ""), ("to", OTHER)])
def test_what_begins_once_nothing_is_asked_any_more_is_not_ended(way: Way, to: str):
    """The plan does not have it: nothing is stopped, replaced or emptied, and the nodes take pods again."""
    found = Cluster()
    found.before_call(lambda call: call.name.startswith("PATCH"), lambda: begin_pod(found))
    ended = found.roll(way, to)
    assert (ended.code, "training/late runs on trn1-32xl and is in no job of the plan: nothing was replaced" in ended.err) == (1, True)
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])
    assert not {"up", "eks.UpdateNodegroupConfig"} & set(found.names())
    assert ended.report is not None
    assert [(entry["verb"], entry["outcome"]) for entry in ended.report["left"]] == [("close", "taken back")]


def test_a_job_of_an_owner_that_is_no_job_counts_as_one():
    """A CronJob's Job: it is waited for, and not stopped, since its owner would start it again."""
    found = Cluster()
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "of-the-cron-job"}
    found.kube.patch(volcano.JOBS, "bert", "training", {"metadata": {"ownerReferences": [owner]}})
    assert [plan.job.name for plan in found.plan("when-idle").jobs] == ["bert"]
    with pytest.raises(CommandError, match="belongs to CronJob nightly"):
        found.plan()


def test_jobs_move_to_a_group_beside_it():
    """The first group is closed, so that they start on the second, and is emptied after that."""
    found = Cluster()
    assert (found.do("to", OTHER)[-1], "up" in found.names()) == ("eks.UpdateNodegroupConfig", False)
    assert found.groups_of_pods() == [OTHER, OTHER]
    sizes = found.found(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}").registration.inputs["scalingConfig"]
    assert sizes["desiredSize"] == 0


def test_a_second_group_without_room_is_refused_before_a_job_stops():
    """The job would wait for nodes that nobody asked for."""
    found = Cluster()
    views = [look(found.kube, "training")]
    with pytest.raises(CommandError, match="the jobs on trn1-32xl have 2 nodes, and trn1n-32xl has 1"):
        plan_roll(GROUP, "to", OTHER, found.planned(), views, {OTHER: 1})


def test_a_job_that_another_controller_would_start_again_is_refused():
    """Kueue holds the switch of what it admits."""
    found = Cluster()
    found.kube.patch(volcano.JOBS, "bert", "training", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "training"}}})
    with pytest.raises(CommandError, match="admitted by Kueue"):
        found.plan()
    assert found.plan("when-idle").jobs != ()


@pytest.mark.parametrize(
    "name", ["jobs.batch", "jobsets.jobset.x-k8s.io", "trainjobs.trainer.kubeflow.org", "pytorchjobs.kubeflow.org", "mpijobs.kubeflow.org"]
)
def test_kinds_are_stopped_by_their_own_switch(name: str):
    """A job that was deleted would lose what belongs to it, such as its script."""
    kind = next(each for each in JOB_KINDS if each.resource.qualified == name)
    fake = FakeCluster()
    fake.objects[kind.resource] = [{"metadata": {"name": "bert", "namespace": "training", "uid": "u"}, "spec": {}}]
    view = look_for(fake)
    stop(fake, view, GROUP)
    spec = fake.objects[kind.resource][0]["spec"]
    assert spec in ({"suspend": True}, {"runPolicy": {"suspend": True}})
    start(fake, kind.resource, fake.objects[kind.resource][0])
    assert fake.objects[kind.resource][0]["spec"] in ({"suspend": False}, {"runPolicy": {"suspend": False}})


def look_for(fake: FakeCluster) -> Any:
    """The one job there is."""
    fake.objects.setdefault(PODS, [])
    (job,) = look(fake, "training").jobs
    return job


def test_each_way_has_its_price():
    """Waiting loses nothing and takes longest; a plain `up` loses what was not saved; a second group stops the job for least."""
    setting = Setting(GROUP, 2, 43.0, Latency(600, 840, 1080, "here"), make_s=360, delete_s=480, grace_s=300, left_s=7200, unsaved_s=1800)
    found = {choice.option: choice for choice in choices(setting)}
    plain, idle, saved, second = (found[name] for name in ("pulumi up", "--when-idle", "--checkpoint", "--to GROUP"))
    assert (plain.lost_s, idle.lost_s, saved.lost_s, second.lost_s) == (1800, 0, 0, 0)
    assert (plain.stopped_s, idle.stopped_s, saved.stopped_s, second.stopped_s) == (1680, 0, 1980, 300)
    assert idle.rolled_s == 7200 + 1680
    assert plain.usd == pytest.approx((1680 + 1800) * 43 / 3600)
