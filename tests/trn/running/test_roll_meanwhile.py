"""A roll meets what its plan did not have: nodes that join, pods of no job, a second person, Ctrl-C, an edited stack file."""

import sys
from collections.abc import Callable
from dataclasses import replace
from signal import SIGINT
from typing import Any

import pytest

from addons import volcano
from facts.kubernetes_kinds import Resource
from facts.names import GROUP_LABEL
from simulator.account import kinds
from tests.sharing import mostly_long
from tests.trn.change.stage import CLUSTER, KILLED, Call
from tests.trn.running.rolling import GROUP, OTHER, Cluster, begin_pod, first, whole
from trn.cli.errors import CommandError
from trn.kubernetes.budgets import covers
from trn.kubernetes.job_end import STOPPED_BY_ROLL
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import JOBS, NODES
from trn.running.roll.change import views_of
from trn.running.roll.plan import CORDONED_BY_ROLL, RollPlan, Way, differences, plan_roll

WAYS: list[tuple[Way, str]] = [("checkpoint", ""), ("when-idle", ""), ("to", OTHER)]
INFERENCE = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "inference-5d4f", "uid": "of-the-replica-set", "controller": True}
NAMESPACE = Resource("Namespace", "/api/v1", "namespaces")


def joins(found: Cluster) -> str:
    """An autoscaler adds a node to the group; its name."""
    before = {node["metadata"]["name"] for node in found.kube.list(NODES) or ()}
    item = next(item for item in found.engine.world.state.existing(kinds.NODE_GROUP) if item.registration.inputs["nodeGroupName"] == GROUP)
    size = item.registration.inputs["scalingConfig"]
    inputs = {**item.registration.inputs, "scalingConfig": {**size, "desiredSize": size["desiredSize"] + 1, "maxSize": 9}}
    item.registration = replace(item.registration, inputs=inputs)
    (name,) = {node["metadata"]["name"] for node in found.kube.list(NODES) or ()} - before
    return name


@pytest.mark.parametrize(("way", "to"), WAYS)
def test_a_pod_that_nothing_starts_again_is_refused_by_name_and_accepted_by_name(way: Way, to: str):
    """Of each way: a notebook or a server that was started by hand is not ended by surprise, and does not block the group for ever."""
    found = Cluster()
    begin_pod(found, "notebook")
    with pytest.raises(CommandError, match=r"nothing is known to start them again: training/notebook \(of no owner\)") as refused:
        found.plan(way, to)
    assert "`--end-pod training/notebook` accepts that" in refused.value.hint
    found.accepted = ("training/notebook",)
    plan = found.plan(way, to)
    assert "pod training/notebook is evicted and ends: nothing starts it again" in plan.lines


def test_an_accepted_pod_is_rolled_over():
    """It is in the plan, so nothing is late."""
    found = Cluster()
    begin_pod(found, "notebook")
    found.accepted = ("training/notebook",)
    assert found.do().count("up") == 1


def test_a_pod_of_a_deployment_moves_by_itself():
    """It is named, not refused, and not waited for; one that its ReplicaSet makes anew meanwhile is no surprise either."""
    found = Cluster()
    begin_pod(found, "inference-5d4f-a", ownerReferences=[INFERENCE])
    line = "pod training/inference-5d4f-a of ReplicaSet inference-5d4f is evicted and starts again where there is room"
    assert line in found.plan().lines
    found.before_call(lambda call: call.name.startswith("PATCH"), lambda: begin_pod(found, "inference-5d4f-b", ownerReferences=[INFERENCE]))
    found.do()
    assert found.is_rolled()


