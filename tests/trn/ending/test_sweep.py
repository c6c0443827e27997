"""`trn sweep`: finds all of a cluster and nothing of its neighbours, deletes in an order that AWS takes, and can be stopped."""

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from facts.names import CLUSTER_TAG
from simulator.aws_endpoint.wire import Refused
from tests.sharing import mostly_long
from tests.support import ROOT
from tests.trn.aws.cloud import ACCOUNT, CREATED_AT, STACK, Cloud, tag_list
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.change.owned import EMPTY, FakePulumi, break_locks, cluster_arn, owner_of, state
from tests.trn.ending.sweeping import CLUSTER, Sweeping
from tests.trn.given import Given
from tests.trn.stops import stop_after
from trn.app import app
from trn.aws.leftovers import KINDS, Found
from trn.aws.owner_tags import NAME_TAGS, reason
from trn.aws.places import look, place_of
from trn.change.ownership import Consent
from trn.change.sweep_plan import (
    DATA_NAMES,
    IN_ITS_VPC,
    INSTANCE_TAG,
    LOOKED_AFTER,
    OF_KEPT,
    PARTS_OF_VPC,
    USED_BY_KEPT,
    Keeping,
    SweepPlan,
    plan_sweep,
)
from trn.cli.errors import CommandError
from trn.ending.sweep.change import NOT_DELETED, STALLED_ROUNDS
from trn.ending.sweep.view import print_plan

LOOK_ALIKES = ("train-2", "my-train", "trai", "Train", "train2", "train-", "xtrain", "train-us-west-2")


def sweep_of(cloud: Cloud, *data: str, **options: Any) -> Sweeping:
    """A sweep of `train`, whose stack is gone."""
    return Sweeping(cloud, frozenset(data), **options)


def full(**options: Any) -> Cloud:
    """An account with all that one cluster leaves, and all of two neighbours."""
    cloud = Cloud(**options)
    for mark, cluster in (("a", CLUSTER), ("b", "train-2"), ("c", "my-train")):
        leave_everything(cloud, cluster, mark)
    return cloud


def leave_failed(cloud: Cloud) -> None:
    """A control plane that EKS could not make: one that is up is never swept."""
    leave_control_plane(cloud, CLUSTER)
    cloud.of("cluster")[CLUSTER]["status"] = "FAILED"


def found_by(cloud: Cloud, cluster: str = CLUSTER) -> list[Found]:
    """What a look finds."""
    return list(look(cloud.api, place_of(cloud.api, cluster)))


# What is found


def test_everything_that_a_cluster_leaves_is_found_with_its_reason_and_its_price():
    """A kind that is not found bills for ever."""
    found = found_by(full())
    assert {item.kind for item in found} == {kind.name for kind in KINDS} - {"EKS cluster", "node group", "access entry"}
    assert all(item.because for item in found)
    usd = {item.id: item.usd_per_day for item in found}
    assert usd["i-a"] == 516.0
    assert usd["nat-a"] == 1.08
    assert usd["vol-a"] == pytest.approx(0.263, abs=1e-3)
    assert usd["vol-old-a"] is None
    assert usd["vpce-a"] == 0.24


def test_what_lies_in_the_clusters_vpc_is_found_without_any_tag():
    """The VPC CNI's interfaces lose their tag in a crash, and hold the VPC."""
    (bare,) = [item for item in found_by(full()) if item.id == "eni-bare-a"]
    assert bare.because == "in vpc-a"


def test_what_goes_by_itself_is_left_to_it():
    """AWS refuses to delete the default group and the main table; attached volumes and interfaces go with their holder."""
    ids = {item.id for item in found_by(full())}
    assert not ids & {"sg-default-a", "rtb-main-a", "vol-used-a"}
    assert not any(which.startswith("eni-of-") for which in ids)


def test_the_control_plane_is_found_with_its_own_access_entries_only():
    """EKS's own entries have no tag of ours and go with the cluster."""
    cloud = full()
    leave_control_plane(cloud, CLUSTER)
    found = {(item.kind, item.id) for item in found_by(cloud)}
    assert {("EKS cluster", "train"), ("node group", "train:core")} < found
    assert [which for kind, which in found if kind == "access entry"] == [f"train:arn:aws:iam::{ACCOUNT}:role/team"]


def test_a_cluster_of_the_same_name_that_is_not_ours_stops_the_look():
    """Its controllers tag their things with the same name."""
    cloud = full()
    cloud.put("cluster", CLUSTER, {"name": CLUSTER, "arn": cluster_arn(CLUSTER), "status": "ACTIVE", "tags": {"made-by": "others"}})
    with pytest.raises(CommandError, match="lacks the tag trn:cluster=train"):
        place_of(cloud.api, CLUSTER)


def test_a_role_of_another_region_with_the_same_tag_is_not_ours():
    """IAM is global: the same stack may stand in two regions."""
    cloud = Cloud()
    cloud.put("role", "train-us-east-1-node", {"tags": {CLUSTER_TAG: CLUSTER}, "attached": [], "inline": []})
    cloud.put("role", "train-us-west-2-node", {"tags": {}, "attached": [], "inline": []})
    assert found_by(cloud) == []


def test_a_key_that_waits_for_its_deletion_is_no_longer_billed():
    """Else every sweep of a month would find it again."""
    cloud = Cloud()
    cloud.put("key", "0000", {"tags": {CLUSTER_TAG: CLUSTER}, "KeyState": "PendingDeletion"})
    assert found_by(cloud) == []


names = st.sampled_from((CLUSTER, *LOOK_ALIKES))
tags = st.dictionaries(
    st.sampled_from([*NAME_TAGS, "Name", "karpenter.sh/discovery", "trn:clusters", "owner", *(f"kubernetes.io/cluster/{name}" for name in (CLUSTER, *LOOK_ALIKES))]),
    st.one_of(names, st.sampled_from(["owned", "shared", ""])),
    max_size=3,
)  # fmt: skip


