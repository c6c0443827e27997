"""When Neuron nodes count as idle, and when a group may be emptied: in doubt never."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from addons.idle_guard.pod.decision import (
    HOUR_S,
    Group,
    Idle,
    Memory,
    Node,
    Pod,
    Scaling,
    Seen,
    Settings,
    decide,
    subject,
    text,
)
from addons.idle_guard.values import keeps
from stacks.cluster import cluster_of
from stacks.config import parse_settings
from tests.support import dev_configuration, merged

NOW = 1_800_000_000.0
OLD = NOW - 10 * HOUR_S
SETTINGS = Settings("train", "us-west-2", 6, True, (Group("trn", 21.5),), (("EKS control plane", 0.1), ("KMS key", 0.0014)))
QUIET = Seen(NOW, (Node("trn", OLD), Node("trn", OLD)), scaling={"trn": Scaling(2, 0)})
"""Two nodes that have stood idle for ten hours."""
BEFORE = {"trn": Memory(OLD, None, 2)}


def test_an_idle_group_is_emptied_and_told_of():
    """Two nodes over a weekend cost two thousand dollars."""
    found = decide(SETTINGS, QUIET, BEFORE)
    assert found.empty == ("trn",)
    assert found.tell == (Idle("trn", 2, OLD, True, "", 43.0),)
    assert found.memory == {"trn": Memory(OLD, NOW, 2, NOW)}


def test_by_itself_the_guard_only_tells():
    """To empty is a choice of the stack file."""
    found = decide(replace(SETTINGS, empties=False), replace(QUIET, scaling={}), {"trn": Memory(OLD)})
    assert (found.empty, [item.kept_by for item in found.tell]) == ((), [""])


@pytest.mark.parametrize(
    "before", [Memory(OLD, None, 2, NOW - 3600), Memory(OLD, None, 2, NOW + 3600), Memory(NOW + 3600, None, 2, NOW - 300)],
    ids=["no look for an hour", "a look of the future", "a use in the future"],
)  # fmt: skip
def test_hours_that_were_not_looked_at_do_not_count(before: Memory):
    """A guard that was off while a job ran and was deleted would empty the group at its first look."""
    found = decide(SETTINGS, QUIET, {"trn": before})
    assert (found.empty, found.tell, found.memory["trn"].used) == ((), (), NOW)
    assert decide(SETTINGS, QUIET, {"trn": Memory(OLD, None, 2, NOW - 300)}).empty == ("trn",)


USED: dict[str, Seen] = {
    "a pending pod wants Neuron": replace(QUIET, pods=(Pod("a"),)),
    "a pod runs": replace(QUIET, pods=(Pod("a", "trn"),)),
    "a pod without devices, put there on purpose": replace(QUIET, pods=(Pod("a", "trn", wants_neuron=False),)),
    "a gang waits without pods": replace(QUIET, waiting=("PodGroup training/bert",)),
    "a pod ended an hour ago": replace(QUIET, pods=(Pod("a", "trn", ended=NOW - HOUR_S),)),
    "a node has just joined": replace(QUIET, nodes=(Node("trn", OLD), Node("trn", NOW - 60))),
    "it was made larger": replace(QUIET, scaling={"trn": Scaling(3, 0)}),
}


@pytest.mark.parametrize("case", USED)
def test_a_group_that_is_used_is_left_alone(case: str):
    """Neither a message nor a change."""
    found = decide(SETTINGS, USED[case], BEFORE)
    assert (found.empty, found.tell, found.idle) == ((), (), ())


@pytest.mark.parametrize(
    ("seen", "group", "why"),
    [
        (replace(QUIET, nodes=(Node("trn", OLD), Node("trn", OLD, is_cordoned=True))), {}, "cordoned"),
        (replace(QUIET, nodes=(Node("trn", OLD), Node("trn", OLD, is_ready=False))), {}, "not ready"),
        (replace(QUIET, nodes=(Node("trn", OLD),)), {}, "it has 1 nodes and EKS wants 2"),
        (replace(QUIET, scaling={}), {}, "EKS did not say"),
        (replace(QUIET, scaling={"trn": Scaling(2, 0, is_active=False)}), {}, "EKS is changing it"),
        (replace(QUIET, scaling={"trn": Scaling(2, 1)}), {}, "its smallest size is 1"),
        (QUIET, {"keeps": "Cluster Autoscaler sizes it"}, "Cluster Autoscaler sizes it"),
    ],
)
def test_in_doubt_a_group_is_told_of_and_not_emptied(seen: Seen, group: dict[str, str], why: str):
    """A node too many costs money, a node too few costs a job."""
    found = decide(replace(SETTINGS, groups=(Group("trn", 21.5, **group),)), seen, BEFORE)
    assert found.empty == ()
    assert why in found.tell[0].kept_by


def test_pods_that_belong_to_their_node_are_no_use():
    """Plug-ins and exporters run on every node for ever."""
    assert decide(SETTINGS, replace(QUIET, pods=(Pod("p", "trn", wants_neuron=False, is_daemon=True),)), BEFORE).empty == ("trn",)


def test_a_pod_of_another_group_is_no_use_of_this_one():
    """Each group is judged by itself; a pod without a node may want any."""
    both = replace(SETTINGS, groups=(Group("trn", 21.5), Group("other", None)))
    seen = replace(QUIET, nodes=(*QUIET.nodes, Node("other", OLD)), pods=(Pod("a", "other"),))
    assert decide(both, seen, {**BEFORE, "other": Memory(OLD)}).empty == ("trn",)


def test_what_is_seen_for_the_first_time_begins_to_count_now():
    """A guard that was off knows nothing of the hours before."""
    found = decide(SETTINGS, QUIET, {})
    assert (found.empty, found.tell, found.memory["trn"].used) == ((), (), NOW)


def test_a_group_without_nodes_is_forgotten():
    """It begins anew when nodes come back."""
    assert decide(SETTINGS, replace(QUIET, nodes=()), BEFORE).memory == {}


def test_a_group_that_is_being_emptied_is_told_of_once():
    """Its nodes stay for minutes, and EKS wants none already."""
    found = decide(SETTINGS, replace(QUIET, scaling={"trn": Scaling(0, 0)}), BEFORE)
    assert (found.empty, found.tell) == ((), ())


def test_a_message_is_repeated_after_a_day_and_not_before():
    """Every five minutes it would be filtered away."""
    only = replace(SETTINGS, empties=False)
    for hours, count in ((1, 0), (23, 0), (24, 1)):
        found = decide(only, replace(QUIET, scaling={}), {"trn": Memory(OLD, NOW - hours * HOUR_S)})
        assert len(found.tell) == count, hours


def test_the_message_says_what_it_costs_and_what_goes_on():
    """A reader decides by it on a phone."""
    found = decide(SETTINGS, QUIET, BEFORE)
    said = text(SETTINGS, found.tell, {}, NOW)
    assert subject(SETTINGS, found.tell) == "train: 2 Neuron nodes idle"
    assert "trn: 2 nodes, not used since 2027-01-14 22:00 UTC, 10.0 hours ago." in said
    assert "43.00 USD an hour, 430.00 USD since then, at list price." in said
    assert "It was set to zero nodes. `trn scale STACK trn 2` brings them back." in said
    assert "Without any Neuron node the cluster bills 0.10 USD an hour:\n  0.100  EKS control plane" in said
    assert "It could not be set to zero nodes: EKS: no" in text(SETTINGS, found.tell, {"trn": "EKS: no"}, NOW)
    assert said.isascii()


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    pods=st.lists(st.builds(Pod, st.just("p"), st.sampled_from(["", "trn"]), ended=st.sampled_from([None, OLD, NOW - 1])), max_size=4),
    nodes=st.lists(st.builds(Node, st.just("trn"), st.sampled_from([OLD, NOW - 60]), st.booleans(), st.booleans()), max_size=3),
    sizes=st.tuples(st.integers(0, 3), st.integers(0, 1), st.booleans()),
    waiting=st.sampled_from([(), ("gang",)]),
    told=st.sampled_from([None, OLD, NOW - 1]),
)
def test_nothing_is_emptied_while_anything_wants_it(
    pods: list[Pod], nodes: list[Node], sizes: tuple[int, int, bool], waiting: tuple[str, ...], told: float | None
):
    """Whatever else is seen."""
    found = decide(SETTINGS, Seen(NOW, nodes, pods, waiting, {"trn": Scaling(*sizes)}), {"trn": Memory(OLD, told, 2)})
    if found.empty:
        assert not waiting
        assert all(pod.ended == OLD or (pod.ended is not None and not pod.group) for pod in pods)
        assert all(node.is_ready and not node.is_cordoned and node.created == OLD for node in nodes)
        assert sizes == (len(nodes), 0, True)


@pytest.mark.parametrize(("least", "why"), [(0, ""), (1, "its smallest size is 1")])
def test_a_group_with_a_smallest_size_is_never_emptied(least: int, why: str):
    """EKS would refuse it, or the schedule of its owner would."""
    configuration = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"minSize": least}})
    cluster = cluster_of(parse_settings(configuration, "test", rehearsal=True))
    assert keeps(cluster, "trn1-32xl", cluster.node_groups["trn1-32xl"]) == why
