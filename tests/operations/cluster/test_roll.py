"""`trn roll`: a group is rolled at a time that its jobs agree to, from wherever a run was stopped."""

from dataclasses import replace
from typing import Any

import pytest

from addons import volcano
from facts.resources.latency import Latency
from operations.cluster.roll.choices import Setting, choices
from operations.cluster.roll.plan import Way, plan_roll
from operations.cluster.roll.stopping import start, stop
from operations.errors import CommandError
from operations.jobs.listing.kinds import JOB_KINDS
from operations.jobs.listing.look import look
from operations.kube.job_pods import PODS
from operations.kube.rights import RIGHTS
from simulator.account import kinds
from tests.operations.cluster.rolling import GROUP, OTHER, Killed, begin_pod, cluster
from tests.operations.fake_kubernetes import FakeCluster


def test_jobs_stop_nodes_are_replaced_and_jobs_start_again():
    """Nothing else of the stack is changed, and nothing stays closed."""
    found = cluster()
    plan = found.plan()
    assert {urn.rsplit("::", 2)[-2].rsplit("$", 1)[-1] for urn in plan.targets} == {kinds.NODE_GROUP, kinds.LAUNCH_TEMPLATE}
    assert any("bert" in line and "keeps no checkpoints" in line for line in plan.lines)
    assert found.roll() == []
    assert found.changes.count("pulumi up") == 1
    assert found.is_rolled()
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])


@pytest.mark.parametrize("kill_at", range(1, 10))
def test_a_run_that_was_killed_is_continued_by_the_next(kill_at: int):
    """At each change: the same end, the job running once and no node closed."""
    found = cluster(kill_at)
    with pytest.raises(Killed):
        found.roll()
    found.kill_at = 0
    assert found.roll() == []
    assert found.is_rolled()
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])


@pytest.mark.parametrize("kill_at", range(1, 8))
def test_a_move_that_was_killed_is_continued_by_the_next(kill_at: int):
    """The job runs on the second group once, and the first is emptied."""
    found = cluster(kill_at)
    with pytest.raises(Killed):
        found.roll("to", OTHER)
    found.kill_at = 0
    assert found.roll("to", OTHER) == []
    assert (found.groups_of_pods(), found.changes[-1]) == ([OTHER, OTHER], "empty")


def test_it_asks_for_nothing_without_a_right():
    """Whoever may not administer the cluster is given what `trn iam` lists."""
    found = cluster()
    found.asked.clear()
    found.roll()
    rights = {(verb, kind) for kind, verbs in RIGHTS["roll"].items() for verb in verbs}
    assert {("create", "commands.bus.volcano.sh"), ("patch", "nodes"), ("patch", "jobs.batch.volcano.sh")} <= found.asked <= rights


def test_a_group_on_a_capacity_block_is_not_rolled_with_nodes():
    """The block has no instance left for a successor: EKS refuses it."""
    found = cluster()
    changed = found.planned()
    (urn,) = [urn for urn, change in changed.changes.items() if change.registration.type == kinds.NODE_GROUP]
    old = changed.changes[urn].old
    assert old is not None
    block = replace(changed.changes[urn], old=replace(old, inputs={**old.inputs, "capacityType": "CAPACITY_BLOCK"}))
    with pytest.raises(CommandError, match="only while it is empty"):
        plan_roll(GROUP, "checkpoint", "", replace(changed, changes={**changed.changes, urn: block}), [], {})


def test_a_whole_roll_is_as_many_changes_as_are_killed():
    """Otherwise a step would be left out above."""
    found = cluster()
    found.roll()
    assert len(found.changes) == 9
    moved = cluster()
    moved.roll("to", OTHER)
    assert len(moved.changes) == 7


def test_a_job_is_waited_for_and_not_stopped():
    """With nodes closed, so that nothing starts on them; where it takes too long, they are opened again."""
    found = cluster()
    with pytest.raises(CommandError, match="still runs on trn1-32xl after 1 h: nothing was replaced"):
        found.roll("when-idle", wait_s=3600)
    assert sum(found.waited) == 3600
    assert (found.groups_of_pods(), found.marks(), found.is_rolled()) == ([GROUP, GROUP], [], False)
    found.kubernetes.delete(volcano.JOBS, "bert", "training")
    assert found.roll("when-idle") == []
    assert found.is_rolled()


@pytest.mark.parametrize(("way", "to"), [("checkpoint", ""), ("when-idle", ""), ("to", OTHER)])
def test_what_begins_while_the_question_stands_is_not_ended(way: Way, to: str):
    """The plan does not have it: nothing is stopped, replaced or emptied, and the nodes take pods again."""
    found = cluster()
    plan = found.plan(way, to)
    begin_pod(found)
    with pytest.raises(CommandError, match="training/late runs on trn1-32xl and is in no job of the plan: nothing was replaced"):
        found.carry_out(plan)
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])
    assert not {"pulumi up", "empty"} & set(found.changes)


def test_a_job_of_an_owner_that_is_no_job_counts_as_one():
    """A CronJob's Job: it is waited for, and not stopped, since its owner would start it again."""
    found = cluster()
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "of-the-cron-job"}
    found.kubernetes.patch(volcano.JOBS, "bert", "training", {"metadata": {"ownerReferences": [owner]}})
    assert [plan.job.name for plan in found.plan("when-idle").jobs] == ["bert"]
    with pytest.raises(CommandError, match="belongs to CronJob nightly"):
        found.plan()


def test_jobs_move_to_a_group_beside_it():
    """The first group is closed, so that they start on the second, and is emptied after that."""
    found = cluster()
    assert found.roll("to", OTHER) == []
    assert found.groups_of_pods() == [OTHER, OTHER]
    assert found.changes[-1] == "empty"
    assert "pulumi up" not in found.changes


def test_a_second_group_without_room_is_refused_before_a_job_stops():
    """The job would wait for nodes that nobody asked for."""
    found = cluster()
    views = [look(found.kubernetes, "training")]
    with pytest.raises(CommandError, match="the jobs on trn1-32xl have 2 nodes, and trn1n-32xl has 1"):
        plan_roll(GROUP, "to", OTHER, found.planned(), views, {OTHER: 1})


def test_a_job_that_another_controller_would_start_again_is_refused():
    """Kueue holds the switch of what it admits."""
    found = cluster()
    found.kubernetes.patch(volcano.JOBS, "bert", "training", {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "training"}}})
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