@given(st.lists(st.tuples(names, tags), min_size=1, max_size=4), st.booleans())
@settings(max_examples=60)
def test_a_sweep_never_selects_what_lacks_the_exact_tag_or_vpc(neighbours: list[tuple[str, dict[str, str]]], blind: bool):
    """Over invented accounts of look-alike names and stray tags, also where AWS's own filters are taken away."""
    cloud = Cloud(ignores_filters=blind)
    for number, (name, its) in enumerate(neighbours):
        mark = f"n{number}"
        leave_everything(cloud, name, mark)
        cloud.put("volume", f"vol-stray-{mark}", _volume(f"vol-stray-{mark}", its))
        cloud.put("interface", f"eni-stray-{mark}", _interface(f"eni-stray-{mark}", its))
        cloud.put("vpc", f"vpc-stray-{mark}", {"VpcId": f"vpc-stray-{mark}", "Tags": tag_list(its)})
    theirs = {f"n{number}": name for number, (name, _) in enumerate(neighbours)}
    own_vpcs = {which for which, entry in cloud.of("vpc").items() if _is_ours(_tags_of(entry))}
    for item in found_by(cloud):
        if "-stray-" in item.id:
            entry = cloud.of({"volume": "volume", "network interface": "interface", "VPC": "vpc"}[item.kind])[item.id]
            assert _is_ours(_tags_of(entry)) or entry.get("VpcId") in own_vpcs, item
        elif item.kind in ("log group", "role", "placement group"):
            assert CLUSTER in item.id.replace("-", "/").split("/"), item
            assert not any(item.id.startswith((f"{name}-us", f"/aws/eks/{name}/")) for name in LOOK_ALIKES), item
        elif item.kind in ("budget", "topic"):
            assert item.id.rpartition(":")[2] in (f"{CLUSTER}-us-west-2-budget", f"{CLUSTER}-idle-guard"), item
        elif item.kind == "schedule group":
            assert item.id == CLUSTER, item
        elif item.kind in ("queue", "event rule"):
            assert item.id.rsplit("/")[-1].removesuffix("-health") == f"{CLUSTER}-karpenter", item
        else:
            mark = next(mark for mark in theirs if mark in item.id or mark.encode().hex() in item.id)
            assert theirs[mark] == CLUSTER, item


def _is_ours(its: dict[str, str]) -> bool:
    """Written out once more, so that the code is not measured by itself."""
    return its.get("kubernetes.io/cluster/train") == "owned" or any(
        its.get(key) == "train"
        for key in (
            "trn:cluster", "aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name", "cluster.k8s.amazonaws.com/name",
            "elbv2.k8s.aws/cluster", "ebs.csi.aws.com/cluster-name",
        )
    )  # fmt: skip


def _tags_of(entry: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in entry.get("Tags") or entry.get("TagSet") or []}


def _volume(which: str, its: dict[str, str]) -> dict[str, Any]:
    return {"VolumeId": which, "Size": 1, "VolumeType": "gp3", "State": "available", "Tags": tag_list(its)}


def _interface(which: str, its: dict[str, str]) -> dict[str, Any]:
    return {"NetworkInterfaceId": which, "VpcId": "vpc-0", "SubnetId": "subnet-0", "Status": "available", "TagSet": tag_list(its)}


@pytest.mark.parametrize("key", [*NAME_TAGS])
def test_each_tag_belongs_by_its_exact_value_alone(key: str):
    """Equal, not alike; and `shared` is not `owned`."""
    assert reason(CLUSTER, {key: CLUSTER}) == f"{key}=train"
    assert not any(reason(CLUSTER, {key: name}) for name in LOOK_ALIKES)
    assert reason(CLUSTER, {"kubernetes.io/cluster/train": "owned"})
    assert not reason(CLUSTER, {"kubernetes.io/cluster/train": "shared", "karpenter.sh/discovery": CLUSTER})
    assert not reason(CLUSTER, {}, "vpc-1", ["vpc-2"])


# What is deleted


OTHERS = [
    *({key: "peer"} for key in NAME_TAGS),
    {"kubernetes.io/cluster/peer": "owned"},
    {"kubernetes.io/cluster/peer": "shared"},
    {"KubernetesCluster": "train"},
    {"kops.k8s.io/instancegroup": "nodes"},
    {"k8s.io/role/node": "1"},
    {"sigs.k8s.io/cluster-api-provider-aws/cluster/train": "owned"},
    {"aws:cloudformation:stack-id": "arn"},
]


@pytest.mark.parametrize("mark", OTHERS, ids=[next(iter(mark)) for mark in OTHERS])
def test_another_owners_tag_wins_over_the_place_and_over_our_own_tags(mark: dict[str, str]):
    """An instance of a neighbour in our VPC is the neighbour's, and a cluster of kOps may bear our name."""
    assert not reason(CLUSTER, mark, "vpc-1", ["vpc-1"])
    for ours in ({"trn:cluster": CLUSTER}, {"kubernetes.io/cluster/train": "owned"}, {"eks:cluster-name": CLUSTER}):
        if not set(ours) & set(mark):
            assert not reason(CLUSTER, {**ours, **mark}, "vpc-1", ["vpc-1"])


@pytest.mark.parametrize("lag", [0, 1, 3])
def test_a_sweep_leaves_nothing_of_its_cluster_and_touches_no_other(lag: int):
    """Also where AWS still shows for a while what is gone."""
    cloud, expected = full(lag=lag), Cloud()
    leave_failed(cloud)
    for mark, cluster in (("b", "train-2"), ("c", "my-train")):
        leave_everything(expected, cluster, mark)
    sweep = sweep_of(cloud, *DATA_NAMES)
    outcome = sweep.run()
    assert outcome.left == []
    entries_of_a_gone_cluster = {*cloud.of("access entry")}
    untouched = {"sg-default-a", "rtb-main-a", "vol-used-a", "0000-a", *entries_of_a_gone_cluster}
    assert cloud.ids() - untouched == expected.ids()
    assert cloud.of("key")["0000-a"]["KeyState"] == "PendingDeletion"