@pytest.mark.parametrize(("way", "to"), WAYS)
def test_a_budget_that_lets_no_pod_go_is_named_before_anything_stops(way: Way, to: str):
    """EKS would give up on the node after 15 minutes, with the jobs stopped for nothing."""
    found = Cluster()
    begin_pod(found, "inference-5d4f-a", ownerReferences=[INFERENCE], labels={"app": "inference"})
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "inference"}}}
    budget = {"metadata": {"name": "inference", "namespace": "training"}, "spec": spec}
    tight = {**budget, "status": {"disruptionsAllowed": 0, "expectedPods": 1}}
    loose = {**budget, "status": {"disruptionsAllowed": 1, "expectedPods": 1}}
    views = views_of(found.kube, "training", GROUP)
    with pytest.raises(
        CommandError, match="PodDisruptionBudget training/inference lets no pod go now, and covers training/inference-5d4f-a"
    ):
        plan_roll(GROUP, way, to, found.planned(), views, {to: 2}, [tight])
    assert plan_roll(GROUP, way, to, found.planned(), views, {to: 2}, [loose]).others


@pytest.mark.parametrize(
    ("selector", "is_covered"),
    [
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "b"}}, False),
        ({}, True),
        (None, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}, False),
    ],
)
def test_which_pods_a_budget_covers(selector: dict[str, Any] | None, is_covered: bool):
    """As policy/v1 reads a selector."""
    pod = {"metadata": {"name": "p", "namespace": "team", "labels": {"app": "a"}}}
    budget = {"metadata": {"name": "b", "namespace": "team"}, "spec": {"selector": selector} if selector is not None else {}}
    assert covers(budget, pod) is is_covered
    assert not covers({**budget, "metadata": {"name": "b", "namespace": "other"}}, pod)


def test_nodes_that_join_while_jobs_are_waited_for_are_closed_too():
    """Otherwise a job would start there, and be stopped with the node."""
    found, joined, waited = Cluster(), list[str](), list[float]()

    def on_pause(seconds: float) -> None:
        waited.append(seconds)
        if not joined:
            joined.append(joins(found))
        elif len(waited) == 3:
            node = next(node for node in found.kube.list(NODES) or () if node["metadata"]["name"] == joined[0])
            assert node["spec"].get("unschedulable")
            found.kube.delete(volcano.JOBS, "bert", "training")

    found.on_pause = on_pause
    found.do("when-idle")
    assert (found.is_rolled(), found.marks()) == (True, [])


def test_a_job_that_got_onto_a_node_that_joined_is_waited_for():
    """It is in no plan; with `--when-idle` nothing is ended."""
    found, begun = Cluster(), list[bool]()

    def on_pause(_: float) -> None:
        if not begun:
            begun.append(True)
            found.kube.delete(volcano.JOBS, "bert", "training")
            begin_pod(found, "quick")

    found.on_pause = on_pause
    ended = found.roll("when-idle")
    assert (ended.code, "training/quick still runs on trn1-32xl after 1 h: nothing was replaced" in ended.err) == (1, True)
    assert ("up" in found.names(), found.marks()) == (False, [])


@pytest.mark.parametrize(("options", "answers", "is_done"), [(("--yes",), (), False), (("--left-hours", "8"), ("y", "y"), True)])
def test_what_an_edit_in_the_wait_would_write_is_not_what_was_confirmed(options: tuple[str, ...], answers: tuple[str, ...], is_done: bool):
    """A node that joins makes it plan anew: with the other text of the file, that nobody agreed to."""
    found, waited = Cluster(answers), list[float]()

    def on_pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 1:
            found.edit("rootVolumeGib: 200", "rootVolumeGib: 400")
            joins(found)
        elif len(waited) == 3:
            found.kube.delete(volcano.JOBS, "bert", "training")

    found.on_pause = on_pause
    ended = found.roll("when-idle", "", *options)
    assert (ended.code, "up" in found.names(), found.marks()) == (not is_done, is_done, [])
    assert ("not confirmed yet: pulumi up state dev" in ended.err) is is_done


def test_a_terminal_that_is_closed_leaves_no_job_stopped():
    """What is told meanwhile cannot be written: the job starts all the same, and the nodes are opened."""
    found = Cluster()

    def unread(_: str) -> int:
        raise BrokenPipeError

    def close() -> None:
        sys.stderr.write = unread  # pyright: ignore[reportAttributeAccessIssue]

    found.before_call(lambda call: call.name.endswith("/commands"), close)
    ended = found.roll()
    assert (ended.code, ended.report and ended.report["end"]) == (1, "failed")
    assert (found.groups_of_pods(), found.marks(), found.locks()) == ([GROUP, GROUP], [], {})


