"""What an upgrade looks at before it changes anything: each check fails where the upgrade would."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import pytest

from addons.versions import managed_addon_version
from simulator.account import kinds
from simulator.aws_endpoint.surroundings import Surroundings
from stacks.settings import Settings
from tests.simulator.account.standing import fill_a_control_plane_subnet, group, recording, standing
from tests.support import ROOT
from tests.trn.aws.cloud import Cloud
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from trn.aws.eks import upgrade_insights
from trn.change.occupants import Occupants
from trn.cli.errors import CommandError
from trn.cli.findings import Finding
from trn.cli.watching import Watching
from trn.engine.effects import Effect
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.budgets import BUDGETS
from trn.kubernetes.kinds import NODES
from trn.running.upgrade.check import Subject, findings_of
from trn.running.upgrade.look import Found, look, moved, refuse_foreign, rolled, standing_of
from trn.running.upgrade.steps import Group, release_for, steps

CLUSTER, GROUP = "trainium-dev", "trn1-32xl"
WATCHING = Watching(lambda line: None, lambda seconds: None)


@cache
def settings() -> Settings:
    """Of the shipped stack."""
    return settings_of(read_stack_file("dev", ROOT))


def cloud() -> Cloud:
    """The shipped stack, up, with the add-on versions that the program pins."""
    world = standing()
    around = replace(Surroundings.of_region("us-west-2", world.state.allowances), other_addons=managed_addon_version)
    return Cloud(world=world, surroundings=around)


def found(
    change: Callable[[Cloud, FakeCluster], Any] = lambda cloud, cluster: None, *, accepted: tuple[str, ...] = ("volcano",)
) -> list[Finding]:
    """Findings on the way to 1.36, with something changed."""
    aws, inside = cloud(), FakeCluster()
    change(aws, inside)
    there = look(aws.api, settings(), WATCHING)
    standing_now = standing_of(there, "1.35", [], [], cluster=CLUSTER)
    planned = steps(standing_now, "1.36", lambda group, minor: release_for(group, minor, settings()))
    subject = Subject(
        aws.api,
        inside,
        CLUSTER,
        there,
        planned,
        ("1.36",),
        recording(),
        frozenset(accepted),
        {"trn1-32xl": Occupants()},
        date(2026, 11, 22),
    )
    return list(findings_of(subject))


def told(findings: list[Finding], verdict: str) -> list[str]:
    """What findings of one verdict say."""
    return [f"{finding.check}: {finding.what}" for finding in findings if finding.verdict == verdict]


def test_a_healthy_cluster_may_be_upgraded():
    """With Volcano accepted, nothing stands in the way; without, it alone does, with its range."""
    findings = found()
    assert told(findings, "fail") == []
    assert told(findings, "warn") == ["charts: volcano 1.15.0 lists 1.24 to 1.35, not 1.36: accepted"]
    assert "AMI: trn1-32xl takes 1.36.1-20260610" in told(findings, "pass")
    assert told(found(accepted=()), "fail") == ["charts: volcano 1.15.0 lists 1.24 to 1.35, not 1.36"]


def _no_addresses(aws: Cloud, _: FakeCluster) -> None:
    """One subnet is full, the other is empty: EKS counts each."""
    fill_a_control_plane_subnet(aws.world, left=4)


def _deprecated(aws: Cloud, _: FakeCluster) -> None:
    status = {"status": "ERROR", "reason": "deprecated APIs are called"}
    entry = {"id": "1", "name": "Deprecated APIs", "kubernetesVersion": "1.36", "insightStatus": status}
    usage = {"usage": "/apis/x/v1beta1/things", "clientStats": [{"userAgent": "old-operator"}]}
    aws.wire.handlers["eks.ListInsights"] = lambda given: {"insights": [entry]}
    aws.wire.handlers["eks.DescribeInsight"] = lambda given: {
        "insight": {**entry, "recommendation": "upgrade the operator", "categorySpecificSummary": {"deprecationDetails": [usage]}}
    }


def _old_node(_: Cloud, cluster: FakeCluster) -> None:
    status = {"nodeInfo": {"kubeletVersion": "v1.32.4-eks-1"}}
    cluster.objects[NODES] = [
        {"metadata": {"name": "by-hand"}, "status": status},
        {"metadata": {"name": "rolled", "labels": {"eks.amazonaws.com/nodegroup": "trn1-32xl"}}, "status": status},
    ]


def _tight_budget(_: Cloud, cluster: FakeCluster) -> None:
    cluster.objects[BUDGETS] = []
    cluster.put(BUDGETS, "one", "team", status={"disruptionsAllowed": 0, "expectedPods": 1})
    cluster.put(BUDGETS, "none", "team", status={"disruptionsAllowed": 0, "expectedPods": 0})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_no_addresses, "addresses: EKS wants 5 free in each subnet of the control plane; free are 4 in subnet-"),
        (_deprecated, "insights: Deprecated APIs for 1.36: deprecated APIs are called: /apis/x/v1beta1/things (old-operator)"),
        (_old_node, "version skew: kubelets more than 3 minors older than 1.36: by-hand v1.32.4-eks-1"),
        (_tight_budget, "budgets: allow no eviction now: team/one"),
        (lambda aws, _: aws.wire.handlers.update({"ec2.DescribeImages": lambda given: {"Images": []}}), "AMI: trn1-32xl: neuron release 1.36.1-20260610 is not in us-west-2"),
        (lambda aws, _: aws.wire.handlers.update({"eks.DescribeClusterVersions": lambda given: {"clusterVersions": []}}), "Kubernetes: EKS in us-west-2 does not offer 1.36"),
        (lambda aws, _: aws.wire.handlers.update({"eks.DescribeAddonVersions": lambda given: {"addons": []}}), "add-ons: EKS has no coredns"),
    ],
)  # fmt: skip
def test_what_stands_in_the_way_is_a_failure(change: Callable[[Cloud, FakeCluster], Any], says: str):
    """With figures and names, so that it can be put right."""
    failures = told(found(change), "fail")
    assert any(text.startswith(says) for text in failures), failures


def test_insights_follow_the_nodes():
    """EKS warns of nodes that are behind, and calls it an error where the next minor would leave the skew."""
    aws = cloud()
    status = {item.name: item.status for item in upgrade_insights(aws.api, CLUSTER)}
    assert status["Kubelet version skew"] == status["kube-proxy version skew"] == "PASSING"
    for version, expected in (("1.34", "WARNING"), ("1.32", "ERROR")):
        aws.world.state.put(group(version=version))
        (kubelets,) = [item for item in upgrade_insights(aws.api, CLUSTER) if item.name == "Kubelet version skew"]
        assert (kubelets.status, kubelets.minor, "trn1-32xl" in kubelets.reason) == (expected, "1.36", True)
        assert kubelets.recommendation


def test_a_cluster_that_is_changing_is_waited_for():
    """A run that was killed left EKS at work; a failed group is not upgraded."""
    aws, pauses = Cloud(world=standing(), lag=6), list[float]()
    item = aws.world.state.find(kinds.NODE_GROUP, f"{CLUSTER}:trn1-32xl")
    assert item is not None
    item.status = "creating"
    there = look(aws.api, settings(), Watching(lambda line: None, pauses.append))
    assert (there.control_plane, pauses) == ("1.35", [15] * len(pauses))
    assert pauses
    item.status = "failed"
    with pytest.raises(CommandError, match="not to be upgraded: trn1-32xl is CREATE_FAILED"):
        look(aws.api, settings(), WATCHING)


@pytest.mark.parametrize(
    ("in_file", "late", "waiting", "expected"),
    [
        ("1.35", [], [], ()),
        ("1.35", ["kube-proxy"], [], ("add-ons", "charts")),
        ("1.36", [], [], ()),
        ("1.34", [], [], "never downgraded"),
        ("1.37", [], [], "one minor at a time"),
        ("1.35", [], ["update a b"], "would change more than an upgrade does: update a b"),
        ("1.35", ["kube-proxy"], ["update a b"], ("add-ons", "charts")),
        ("1.35 late", [], ["update a b"], ("charts",)),
        ("1.35 late", [], ["update aws:eks/nodeGroup:NodeGroup core"], ()),
    ],
)
def test_how_far_a_stopped_run_came(in_file: str, late: list[str], waiting: list[str], expected: tuple[str, ...] | str):
    """Told from the stack file, EKS and Pulumi alone: no file of its own can be lost."""
    in_file, _, late_nodes = in_file.partition(" ")
    there = Found("1.35", (Group("core", ("coreNodes",), "1.34" if late_nodes else "1.35", None, False),), (), {})
    if isinstance(expected, str):
        with pytest.raises(CommandError, match=expected):
            standing_of(there, in_file, late, waiting, cluster=CLUSTER)
    else:
        assert standing_of(there, in_file, late, waiting, cluster=CLUSTER).unfinished == expected


@pytest.mark.parametrize(
    ("because", "described", "is_known"),
    [
        (("version",), {GROUP: {"version": "1.35"}}, True),
        (("version", "releaseVersion"), {GROUP: {"version": "1.35", "releaseVersion": "1.35.4-20260505"}}, True),
        (("version",), {GROUP: {"version": "1.34"}}, False),
        (("version", "releaseVersion"), {GROUP: {"version": "1.35", "releaseVersion": "1.35.6-20260625"}}, False),
        (("version", "scalingConfig.maxSize"), {GROUP: {"version": "1.35", "scalingConfig": {}}}, False),
        (("taken out of the program",), {}, False),
        ((), {GROUP: {"version": "1.35"}}, False),
    ],
)
def test_only_what_eks_has_as_the_program_asks_is_left_to_the_state(because: tuple[str, ...], described: Any, is_known: bool):
    """All else `pulumi up` would change, and nobody agreed to it."""
    file = read_stack_file("dev", ROOT)
    (urn,) = [item.urn for item in record_stack(file).of_type(kinds.NODE_GROUP) if item.inputs["nodeGroupName"] == GROUP]
    update, there = Effect(urn, kinds.NODE_GROUP, GROUP, GROUP, "update", frozenset(), (), because), Found("1.35", (), (), described)
    assert rolled(there, [update], file) == [urn] * is_known
    assert rolled(there, [replace(update, operation="replace"), replace(update, type=kinds.ADDON)], file) == []


@pytest.mark.parametrize(
    ("of_type", "name", "operation", "because", "is_foreign"),
    [
        (kinds.RELEASE, "cluster-autoscaler", "update", ("values.image.tag",), False),
        (kinds.RELEASE, "cluster-autoscaler", "update", ("values",), False),
        (kinds.RELEASE, "cluster-autoscaler", "update", (), False),
        (kinds.RELEASE, "cluster-autoscaler", "update", ("values.extraArgs.scale-down-unneeded-time",), True),
        (kinds.RELEASE, "volcano", "update", (), False),
        (kinds.ADDON, "coredns", "update", ("addonVersion",), False),
        (kinds.ADDON, "coredns", "create", (), True),
        (kinds.NODE_GROUP, GROUP, "update", ("version", "releaseVersion"), False),
        (kinds.NODE_GROUP, GROUP, "replace", ("subnetIds",), True),
        (kinds.NODE_GROUP, GROUP, "create", (), True),
        (kinds.CLUSTER, "control-plane-eksCluster", "update", ("version",), False),
        (kinds.CLUSTER, "control-plane-eksCluster", "update", ("upgradePolicy.supportType",), True),
    ],
)
def test_what_no_minor_makes_is_no_part_of_an_upgrade(of_type: str, name: str, operation: str, because: Any, is_foreign: bool):
    """Whichever object it is of: what was edited between two runs would be carried out unseen."""
    file = read_stack_file("dev", ROOT)
    (urn,) = [item.urn for item in record_stack(file).of_type(of_type) if item.name == name]
    effect = Effect(urn, of_type, name, name, operation, frozenset(), (), because)
    with pytest.raises(CommandError, match=f"more than an upgrade does: {operation} {of_type} {name}") if is_foreign else nullcontext():
        refuse_foreign([effect], file)


@pytest.mark.parametrize(("core", "expected"), [("1.35", ("urn:a",)), ("1.34", ())])
def test_a_group_that_only_the_state_does_not_know_has_a_step_where_no_later_one_looks_at_it(core: str, expected: tuple[str, ...]):
    """The nodes of a group that is behind are rolled by a run of the whole program."""
    there = Found("1.35", (Group("core", ("coreNodes",), core, None, False),), (), {})
    assert standing_of(there, "1.35", [], [], cluster=CLUSTER, ended=["urn:a"]).rolled == expected


def test_a_minor_that_a_missing_key_stands_for_is_answered_about_the_key():
    """The stack file says nothing: what it says cannot be put right."""
    there = Found("1.36", (Group("core", ("coreNodes",), "1.36", None, False),), (), {})
    with pytest.raises(CommandError, match="the stack file has no `controlPlane") as refusal:
        standing_of(there, "1.35", [], [], cluster=CLUSTER, is_default=True)
    assert "has no `controlPlane.kubernetesVersion`, which means 1.35: it was upgraded elsewhere" in str(refusal.value)
    assert 'set `controlPlane.kubernetesVersion: "1.36"`' in refusal.value.hint


def test_a_pinned_group_keeps_the_day_or_takes_the_nearest_that_its_image_starts_on():
    """A release of the same day has the same driver; 1.36 has none so old, and its first still starts images of SDK 2.30."""
    pinned = Group("trn1-32xl", ("nodeGroups", "trn1-32xl"), "1.34", "1.34.7-20260505", True)
    assert release_for(pinned, "1.35", settings()) == "1.35.4-20260505"
    assert release_for(pinned, "1.36", settings()) == "1.36.1-20260610"
    late = replace(pinned, pinned="1.34.9-20260714")
    assert release_for(late, "1.35", settings()) == "1.35.6-20260625", "driver 2.29 of 20260714 does not start it"


def test_a_plan_that_another_run_has_overtaken_is_not_carried_out():
    """Its steps would hold groups, and ask for a control plane, at minors that are gone."""
    aws = cloud()
    there = look(aws.api, settings(), WATCHING)
    shown = standing_of(there, "1.35", [], [], cluster=CLUSTER)
    assert moved(shown, shown) == []
    assert moved(shown, replace(shown, control_plane="1.36")) == ["the control plane is of 1.36"]
    rolled = tuple(replace(each, minor="1.36") if each.name == "trn1-32xl" else each for each in shown.groups)
    assert moved(shown, replace(shown, groups=rolled)) == ["trn1-32xl is of 1.36"]
    assert "trn1-32xl is gone" in moved(shown, replace(shown, groups=shown.groups[:1]))
