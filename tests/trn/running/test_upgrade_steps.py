"""The order of an upgrade: what version skew allows, whatever runs and wherever an earlier run ended."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from facts.kubernetes_versions import KUBELET_SKEW, minors_behind
from trn.running.upgrade.steps import CONTROL_PLANE_KEY, Group, Kind, Standing, Step, steps

MINORS = [f"1.{number}" for number in range(30, 38)]


def group(name: str = "trn1-32xl", minor: str = "1.34", pinned: str | None = "1.34.7-20260505") -> Group:
    return Group(name, ("nodeGroups", name), minor, pinned, True)


def release(_group: Group, minor: str) -> str:
    return f"{minor}.1-20260610"


def planned(standing: Standing, target: str) -> list[Step]:
    return steps(standing, target, release)


def test_control_plane_add_ons_charts_and_nodes_once():
    """The jobs of 1.34 stop once on the way to 1.36, not at each minor."""
    found = planned(Standing("1.34", [group("core", pinned=None), group()]), "1.36")
    assert [step.title for step in found] == [
        "control plane 1.35", "add-ons 1.35", "charts 1.35", "control plane 1.36", "add-ons 1.36", "charts 1.36",
        "nodes of core 1.36", "nodes of trn1-32xl 1.36",
    ]  # fmt: skip
    assert [str(edit) for edit in found[0].edits] == [
        "controlPlane.kubernetesVersion: 1.35",
        "nodeGroups.core.kubernetesVersion: 1.34",
        "nodeGroups.trn1-32xl.kubernetesVersion: 1.34",
    ]
    assert [str(edit) for edit in found[-2].edits] == ["nodeGroups.core.kubernetesVersion removed"]
    assert [str(edit) for edit in found[-1].edits] == [
        "nodeGroups.trn1-32xl.kubernetesVersion removed",
        "nodeGroups.trn1-32xl.releaseVersion: 1.36.1-20260610",
    ]


def test_what_is_done_is_not_done_again():
    """A run goes on from what EKS shows; where everything is of the minor there is nothing to do."""
    assert planned(Standing("1.36", [group(minor="1.36")]), "1.36") == []
    half = planned(Standing("1.35", [group(minor="1.34")], ("add-ons", "charts")), "1.36")
    assert [step.title for step in half][:3] == ["add-ons 1.35", "charts 1.35", "control plane 1.36"]
    assert "nodeGroups.trn1-32xl.kubernetesVersion: 1.34" in [str(edit) for edit in half[0].edits]
    rest = planned(Standing("1.36", [group("a", "1.36"), group("b", "1.34")]), "1.36")
    assert [step.title for step in rest] == ["nodes of b 1.36"]
    known = planned(Standing("1.35", [group(minor="1.35")], rolled=("urn:a",)), "1.36")
    assert [(step.title, step.targets, step.edits == ()) for step in known][:2] == [
        ("nodes 1.35", ("urn:a",), True), ("control plane 1.36", (), False),
    ]  # fmt: skip


@given(
    st.integers(0, 7).flatmap(
        lambda plane: st.tuples(
            st.just(plane),
            st.integers(plane, 7),
            st.lists(st.integers(max(0, plane - KUBELET_SKEW), plane), max_size=3),
            st.sampled_from([(), ("charts",), ("add-ons", "charts")]),
        )
    )
)
def test_no_step_leaves_the_skew_skips_a_minor_or_goes_back(case: tuple[int, int, list[int], tuple[Kind, ...]]):
    """At no moment are nodes newer than their control plane, or more than three minors older; every held group is named."""
    plane_at, target_at, groups_at, unfinished = case
    groups = [group(f"g{number}", MINORS[at]) for number, at in enumerate(groups_at)]
    plane, at = MINORS[plane_at], {each.name: each.minor for each in groups}
    for step in planned(Standing(plane, groups, unfinished), MINORS[target_at]):
        if step.kind == "control plane":
            assert minors_behind(step.minor, plane) == 1
            plane = step.minor
        if step.group is not None:
            at[step.group.name] = step.minor
        assert step.minor == plane
        assert all(0 <= minors_behind(plane, minor) <= KUBELET_SKEW for minor in at.values())
        if step.kind != "nodes":
            held = {edit.path[1]: edit.value for edit in step.edits if edit.path != CONTROL_PLANE_KEY}
            assert held == {name: minor for name, minor in at.items() if minor != plane}
    assert plane == MINORS[target_at]
    assert set(at.values()) <= {plane}


def test_groups_that_would_fall_too_far_behind_are_rolled_before():
    """Four minors in one go: the nodes follow before the fourth."""
    titles = [step.title for step in planned(Standing("1.32", [group(minor="1.32")]), "1.36")]
    nodes = [index for index, title in enumerate(titles) if title.startswith("nodes")]
    assert [titles[index] for index in nodes] == ["nodes of trn1-32xl 1.35", "nodes of trn1-32xl 1.36"]
    assert titles.index("charts 1.35") < nodes[0] < titles.index("control plane 1.36")
    assert len(list(itertools.chain(titles))) == 14