@pytest.mark.parametrize(("way", "to"), [("checkpoint", ""), ("to", OTHER)])
def test_what_begins_while_jobs_stop_is_not_ended(way: Way, to: str):
    """A pod that tolerates closed nodes: the jobs start again, the nodes take pods, nothing is replaced."""
    found = Cluster()
    found.before_call(lambda call: call.name.endswith("/commands"), lambda: begin_pod(found))
    ended = found.roll(way, to)
    assert (ended.code, "training/late runs on trn1-32xl and is in no job of the plan" in ended.err) == (1, True)
    assert (len(found.groups_of_pods()), found.marks()) == (2, [])
    assert not {"up", "eks.UpdateNodegroupConfig"} & set(found.names())


def test_what_is_refused_changes_nothing():
    """As a refusal, with its hint, and in the report."""
    found = Cluster()
    begin_pod(found, "notebook")
    ended = found.roll()
    assert (ended.code, ended.report and ended.report["end"], found.names()) == (1, "refused", [])
    assert "`--end-pod training/notebook` accepts that" in ended.err


def test_a_job_that_ended_by_itself_is_not_stopped():
    """Nor one of its name that was made since: consent was to the other."""
    found, stop = Cluster(), first(lambda call: call.name.startswith("PATCH"))
    found.before(stop, lambda: found.kube.delete(volcano.JOBS, "bert", "training"))
    ended = found.roll()
    assert (ended.code, found.is_rolled(), found.marks()) == (0, True, [])
    assert not [name for name in found.names() if "/commands" in name or "/jobs" in name]
    assert ended.report is not None
    assert {entry["verb"]: entry["outcome"] for entry in ended.report["done"]}["stop"] == "gone"


def test_a_job_that_was_made_again_at_the_last_moment_is_not_stopped():
    """The request names the one that was looked at: the server refuses it for another."""
    found = Cluster()
    marks = first(lambda call: call.name.startswith("PATCH") and "/jobs/" in call.name)
    found.before(marks, lambda: found.make_again("kubernetes:batch.volcano.sh/v1alpha1:Job", "training/bert", metadata={"uid": "another"}))
    ended = found.roll()
    assert (ended.code, found.marks(), [name for name in found.names() if "/commands" in name or name == "up"]) == (1, [], [])


def test_a_job_that_was_started_meanwhile_is_not_started_again():
    """The mark is gone: another person did it."""
    found, up = Cluster(), first(lambda call: call.name == "up")
    unmarked = {"metadata": {"annotations": {STOPPED_BY_ROLL: None}}, "spec": {}}
    found.before(up, lambda: found.kube.patch(volcano.JOBS, "bert", "training", unmarked))
    ended = found.roll()
    assert ended.report is not None
    assert {entry["verb"]: entry["outcome"] for entry in ended.report["done"]}["start"] == "gone"
    assert len([name for name in found.names() if "/commands" in name]) == 1


def test_an_edit_while_the_first_nodes_are_closed_stops_no_job():
    """They would stop for nothing."""
    found = Cluster()
    found.before_call(lambda call: call.name.startswith("PATCH"), lambda: found.edit("rootVolumeGib: 200", "rootVolumeGib: 400"))
    ended = found.roll()
    assert (ended.code, found.marks(), [name for name in found.names() if "/commands" in name]) == (1, [], [])


def test_another_group_of_the_name_is_not_emptied():
    """It was made again while the jobs stopped."""
    found = Cluster()
    again = {"arn": "arn:aws:eks:us-west-2:123456789012:nodegroup/again"}
    found.before_call(
        lambda call: call.name.endswith("/commands"), lambda: found.make_again(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}", **again)
    )
    ended = found.roll("to", OTHER)
    assert (ended.code, "eks.UpdateNodegroupConfig" in found.names(), found.marks()) == (1, False, [])
    assert "trn1-32xl was made again" in ended.out