def test_how_far_it_is_is_shown():
    """Twenty minutes without a sign would be stopped by hand."""
    shown = list[tuple[int, int]]()
    sweep = sweep_of(full(), show=lambda gone, seen: shown.append((gone, seen)))
    outcome = sweep.run()
    assert shown[0] == (0, len(outcome.deleted))
    assert shown[-1] == (len(outcome.deleted), len(outcome.deleted))


def test_a_file_system_is_deleted_without_making_a_backup():
    """A sweep that leaves a backup leaves a bill."""
    cloud = full()
    sweep_of(cloud).run()
    (given,) = [parameters for name, parameters in cloud.wire.calls if name == "fsx.DeleteFileSystem"]
    assert given["LustreConfiguration"] == {"SkipFinalBackup": True}


def test_backups_and_snapshots_are_kept_unless_they_are_asked_for():
    """Somebody made them on purpose."""
    cloud = full()
    plan = sweep_of(cloud).plan()
    assert [(item.kind, item.id.partition("-")[0], why) for item, why in plan.kept] == [
        ("snapshot", "snap", "data: --data snapshots deletes it too"), ("snapshot", "snap", "data: --data snapshots deletes it too"),
        ("backup", "backup", "data: --data backups deletes it too"),
    ]  # fmt: skip
    sweep_of(cloud).run()
    assert (len(cloud.of("backup")), len(cloud.of("snapshot"))) == (3, 6)


def test_snapshots_are_found_by_their_tags_and_by_their_volume():
    """The driver's snapshotter tags them as it tags volumes; what is made in the console names its volume only."""
    cloud = full()
    found = {item.id: (item.because, item.usd_per_day) for item in found_by(cloud) if item.kind == "snapshot"}
    assert found == {"snap-csi-a": (f"{CLUSTER_TAG}={CLUSTER}", None), "snap-hand-a": ("of vol-a", None)}
    owners = {str(parameters.get("OwnerIds")) for name, parameters in cloud.wire.calls if name == "ec2.DescribeSnapshots"}
    assert owners == {"['self']"}, "EC2 would list every public snapshot"


def test_one_snapshot_goes_by_its_id_and_the_volume_with_it_in_the_same_sweep():
    """It is still known by its volume when that has gone first."""
    cloud = full()
    cloud.wire.faults["ec2.DeleteSnapshot"] = [Refused("RequestLimitExceeded")]
    sweep = sweep_of(cloud, "snap-hand-a")
    outcome = sweep.run()
    assert outcome.left == []
    assert {"vol-a", "snap-hand-a"} <= {item.id for item in outcome.deleted}
    assert cloud.of("snapshot").keys() == {"snap-csi-a", *(f"snap-{how}-{mark}" for how in ("csi", "hand") for mark in "bc")}