def test_a_group_that_is_being_emptied_stays_closed():
    """Ctrl-C while EKS is at it: a pod that started there would lose its node."""
    found = Cluster()
    number = next(number for number, call in enumerate(whole("to", OTHER), 1) if call.name == "eks.UpdateNodegroupConfig")
    found.kill(number, SIGINT)
    ended = found.roll("to", OTHER)
    assert (ended.code, found.groups_of_pods()) == (130, [OTHER, OTHER])
    assert "take pods" not in ended.err


@pytest.mark.parametrize(("way", "to"), WAYS)
def test_differences_from_the_plan_that_was_shown(way: Way, to: str):
    """A node that joins is told; a job or a pod that began, and another change of the group, are not covered by a `--yes`."""
    found = Cluster()
    shown = found.plan(way, to)

    def lines(before: RollPlan, now: RollPlan) -> list[tuple[bool, str]]:
        return [(each.is_grave, each.what) for each in differences(before, now)]

    assert lines(shown, found.plan(way, to)) == []
    name = joins(found)
    assert lines(shown, found.plan(way, to)) == [(False, f"node {name} has joined {GROUP}")]
    assert lines(shown, replace(shown, jobs=())) == [(False, "jobs.batch.volcano.sh/bert in training has left trn1-32xl")]
    assert lines(replace(shown, jobs=()), shown) == [(True, "jobs.batch.volcano.sh/bert in training has begun on trn1-32xl")]
    found.accepted = ("training/late",)
    begin_pod(found)
    assert (True, "pod training/late has begun on trn1-32xl") in lines(shown, found.plan(way, to))
    if shown.targets:
        other = {urn: {**inputs, "size": 9} for urn, inputs in shown.wanted.items()}
        assert "would change trn1-32xl" in lines(shown, replace(shown, wanted=other))[0][1]
        assert "another run was faster" in lines(shown, replace(shown, wanted={}))[0][1]


def taken(call: Call) -> bool:
    """Whether a call takes the lock."""
    return call.name == "ec2.CreateLaunchTemplate"


def test_a_changed_plan_is_asked_about():
    """A `--yes` goes on with fewer or more nodes, and stops no job that was not shown; a person is asked again."""
    found = Cluster()
    found.before_call(taken, lambda: joins(found))
    ended = found.roll()
    assert (ended.code, "has joined trn1-32xl" in ended.err, found.is_rolled(), found.marks()) == (0, True, True, [])
    for options, answers, code in ((("--yes",), (), 1), (("--state", ""), ("y", "n"), 1), (("--state", ""), ("y", "y"), 0)):
        found = Cluster(answers)
        found.before_call(taken, lambda found=found: begin_pod(found, "inference-a", ownerReferences=[INFERENCE]))
        ended = found.roll("checkpoint", "", *(options if answers == () else ("--left-hours", "8")))
        assert (ended.code, "pod training/inference-a has begun on trn1-32xl" in ended.err) == (code, True), ended.err
        assert ("up" in found.names(), len(found.asked_at)) == (not code, len(answers))
        # What becomes of it is said before the second question.
        assert "pod training/inference-a of ReplicaSet inference-5d4f is evicted and starts again" in ended.err


@pytest.mark.parametrize("every", mostly_long([3, 1]))
@pytest.mark.parametrize("way", ["checkpoint", "when-idle"])
def test_after_ctrl_c_jobs_run_and_nodes_are_open(way: Way, every: int):
    """Whoever gives up a wait of hours does not leave a group behind that takes no pods; also where it comes at the clean-up."""
    numbers = [number for number, call in enumerate(whole(), 1) if call.is_change and not call.name.startswith("ec2.")]
    for number in numbers[::every] if way == "checkpoint" else numbers[:2]:
        found = Cluster()
        found.kill(number, SIGINT)
        ended = found.roll(way)
        assert (ended.code, ended.report and ended.report["end"]) == (130, "interrupted"), number
        assert (found.groups_of_pods(), found.marks(), found.locks()) == ([GROUP, GROUP], [], {}), number
        found.kill(0)
        found.do()
        assert (found.is_rolled(), found.groups_of_pods(), found.marks()) == (True, [GROUP, GROUP], [])