THEIR_SNAPSHOTS = {
    "another cluster's mark": {"Tags": {CLUSTER_TAG: "peer"}},
    "another stack's mark": {"Tags": {CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"}},
    "kOps' mark": {"Tags": {"KubernetesCluster": CLUSTER}},
    "another account": {"OwnerId": "999999999999", "Tags": {}},
    "another volume": {"VolumeId": "vol-peer", "Tags": {}},
    "a volume of another stack's": {"VolumeId": "vol-twin", "Tags": {}},
    "a volume of kOps'": {"VolumeId": "vol-kops", "Tags": {}},
}


@pytest.mark.parametrize("theirs", THEIR_SNAPSHOTS)
@pytest.mark.parametrize("blind", [False, True])
def test_a_snapshot_of_another_owner_is_never_deleted(theirs: str, blind: bool):
    """Although it was made of our volume, or of one with our cluster's name."""
    cloud = Cloud(ignores_filters=blind)
    leave_everything(cloud, CLUSTER)
    for which, tags in (
        ("vol-twin", {CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"}),
        ("vol-kops", {CLUSTER_TAG: CLUSTER, "KubernetesCluster": CLUSTER}),
        ("vol-peer", {CLUSTER_TAG: "peer"}),
    ):
        cloud.put("volume", which, _volume(which, tags))
    entry = {
        "SnapshotId": "snap-x",
        "VolumeId": "vol-a",
        "VolumeSize": 1,
        "State": "completed",
        "OwnerId": ACCOUNT,
        **THEIR_SNAPSHOTS[theirs],
    }
    cloud.put("snapshot", "snap-x", {**entry, "Tags": tag_list(entry["Tags"])})
    sweep = sweep_of(cloud, *DATA_NAMES, "snap-x")
    sweep.run()
    assert set(cloud.of("snapshot")) == {"snap-x"}


@pytest.mark.parametrize("stop_at", range(0, 23, 2))
def test_a_sweep_that_was_stopped_is_ended_by_the_next(stop_at: int):
    """A crash between any two deletions leaves nothing that a second run does not find."""
    cloud = full()
    first = sweep_of(cloud, tell=stop_after(stop_at))
    with pytest.raises(KeyboardInterrupt):
        first.run()
    second = sweep_of(cloud)
    assert second.run().left == []
    assert sweep_of(cloud).plan().deletions == ()


DELETIONS = sorted(
    {
        "ec2.DeleteVpc", "ec2.DeleteSubnet", "ec2.DeleteRouteTable", "ec2.DeleteInternetGateway", "ec2.DeleteNatGateway", "ec2.ReleaseAddress",
        "ec2.DeleteNetworkInterface", "ec2.DeleteSecurityGroup", "ec2.DeleteVolume", "ec2.DeleteLaunchTemplate", "ec2.DeletePlacementGroup",
        "ec2.TerminateInstances", "ec2.DeleteVpcEndpoints", "ec2.RevokeSecurityGroupIngress", "ec2.DetachInternetGateway",
        "ec2.DisassociateRouteTable", "elbv2.DeleteLoadBalancer", "elbv2.DeleteTargetGroup", "elb.DeleteLoadBalancer",
        "fsx.DeleteFileSystem", "logs.DeleteLogGroup", "iam.DetachRolePolicy", "iam.DeleteRolePolicy", "iam.DeleteRole",
        "kms.ScheduleKeyDeletion", "eks.DeleteNodegroup", "eks.DeleteCluster", "sqs.DeleteQueue", "events.RemoveTargets",
        "events.DeleteRule", "amp.DeleteWorkspace", "budgets.DeleteBudget", "sns.DeleteTopic",
    }
)  # fmt: skip
"""Not the access entry's: it goes with its cluster."""


@pytest.mark.parametrize("operation", mostly_long(DELETIONS, of_default=range(0, 99, 4)))
def test_one_denied_deletion_is_reported_and_the_rest_goes_on(operation: str, monkeypatch: pytest.MonkeyPatch):
    """A missing permission must not hide behind a traceback, nor keep the expensive things alive."""
    monkeypatch.setattr("trn.ending.sweep.change.STALLED_ROUNDS", 2)
    cloud = full()
    leave_failed(cloud)
    cloud.wire.denied.add(operation)
    sweep = sweep_of(cloud)
    outcome = sweep.run()
    assert any("AccessDenied" in said for _, said in outcome.left)
    assert len(outcome.deleted) > 8
    asked = Counter(str(parameters) for name, parameters in cloud.wire.calls if name == operation)
    assert max(asked.values()) == 1
    assert asked.total() <= max(3, len(outcome.left))


@pytest.mark.parametrize("fault", ["Throttling", "DependencyViolation", "InvalidVolume.NotFound"])
def test_a_deletion_that_is_refused_for_a_while_is_made_again(fault: str):
    """Throttled, held, or gone since the look: none of these is an end."""
    cloud = full()
    cloud.wire.faults["ec2.DeleteVolume"] = [Refused(fault), Refused(fault)]
    sweep = sweep_of(cloud)
    assert sweep.run().left == []


def test_what_never_goes_ends_the_sweep_and_is_reported():
    """Twenty minutes, then the truth."""
    cloud, pauses = full(lag=10_000, page_size=100), []
    sweep = sweep_of(cloud, pause=pauses.append)
    outcome = sweep.run()
    left = {item.kind: said for item, said in outcome.left}
    assert left["NAT gateway"] == "still held, or still going, when the time was up"
    assert sum(pauses) == 79 * 15
    assert [name for name, _ in cloud.wire.calls].count("ec2.DeleteNatGateway") == len(cloud.of("nat").keys() - {"nat-b", "nat-c"})


def test_a_sweep_that_is_refused_for_good_does_not_wait_for_twenty_minutes():
    """What hangs on the refused thing will not move either."""
    cloud, pauses = full(), []
    cloud.wire.denied.add("ec2.DeleteNetworkInterface")
    sweep = sweep_of(cloud, pause=pauses.append)
    outcome = sweep.run()
    assert {"network interface", "subnet", "VPC"} <= {item.kind for item, _ in outcome.left}
    assert len(pauses) < STALLED_ROUNDS
    said = {item.kind: text for item, text in outcome.left}
    assert said["subnet"].startswith("held by network interface ")
    assert said["VPC"].startswith("held by ")


def test_what_the_state_holds_is_named_where_it_holds_the_rest():
    """It stays, so that another try is of no use."""
    pulumi = FakePulumi(state(CLUSTER, "nat-a", vpc="vpc-earlier", with_cluster=False))
    left = {item.kind: text for item, text in sweep_of(full(), *DATA_NAMES, pulumi=pulumi).run().left}
    assert left["subnet"] == left["VPC"] == "held by NAT gateway nat-a, which stays: in Pulumi's state"


NEIGHBOURS_IN_VPC = {
    "kOps' instance": ("instance", {"SubnetId": "subnet-a", "VpcId": "vpc-a", "InstanceType": "m5.large", "State": {"Name": "running"}}, {"KubernetesCluster": CLUSTER}),
    "another stack's gateway": ("nat", {"NatGatewayId": "x", "SubnetId": "subnet-a", "VpcId": "vpc-a", "State": "available", "NatGatewayAddresses": [{}]}, {CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"}),
    "another account's interface": ("interface", {"SubnetId": "subnet-a", "VpcId": "vpc-a", "Status": "available", "Groups": [], "OwnerId": "999999999999"}, {}),
}  # fmt: skip


@pytest.mark.parametrize("neighbour", NEIGHBOURS_IN_VPC)
def test_what_only_a_neighbour_holds_ends_the_sweep_at_once(neighbour: str):
    """It says whose; another 20 minutes would change nothing."""
    cloud, pauses, said = full(), list[float](), list[str]()
    kind, entry, tags = NEIGHBOURS_IN_VPC[neighbour]
    ids = {"instance": "InstanceId", "nat": "NatGatewayId", "interface": "NetworkInterfaceId"}
    cloud.put(kind, "x-peer", {**entry, ids[kind]: "x-peer", "TagSet" if kind == "interface" else "Tags": tag_list(tags)})
    sweep = sweep_of(cloud, *DATA_NAMES, pause=pauses.append, tell=said.append)
    left = {item.kind: text for item, text in sweep.run().left}
    assert {"subnet", "VPC"} <= left.keys() <= {"subnet", "VPC", "internet gateway"}
    assert "x-peer, which stays: " in left["subnet"]
    assert sum("subnet-a is held by" in line for line in said) == 1
    assert len(pauses) <= 4
    assert "x-peer" in cloud.of(kind)


def test_a_neighbour_that_is_leaving_is_waited_for():
    """An instance that shuts down holds its subnet for a minute more."""
    cloud, pauses = full(), list[float]()
    kind, entry, tags = NEIGHBOURS_IN_VPC["kOps' instance"]
    entry = {**entry, "InstanceId": "x-peer", "State": {"Name": "shutting-down"}, "Tags": tag_list(tags)}
    cloud.put(kind, "x-peer", entry)

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 6:
            cloud.of(kind).pop("x-peer")

    sweep = sweep_of(cloud, *DATA_NAMES, pause=pause)
    assert sweep.run().left == []


# Orphans


def orphans(cloud: Cloud, *held: str) -> SweepPlan:
    """The plan where the state holds these."""
    return plan_sweep(found_by(cloud), Keeping(owner_of(cloud, CLUSTER), frozenset(held)))


def test_orphans_are_what_the_state_does_not_know():
    """A run that was killed leaves a made thing outside the state."""
    cloud = full()
    kept = {"vpc-a", "subnet-a", "lt-a"}
    plan = orphans(cloud, *kept)
    assert {item.id for item, why in plan.kept if why == "in Pulumi's state"} == kept
    assert "nat-a" in {item.id for item in plan.deletions}


def test_what_the_stack_file_gives_as_others_stays_whatever_its_tags_say():
    """A file system or a VPC that the stack made, and that was given away with its tags still on it: data and network stay."""
    cloud = full()
    fleet = next(item.id for item in found_by(cloud) if item.kind == "file system")
    own = owner_of(cloud, CLUSTER)
    assert {fleet, "vpc-a", "subnet-a", "nat-a"} <= {item.id for item in plan_sweep(found_by(cloud), Keeping(own)).deletions}
    owner = replace(own, vpc_ids=frozenset(), used_vpc_ids=frozenset({"vpc-a"}), given_ids=frozenset({"vpc-a", "subnet-a", fleet}))
    plan = plan_sweep(found_by(cloud), Keeping(owner))
    kept = {item.id: why for item, why in plan.kept}
    assert {kept[which] for which in (fleet, "vpc-a", "subnet-a")} == {"the stack file says that others keep it"}
    assert kept["nat-a"] == "part of vpc-a, which others keep"
    assert {item.kind for item in plan.deletions} & PARTS_OF_VPC == set()


def leave_older(cloud: Cloud) -> set[str]:
    """A network that a run of the same stack made, and lost when it was killed, before the cluster was made; its ids."""
    before = cloud.ids()
    ours = tag_list({"trn:cluster": CLUSTER, "trn:stack": STACK})
    cloud.put("vpc", "vpc-old", {"VpcId": "vpc-old", "Tags": ours})
    cloud.put("subnet", "subnet-old", {"SubnetId": "subnet-old", "VpcId": "vpc-old", "AvailabilityZoneId": "usw2-az4", "Tags": ours})
    cloud.put("interface", "eni-old", {**_interface("eni-old", {}), "VpcId": "vpc-old", "SubnetId": "subnet-old", "Groups": []})
    cloud.put("address", "eipalloc-old", {"AllocationId": "eipalloc-old", "Tags": ours})
    template = {"LaunchTemplateId": "lt-old", "LaunchTemplateName": "train-old", "CreateTime": "2025-12-01T00:00:00Z", "Tags": ours}
    cloud.put("template", "lt-old", template)
    return cloud.ids() - before


def test_beside_a_cluster_that_is_kept_only_what_is_older_is_an_orphan():
    """All else may be the cluster's, though it stands in no state: made by hand, by its controllers, by EKS, or since it was made."""
    cloud = full()
    leave_control_plane(cloud, CLUSTER)
    old = leave_older(cloud)
    plan = orphans(cloud, CLUSTER)
    assert {item.id for item in plan.deletions} == old
    reasons = {item.id: why for item, why in plan.kept}
    assert {reasons[which] for which in ("i-a", "nat-a", "eni-bare-a", "vpc-a", "subnet-a")} == {IN_ITS_VPC}
    assert {reasons[which] for which in ("train:core", "/aws/eks/train/cluster", "lt-a", "0000-a")} == {OF_KEPT}
    assert reasons["vol-a"] == LOOKED_AFTER
    assert reasons["eipalloc-a"] == USED_BY_KEPT


def test_a_cluster_whose_vpc_is_not_known_keeps_everything():
    """Nothing is then known to lie outside of it."""
    cloud = full()
    leave_control_plane(cloud, CLUSTER)
    leave_older(cloud)
    cloud.of("cluster")[CLUSTER]["resourcesVpcConfig"] = {}
    assert orphans(cloud, CLUSTER).deletions == ()


@pytest.mark.parametrize("status", ["ACTIVE", "CREATING", "UPDATING", "PENDING"])
def test_a_cluster_that_is_up_is_in_no_plan_whatever_the_state_holds(status: str):
    """Nor is what is with it: a sweep without the state of its backend would else delete it by its tags."""
    cloud = full()
    leave_control_plane(cloud, CLUSTER)
    cloud.of("cluster")[CLUSTER]["status"] = status
    plan = orphans(cloud)
    assert plan.deletions == ()
    assert (f"the cluster is up ({status})") in [why for item, why in plan.kept if item.kind == "EKS cluster"]


def test_what_an_older_launch_template_is_used_for_keeps_it():
    """A node group that was made by hand from it."""
    cloud = full()
    leave_control_plane(cloud, CLUSTER)
    old = leave_older(cloud)
    cloud.of("node group")["core"]["launchTemplate"] = {"id": "lt-old", "version": "1"}
    for held in ((), ("train:core",)):
        assert {item.id for item in orphans(cloud, CLUSTER, *held).deletions} == old - {"lt-old"}


# What goes by its name


LOG_GROUP = "/aws/containerinsights/train/host"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"creationTime": 1_764_547_200_000}, "made 2025-12-01T00:00:00Z, before the cluster"),
        ({"tags": {"team": "research"}}, "tagged team=research, and no tag trn:stack says that this stack made it"),
        ({"tags": {CLUSTER_TAG: "peer"}}, "trn:cluster=peer says that it is another owner's"),
        ({"tags": {CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"}}, "trn:stack=acme/trn/dev: another stack made it"),
        ({"creationTime": 1_767_312_000_000}, ""),
        ({"creationTime": 1_764_547_200_000, "tags": {CLUSTER_TAG: CLUSTER, "trn:stack": STACK}}, ""),
    ],
)
def test_a_log_group_of_another_owner_or_of_an_earlier_cluster_is_kept(more: dict[str, Any], says: str):
    """Its name alone says nothing of it. What the stack made itself carries its mark, and may be older than its cluster."""
    cloud = Cloud()
    cloud.put("log group", LOG_GROUP, {"logGroupName": LOG_GROUP, "storedBytes": 0, **more})
    owner = replace(owner_of(cloud, CLUSTER), since=CREATED_AT)
    plan = plan_sweep(found_by(cloud), Keeping(owner))
    assert ([item.id for item in plan.deletions], [why for _, why in plan.kept]) == (([], [says]) if says else ([LOG_GROUP], []))


QUEUE = f"https://sqs.us-west-2.amazonaws.com/{ACCOUNT}/train-karpenter"


@pytest.mark.parametrize(
    "tags", [{CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"}, {CLUSTER_TAG: CLUSTER, "KubernetesCluster": CLUSTER}, {}]
)
def test_a_queue_of_another_owner_is_kept(tags: dict[str, str]):
    """It has the name that ours would have."""
    cloud = full()
    cloud.of("sqs")[QUEUE]["tags"] = tags
    sweep = sweep_of(cloud, *DATA_NAMES)
    sweep.run()
    assert QUEUE in cloud.ids()


@pytest.mark.parametrize(
    ("tags", "is_ours"),
    [
        ({"kubernetes.io/cluster/train": "owned"}, False),
        ({"kubernetes.io/cluster/train": "owned", "elbv2.k8s.aws/cluster": CLUSTER}, False),
        ({"kubernetes.io/cluster/train": "owned", "eks:eks-cluster-name": CLUSTER}, True),
        ({"aws:eks:cluster-name": CLUSTER}, True),
        ({CLUSTER_TAG: CLUSTER, "trn:stack": STACK}, True),
    ],
)
def test_in_a_vpc_of_others_a_mark_of_eks_or_of_the_stack_tells(tags: dict[str, str], is_ours: bool):
    """A cluster of kubeadm or RKE of the same name marks its instances and balancers by the name, as EKS's controllers do."""
    cloud = Cloud()
    place = {"VpcId": "vpc-shared", "SubnetId": "subnet-shared", "Tags": tag_list(tags)}
    cloud.put("instance", "i-x", {"InstanceId": "i-x", "InstanceType": "m5.large", "State": {"Name": "running"}, **place})
    owner = replace(owner_of(cloud, CLUSTER), used_vpc_ids=frozenset({"vpc-shared"}))
    plan = plan_sweep(found_by(cloud), Keeping(owner))
    assert [item.id for item in plan.deletions] == (["i-x"] if is_ours else [])
    if not is_ours:
        assert "no tag of EKS or trn:stack" in plan.kept[0][1]


ROLE = "train-us-west-2-node"


@pytest.mark.parametrize("use", ["control plane", "node group", "pod identity"])
def test_a_role_that_a_second_cluster_uses_is_kept(use: str):
    """Its policies would be detached under that cluster's nodes. Another region's clusters have roles of their own region's name."""
    cloud, arn = full(), f"arn:aws:iam::{ACCOUNT}:role/teams/{ROLE}"
    cloud.put(
        "cluster", "peer", {"name": "peer", "arn": cluster_arn("peer"), "status": "ACTIVE", "tags": {}, "roleArn": "arn:aws:iam::1:role/x"}
    )
    if use == "control plane":
        cloud.of("cluster")["peer"]["roleArn"] = arn
    elif use == "node group":
        cloud.put("node group", "gpu", {"clusterName": "peer", "nodegroupName": "gpu", "status": "ACTIVE", "tags": {}, "nodeRole": arn})
    else:
        identity = {"clusterName": "peer", "associationId": "a-1", "namespace": "x", "serviceAccount": "y", "roleArn": arn}
        cloud.put("pod identity", "a-1", identity)
    sweep = sweep_of(cloud, *DATA_NAMES)
    assert [why for item, why in sweep.plan().kept if item.id == ROLE] == ["cluster peer uses it"]
    sweep.run()
    assert (ROLE in cloud.ids(), "vpc-a" in cloud.ids(), cloud.of("role")[ROLE]["attached"]) == (
        True,
        False,
        ["arn:aws:iam::aws:policy/X-policy-name"],
    )


def meanwhile(act: Callable[[], Any], agrees: Callable[[str], bool] = lambda question: False) -> Consent:
    """A person, of whom something happens while they are asked."""
    return Consent(name=CLUSTER, identity=STACK, confirm=lambda question: act(), ask=agrees)


def test_a_role_that_a_cluster_takes_after_the_question_is_kept():
    """It is looked at again right before its deletion."""
    for at in ("question", "deletion"):
        cloud = full()
        peer = {
            "name": "peer",
            "arn": cluster_arn("peer"),
            "status": "ACTIVE",
            "tags": {},
            "roleArn": f"arn:aws:iam::{ACCOUNT}:role/{ROLE}",
        }

        def take(cloud: Cloud = cloud, peer: dict[str, Any] = peer) -> None:
            cloud.put("cluster", "peer", peer)

        def tell(line: str, at: str = at, take: Callable[[], None] = take) -> None:
            if at == "deletion" and line.startswith("deleting VPC "):
                take()

        sweep_of(cloud, *DATA_NAMES, consent=meanwhile(take if at == "question" else lambda: None), tell=tell).run()
        assert ROLE in cloud.ids(), at
        assert "vpc-a" not in cloud.ids(), at


# The command


@pytest.fixture
def pulumi(given: Given) -> FakePulumi:
    """A stack that holds an earlier VPC of the cluster, and nothing of what is left over."""
    made = FakePulumi(state(CLUSTER, vpc="vpc-earlier", with_cluster=False))
    given.engine = made
    return made


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given, pulumi: FakePulumi) -> Cloud:
    """A project whose stack is called as the leftovers are, and the account they lie in."""
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "Pulumi.dev.yaml").read_text().replace("trn:name: trainium-dev", f"trn:name: {CLUSTER}")
    (tmp_path / "Pulumi.dev.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    made = full()
    given.api = made.api
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def trn(*arguments: str, answer: str = "") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["sweep", *arguments], input=answer)
    return result.exit_code, result.stdout, result.stderr


def test_without_delete_nothing_is_touched(cloud: Cloud):
    """Dry by default, with the price of each and of all."""
    before = cloud.ids()
    code, out, _ = trn("dev")
    assert code == 0
    assert cloud.ids() == before
    (line,) = [line for line in out.splitlines() if line.startswith("instance ") and not line.startswith("instance profile")]
    assert line.split() == ["instance", "i-a", "trn1.32xlarge", "kubernetes.io/cluster/train=owned", "516.00"] or "eks:eks" in line
    assert "USD a day, and 1 of unknown price" in out


@pytest.mark.parametrize(("status", "is_up"), [("ACTIVE", True), ("DELETING", False)])
def test_a_list_of_what_a_living_cluster_uses_says_that_it_is_up(cloud: Cloud, status: str, is_up: bool):
    """Else somebody deletes by hand what is called left over."""
    leave_control_plane(cloud, CLUSTER)
    cloud.of("cluster")[CLUSTER]["status"] = status
    assert ("the cluster is up (ACTIVE): this is in use" in trn("dev")[1]) is is_up


def test_a_plan_shows_each_id_in_full_where_there_are_few_columns(cloud: Cloud):
    """80 in a pipe: with --yes, the log of a CI job is all that says what was deleted."""
    console = Console(file=io.StringIO(), width=80)
    plan = plan_sweep(found_by(cloud), Keeping())
    print_plan(console, CLUSTER, plan)
    assert isinstance(console.file, io.StringIO)
    assert "\u2026" not in console.file.getvalue()


def test_delete_asks_and_no_means_no(cloud: Cloud):
    """The question is on standard error, after the list."""
    before = cloud.ids()
    code, out, err = trn("--delete", answer="n\n")
    assert code == 1
    assert cloud.ids() == before
    assert f"resources of train in us-west-2, account {ACCOUNT}?" in err
    assert "i-a" not in out


def test_delete_with_yes_deletes_and_says_what_went(cloud: Cloud):
    """For CI."""
    code, out, err = trn("dev", "--delete", "--yes", "--json", "sweep.json")
    assert code == 0
    assert out.strip().endswith("deleted, nothing is left")
    assert "deleting instance i-a" in err
    data = json.loads(Path("sweep.json").read_text())
    assert data["left"] == []
    assert {item["id"] for item in data["deleted"]} == {item["id"] for item in data["found"]}
    assert trn("dev")[1].startswith("nothing of train is left over")


def test_what_stays_makes_the_exit_code_1(cloud: Cloud):
    """A script must see it."""
    cloud.wire.denied.add("logs.DeleteLogGroup")
    code, out, _ = trn("--delete", "--yes")
    assert code == 1
    assert "left log group /aws/eks/train/cluster: AccessDeniedException" in out


@pytest.mark.parametrize("status", ["ACTIVE", "UPDATING", "CREATING", "PENDING", "FAILED"])
def test_a_cluster_that_lives_is_not_swept_whatever_its_status(cloud: Cloud, pulumi: FakePulumi, status: str):
    """A slip would tear down a running cluster without draining it, of a stack that this backend does not have as well. One that is
    being deleted may be helped along, and one that could not be made goes when its stack is gone.
    """
    leave_control_plane(cloud, CLUSTER)
    cloud.of("cluster")[CLUSTER]["status"] = status
    pulumi.export = state(CLUSTER, with_cluster=False)
    before = cloud.ids()
    code, _, err = trn("--delete", "--yes", "--name", CLUSTER)
    assert (code, "this is not the cluster of stack `dev`" in err, cloud.ids() == before) == (1, True, True)
    for gone in (EMPTY, None):
        pulumi.export = gone
        if status == "FAILED":
            code, _, err = trn("--delete", "--yes")
            assert (code, "--yes alone is not enough" in err, cloud.ids() == before) == (1, True, True)
            continue
        code, _, err = trn("--delete", "--yes", "--name", CLUSTER, "--identity", STACK)
        assert (code, "the cluster is up" in err, "does not hold it" in err, cloud.ids() == before) == (1, True, True, True)
    assert trn("--delete", "--yes", "--name", CLUSTER)[0] == (0 if status == "FAILED" else 1)
    assert ("i-a" in cloud.ids()) is (status != "FAILED")


def test_a_cluster_that_the_state_holds_is_kept(cloud: Cloud, pulumi: FakePulumi):
    """With all that belongs to it; what is older, and lies outside of its VPC, is an orphan where it is in no state."""
    leave_control_plane(cloud, CLUSTER)
    pulumi.export = state(CLUSTER)
    before = cloud.ids()
    old = leave_older(cloud)
    assert trn("--delete", "--yes")[0] == 0
    assert (cloud.ids(), bool(old & cloud.ids())) == (before, False)


@pytest.mark.parametrize("text", [None, "{", "[]", "{}", '{"deployment": {"resources": [{"urn": 7}]}}'])
def test_a_state_that_is_none_exits_with_2(cloud: Cloud, text: str | None):
    """Read as empty it would make everything an orphan."""
    if text is not None:
        Path("state.json").write_text(text)
    code, _, err = trn("--delete", "--yes", "--state", "state.json")
    assert (code, "pulumi stack export" in err) == (2, True)


@pytest.mark.parametrize(
    "operation", ["eks.DescribeCluster", "ec2.DescribeVpcs", "fsx.DescribeBackups", "iam.ListRoles", "kms.DescribeKey"]
)
def test_a_look_that_is_denied_ends_before_any_deletion(cloud: Cloud, operation: str):
    """Half a look would call the account clean."""
    cloud.wire.denied.add(operation)
    before = cloud.ids()
    code, _, err = trn("--delete", "--yes")
    assert (code, "AccessDenied" in err, "trn iam --operator" in err) == (1, True, True)
    assert cloud.ids() == before


def half(cloud: Cloud, part: int) -> tuple[set[str], Callable[[], Any]]:
    """Takes half of what a sweep would find out of the account, but its VPC: its ids, and what puts it back."""
    taken = [(found.kind, found.id) for found in sweep_of(cloud, *DATA_NAMES).plan().deletions[1 - part :: 2]]
    others = cloud.world.state.others
    out = [(name, which, kept.pop(which)) for name, kept in others.items() for kind, which in taken if which in kept and kind != "VPC"]
    return {which for _, which, _ in out}, lambda: [cloud.put(*each) for each in out]


@pytest.mark.parametrize("part", [0, 1])
def test_a_sweep_deletes_nothing_that_was_not_confirmed(part: int):
    """Of two halves of what is left, one was confirmed: the other stays, in each round, and is reported."""
    cloud, pauses = full(), list[float]()
    ids, put_back = half(cloud, part)
    confirmed = {item.id for item in sweep_of(cloud, *DATA_NAMES).plan().deletions}
    swept = sweep_of(cloud, *DATA_NAMES, consent=meanwhile(put_back), pause=pauses.append).run()
    follows = {which for which in ids if which.startswith("eni") and "i-a" in confirmed}
    assert {found.id for found in swept.deleted} <= confirmed | follows
    assert ids & cloud.ids() >= ids - follows
    assert any(why == NOT_DELETED for _, why in swept.left)
    assert len(pauses) < 2 * STALLED_ROUNDS


def test_what_appears_meanwhile_goes_once_it_is_agreed_to():
    """It is asked about, and what was agreed to is deleted in the same sweep."""
    cloud, asked = full(), list[str]()
    ids, put_back = half(cloud, 0)
    swept = sweep_of(cloud, *DATA_NAMES, consent=meanwhile(put_back, lambda question: asked.append(question) or True)).run()
    assert (swept.left, len(asked)) == ([], 1)
    assert ids <= {item.id for item in swept.deleted}


def test_what_another_stack_leaves_meanwhile_is_kept():
    """Whose objects are meant was settled by the first look."""
    cloud, others = full(), tag_list({CLUSTER_TAG: CLUSTER, "trn:stack": "acme/trn/dev"})
    consent = Consent(name=CLUSTER, confirm=lambda question: cloud.put("address", "theirs", {"AllocationId": "theirs", "Tags": others}))
    assert sweep_of(cloud, consent=consent).run().left == []
    assert "theirs" in cloud.of("address")


def test_an_interface_of_an_instance_goes_with_it():
    """It is free, and so listed, only once its instance is gone: consent to the one is consent to the other."""
    cloud = full()
    tags = {INSTANCE_TAG: "i-a", "kubernetes.io/cluster/train": "owned"}

    def tell(line: str) -> None:
        if line == "deleting instance i-a":
            cloud.put("interface", "eni-late", {**_interface("eni-late", tags), "VpcId": "vpc-a", "SubnetId": "subnet-a", "Groups": []})
        if line == "deleting VPC vpc-a":
            assert "eni-late" not in cloud.ids()

    assert sweep_of(cloud, tell=tell).run().left == []
    assert "eni-late" not in cloud.ids()


def test_what_the_state_holds_by_a_later_round_is_kept():
    """Another run of Pulumi may have taken it up since: the state is asked before each round, not only before the first."""
    cloud, pauses, pulumi = full(lag=1), list[float](), FakePulumi(EMPTY)
    (vpc,) = [found.id for found in found_by(cloud) if found.kind == "VPC"]

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        pulumi.export = state(CLUSTER, vpc=vpc, with_cluster=False)

    sweep = sweep_of(cloud, *DATA_NAMES, pulumi=pulumi, pause=pause)
    assert vpc in {found.id for found in sweep.plan().deletions}
    sweep.run()
    assert pauses
    assert vpc in cloud.of("vpc")
    assert vpc not in {found.id for found in sweep.deleted}


def test_a_lock_that_is_lost_stops_the_sweep():
    """Another run is at it."""
    cloud, pauses = full(lag=1), list[float]()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        break_locks(cloud.of("template"))

    sweep = sweep_of(cloud, *DATA_NAMES, pause=pause)
    with pytest.raises(CommandError, match="has lost its lock"):
        sweep.run()
    assert (len(pauses), sweep.report["end"]) == (1, "stopped")
    assert sweep.report["left"]


def test_an_instance_profile_of_a_cluster_of_the_same_name_elsewhere_is_kept():
    """IAM keeps those of all regions: Karpenter's tag of the region tells them apart."""
    cloud = full()
    profile = cloud.of("instance profile")[f"{CLUSTER}_a"]
    elsewhere = [tag if tag["Key"] != "topology.kubernetes.io/region" else {**tag, "Value": "us-east-1"} for tag in profile["Tags"]]
    cloud.of("instance profile")[f"{CLUSTER}_b"] = {**profile, "InstanceProfileName": f"{CLUSTER}_b", "Roles": [], "Tags": elsewhere}
    sweep_of(cloud, *DATA_NAMES).run()
    assert f"{CLUSTER}_b" in cloud.of("instance profile")
    assert f"{CLUSTER}_a" not in cloud.of("instance profile")