def test_what_a_killed_run_stopped_starts_again_where_the_next_one_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """Its job has no action in that run but the start."""
    found = Cluster()
    found.kill(first(lambda call: call.name == "up"))
    assert found.roll().code == KILLED
    found.is_dead, found.is_locked = False, False
    assert (found.groups_of_pods(), "bert" in found.marks()) == ([], True)
    found.kill(0)

    def given_up(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Cluster, "run", given_up)
    assert found.roll().code == 130
    assert (found.groups_of_pods(), found.marks()) == ([GROUP, GROUP], [])


def test_what_cannot_be_taken_back_is_said():
    """The report has it, and what ended the change is what is told."""
    found = Cluster()
    stop = first(lambda call: call.name.endswith("/commands"))
    found.fault(stop, "broken")
    for number in range(stop + 1, stop + 40):
        found.fault(number, "403" if number > stop + 1 else "broken")
    ended = found.roll()
    assert (ended.code, ended.report and ended.report["end"]) == (1, "failed")
    assert ended.report is not None
    (left,) = [entry for entry in ended.report["left"] if entry["verb"] == "close"]
    assert (left["outcome"], left["said"][0].startswith("not taken back: ")) == ("unsure", True)
    assert "close node group trn1-32xl: not taken back: " in ended.err


@pytest.mark.parametrize(("way", "to"), WAYS)
def test_nothing_is_replaced_without_the_lock_or_with_another_stack_file(way: Way, to: str):
    """After hours of waiting: what another operator holds by now is not touched at all; an edit leaves the jobs running."""
    for is_lock in (True, False):
        found = Cluster()
        act = found.lose_lock if is_lock else lambda found=found: found.edit("rootVolumeGib: 200", "rootVolumeGib: 400")
        number = first(lambda call: call.name.endswith("/commands"))
        if way == "when-idle":
            found.kube.delete(volcano.JOBS, "bert", "training")
            number = first(lambda call: call.name.startswith("PATCH"))
        found.before(number, act)
        ended = found.roll(way, to)
        says = "stopped" if is_lock else "failed"
        assert (ended.code, ended.report and ended.report["end"]) == (1, says), ended.err
        assert is_lock or "Pulumi.dev.yaml has been edited since the plan was made" in ended.err
        assert not {"up", "eks.UpdateNodegroupConfig"} & set(found.names())
        assert bool(found.marks()) is is_lock


def test_nodes_that_a_killed_run_closed_are_opened_though_there_is_nothing_to_roll():
    """The edit was taken back meanwhile: without this the group would take no pods, and nothing would say why."""
    found = Cluster()
    nodes = [node["metadata"]["name"] for node in found.kube.list(NODES) or () if node["metadata"]["labels"].get(GROUP_LABEL) == GROUP]
    mark = {"metadata": {"annotations": {CORDONED_BY_ROLL: "true"}}, "spec": {"unschedulable": True}}
    found.kube.patch(NODES, nodes[0], "", mark)
    found.kube.patch(volcano.JOBS, "bert", "training", {"metadata": {"annotations": {STOPPED_BY_ROLL: GROUP}}, "spec": {}})
    found.edit("      rootVolumeGib: 200\n", "")
    ended = found.roll()
    assert ended.code == 0
    for line in (
        "stopped by an earlier run, and started again: jobs.batch.volcano.sh/bert in training",
        f"closed by an earlier run, and opened again at the end: {nodes[0]}",
    ):
        assert line in ended.err
    assert (found.marks(), "up" in found.names()) == ([], False)
    ended = found.roll()
    assert (ended.code, ended.report and ended.report["end"]) == (0, "nothing")
    assert "the nodes of trn1-32xl are as the stack file says: nothing to roll" in ended.err


def test_a_job_that_was_stopped_in_a_namespace_without_pods_is_found_again():
    """A stopped job has no pod: its namespace may have none at all."""
    found = Cluster()
    found.kube.create(NAMESPACE, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
    body: dict[str, Any] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "bert", "annotations": {STOPPED_BY_ROLL: GROUP}},
        "spec": {"suspend": True, "parallelism": 1, "template": {"spec": {"containers": [{"name": "main"}]}}},
    }
    found.kube.create(JOBS, "team-b", body)
    plan = found.plan()
    assert [(job.namespace, job.reference) for job in plan.stopped] == [("team-b", "jobs.batch/bert")]
    found.do()
    (job,) = [job for job in found.kube.list(JOBS) or () if job["metadata"]["namespace"] == "team-b"]
    assert job["spec"]["suspend"] is False


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found.kube.patch(NODES, other_nodes(found)[0], "", {"spec": {"unschedulable": True}}), "are 1 free"),
        (lambda found: begin_pod(found, "busy", on=OTHER), "are 1 free"),
    ],
)
def test_a_second_group_that_is_full_is_refused(change: Callable[[Cluster], None], says: str):
    """Its size alone is not enough: the jobs would be stopped, and wait for what runs there."""
    found = Cluster()
    change(found)
    with pytest.raises(CommandError, match=f"the jobs on trn1-32xl have 2 nodes, and of trn1n-32xl's 2 {says}"):
        found.plan("to", OTHER)


def other_nodes(found: Cluster) -> list[str]:
    """Nodes of the second group."""
    return [node["metadata"]["name"] for node in found.kube.list(NODES) or () if node["metadata"]["labels"].get(GROUP_LABEL) == OTHER]


def test_a_second_group_of_smaller_instances_is_refused():
    """A worker that asks for 16 devices fits on no node that has one."""
    found = Cluster()
    views = views_of(found.kube, "training", GROUP)
    for view in views:
        for node in view.nodes:
            if node["metadata"]["labels"].get(GROUP_LABEL) == OTHER:
                node["status"]["allocatable"]["aws.amazon.com/neuron"] = "1"
    with pytest.raises(CommandError, match="are 0 free, open and large enough"):
        plan_roll(GROUP, "to", OTHER, found.planned(), views, {OTHER: 2})


def test_the_size_that_changes_with_the_nodes_is_said():
    """The same update sets it: "and changes nothing else" would be wrong."""
    found = Cluster()
    planned = found.planned()
    (urn,) = [urn for urn, change in planned.changes.items() if change.registration.type == kinds.NODE_GROUP]
    changed = (*planned.changes[urn].changed, "scalingConfig.desiredSize")
    more = replace(planned, changes={**planned.changes, urn: replace(planned.changes[urn], changed=changed)})
    plan = plan_roll(GROUP, "checkpoint", "", more, views_of(found.kube, "training", GROUP), {})
    assert plan.lines[-1].endswith("the same update of the group changes scalingConfig")
    assert found.plan().lines[-1].endswith("and changes nothing else")


def test_a_group_whose_size_the_state_does_not_know_is_rolled_with_care():
    """`trn scale` or an autoscaler gave nodes to a group of size 0: its jobs are on them all the same."""
    found = Cluster()
    planned = found.planned()
    (urn,) = [urn for urn, change in planned.changes.items() if change.registration.type == kinds.NODE_GROUP]
    change = planned.changes[urn]
    assert change.old is not None
    assert change.new is not None
    zero = {"scalingConfig": {"minSize": 0, "maxSize": 4, "desiredSize": 0}}
    old, new = (replace(each, inputs={**each.inputs, **zero}) for each in (change.old, change.new))
    at_zero = replace(planned, changes={**planned.changes, urn: replace(change, old=old, new=new)})
    plan = plan_roll(GROUP, "checkpoint", "", at_zero, views_of(found.kube, "training", GROUP), {})
    assert (bool(plan.targets), [job.job.name for job in plan.jobs]) == (True, ["bert"])


def test_an_empty_group_is_said_to_be_empty():
    """Nothing stops, and its next nodes are as the stack file says."""
    found = Cluster()
    plan = plan_roll(
        GROUP, "when-idle", "", found.planned(), [replace(each, nodes=()) for each in views_of(found.kube, "training", GROUP)], {}
    )
    assert (plan.lines[0], plan.jobs) == ("trn1-32xl has no nodes now: nothing stops", ())


def test_pods_that_end_are_no_reason():
    """A finished pod keeps its node's name and holds nothing."""
    found = Cluster()
    begin_pod(found)
    found.kube.patch(PODS, "late", "training", {"status": {"phase": "Succeeded"}})
    assert found.plan().others == ()
