"""`trn capacity find`: every way to the instances is there, in order, and a region that refuses hides no other."""

import json
import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from typer.testing import CliRunner

from simulator.aws_endpoint.wire import Refused
from simulator.outputs import ACCOUNT
from tests.support import copy_project
from tests.trn.aws.regions import Regions
from tests.trn.given import Given
from trn.app import app
from trn.aws.zones import Zone
from trn.before.capacity.region import RegionView
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import ways as ways_of
from trn.cli.parallel import side_by_side
from trn.engine.program import settings_of
from trn.engine.stack_edit import Edit, edit_stack
from trn.engine.stack_file import read_stack_file

NOW = datetime.now(UTC).replace(second=0, microsecond=0)
THERE = ("us-west-2", "us-east-2")


def text(moment: datetime) -> str:
    """As EC2 writes a time."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def block(which: str, zone_name: str, days: int, usd: float, *, count: int = 2, hours: int = 72) -> dict[str, Any]:
    """A capacity block on offer that begins in some days."""
    starts = (NOW + timedelta(days=days)).replace(hour=11, minute=30)
    return {
        "CapacityBlockOfferingId": which, "InstanceType": "trn1.32xlarge", "InstanceCount": count, "AvailabilityZone": zone_name,
        "StartDate": text(starts), "EndDate": text(starts + timedelta(hours=hours)), "CapacityBlockDurationHours": hours,
        "UpfrontFee": f"{usd:.2f}", "CurrencyCode": "USD",
    }  # fmt: skip


def reservation(which: str, zone_id: str, idle: int, **changes: Any) -> dict[str, Any]:
    """An on-demand capacity reservation of four instances."""
    return {
        "CapacityReservationId": which, "OwnerId": ACCOUNT, "InstanceType": "trn1.32xlarge", "AvailabilityZoneId": zone_id, "State": "active",
        "TotalInstanceCount": 4, "AvailableInstanceCount": idle, "ReservationType": "default", "InstanceMatchCriteria": "targeted", **changes,
    }  # fmt: skip


@pytest.fixture
def regions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> Regions:
    """The shipped stack, and an account with nothing on offer."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    made = Regions(NOW)
    given.api = made.api
    return made


def find(*arguments: str) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    given = ["capacity", "find", "dev", "--regions", ",".join(THERE), *arguments]
    result = CliRunner().invoke(app, given, catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def ways(*arguments: str) -> list[dict[str, Any]]:
    """What was found, as data."""
    return json.loads(find("--hours", "60", "--json", "-", *arguments)[1])["ways"]


def test_ways_are_ranked_by_start_then_cost(regions: Regions):
    """What is idle and paid for costs nothing more; of two blocks on one day the cheaper one comes first, wherever it is."""
    regions.around("us-west-2").reservations["cr-0123456789abcdef0"] = reservation("cr-0123456789abcdef0", "usw2-az4", 2)
    regions.around("us-west-2").blocks = [block("cb-near", "us-west-24", 2, 3000), block("cb-late", "us-west-24", 4, 1)]
    regions.around("us-east-2").blocks = [block("cb-far", "us-east-23", 2, 2900)]
    regions.around("us-west-2").spot_prices["trn1.32xlarge", "usw2-az1"] = 5.0
    regions.around("us-west-2").spot_scores["trn1.32xlarge", "usw2-az1"] = 3
    told = ways()
    order = [(way["kind"], way["zoneId"], way["usd"]) for way in told]
    assert order[:2] == [("reservation", "usw2-az4", 0.0), ("spot", "usw2-az1", 600.0)]
    assert set(order[2:5]) == {("on-demand", zone, 2580.0) for zone in ("usw2-az1", "usw2-az4", "use2-az3")}
    assert [way["id"] for way in told if way["kind"] == "block"] == ["cb-far", "cb-near", "cb-late"]
    assert [way["promised"] for way in told[:3]] == [True, False, False]
    assert any("score 3 of 10" in note for note in told[1]["notes"])


def test_a_block_is_of_a_size_and_length_that_is_sold(regions: Regions):
    """Three for 60 hours are four for 72: what is more than wanted is said."""
    regions.around("us-west-2").blocks = [block("cb-four", "us-west-24", 2, 3000, count=4), block("cb-three", "us-west-24", 2, 1, count=3)]
    (way,) = (way for way in ways("--instances", "3") if way["kind"] == "block")
    assert (way["id"], way["instances"]) == ("cb-four", 4)
    assert [note.split(":")[0] for note in way["notes"][1:]] == ["blocks have 1, 2, 4, 8, 16, 32, 64 instances", "72 h"]
    assert "a block has at most 64 instances" in find("--instances", "65")[1]
    assert "a block lasts at most 4368 h" in find("--hours", "4369")[1]
    assert "trn1n.32xlarge is not sold in capacity blocks" in find("--type", "trn1n.32xlarge")[1]


def test_each_way_says_what_it_changes_in_the_stack_file(regions: Regions):
    """The exact keys; what is as it has to be is left out, and what another region does not bring along is said."""
    regions.around("us-west-2").reservations["cr-0123456789abcdef0"] = reservation("cr-0123456789abcdef0", "usw2-az1", 2)
    regions.around("us-east-2").blocks = [block("cb-far", "us-east-23", 2, 2900)]
    told = {way["kind"]: way for way in reversed(ways())}
    assert [(edit["key"], edit["value"]) for edit in told["reservation"]["changes"]] == [
        ("nodeGroups.trn1-32xl.capacityReservationId", "cr-0123456789abcdef0"),
        ("nodeGroups.trn1-32xl.zoneIds", ["usw2-az1"]),
    ]
    assert [line.split(":")[0] for line in told["reservation"]["mustFollow"][:1]] == ["nodes that `nodeGroups.trn1-32xl` has now"]
    assert told["reservation"]["mustFollow"][1:] == [
        "FSx for Lustre stays in usw2-az4: reads from usw2-az1 cross zones, which is slower and billed by the GB"
    ]
    far = told["block"]
    times = {edit["key"].rpartition(".")[2]: edit["value"] for edit in far["changes"] if ".capacityBlock." in edit["key"]}
    assert times == {"startsAt": far["startsAt"], "endsAt": far["endsAt"]}
    assert {edit["key"]: edit["value"] for edit in far["changes"] if ".capacityBlock." not in edit["key"]} == {
        "region": "us-east-2",
        "network.zones": ["use2-az3", "use2-az1"],
        "nodeGroups.trn1-32xl.capacityType": "CAPACITY_BLOCK",
        "nodeGroups.trn1-32xl.capacityReservationId": "cr-...",
    }
    assert [line.split(":")[0] for line in far["mustFollow"]] == [
        "the cluster", "FSx for Lustre", "data", "images", "Pulumi", "quotas and rights",
    ]  # fmt: skip


def test_the_report_fits_a_terminal(regions: Regions):
    """80 columns, with the YAML as it is typed."""
    regions.around("us-east-2").blocks = [block("cb-0123456789abcdef0", "us-east-23", 2, 12345.67)]
    regions.around("us-west-2").quotas["L-2C3B7624"] = 0
    regions.wire("us-west-2").denied.add("ec2.GetSpotPlacementScores")
    code, out, _ = find("--hours", "60", "--details", "20")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "     trn:network:\n       zones: [use2-az3, use2-az1]\n     trn:nodeGroups:\n       trn1-32xl:\n" in out
    assert "block cb-0123456789abcdef0      12,345.67" in out


def test_quotas_stand_against_what_draws_on_them(regions: Regions):
    """Blocks and reservations do not; where nothing is left that works the exit code says so."""
    for region in THERE:
        regions.around(region).quotas |= {"L-2C3B7624": 0, "L-6B0D517C": 128}
    code, out, _ = find()
    assert (code, "nothing that works was found" in out) == (1, True)
    assert "usw2-az4, on demand: quota L-2C3B7624 allows 0 vCPU, 0 in use; this needs" in out
    regions.around("us-west-2").blocks = [block("cb-1", "us-west-24", 2, 3000, hours=24)]
    assert find()[0] == 0


def test_the_command_that_buys_looks_from_the_same_day_on(regions: Regions):
    """Otherwise the offer may not be among those that EC2 lists then."""
    regions.around("us-west-2").blocks = [block("cb-1", "us-west-24", 9, 3000)]
    day = f"{NOW + timedelta(days=7):%Y-%m-%d}"
    command = f"trn capacity buy dev cb-1 --instances 2 --hours 72 --from {day}"
    assert command in " ".join(find("--hours", "72", "--from", day)[1].split())


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        ({}, None),
        ({"AvailableInstanceCount": 1}, "1 of its 4 instances are idle"),
        ({"EndDate": text(NOW + timedelta(hours=59))}, "it ends on"),
        ({"EndDate": text(NOW + timedelta(hours=61))}, None),
        ({"State": "scheduled", "StartDate": text(NOW + timedelta(days=3)), "AvailableInstanceCount": 0}, None),
        ({"Tags": [{"Key": "trn:cluster", "Value": "trainium-dev"}]}, None),
        ({"Tags": [{"Key": "trn:cluster", "Value": "other"}]}, "it was bought for cluster `other`"),
        ({"TotalInstanceCount": 1, "State": "scheduled", "StartDate": text(NOW + timedelta(days=3))}, "it has 1 instances"),
    ],
)
def test_a_reservation_works_only_if_it_is_idle_and_long_enough(regions: Regions, changes: dict[str, Any], obstacle: str | None):
    """One that begins later has nothing idle yet."""
    regions.around("us-west-2").reservations["cr-1"] = reservation("cr-1", "usw2-az4", 4, **changes)
    (way,) = (way for way in ways() if way["kind"] == "reservation")
    assert way["obstacle"] is obstacle or way["obstacle"].startswith(obstacle)
    assert (way["startsAt"] > text(NOW + timedelta(days=1))) == (changes.get("State") == "scheduled")


def test_a_reservation_of_another_group_is_no_way_to_instances(regions: Regions):
    """Idle until its group goes up: both would want the same instances."""
    which = "cr-0123456789abcdef0"
    edit_stack("dev", [Edit(("nodeGroups", "second", key), value) for key, value in (
        ("instanceType", "trn1.32xlarge"), ("size", 0), ("releaseVersion", "1.35.4-20260505"), ("capacityReservationId", which),
    )])  # fmt: skip
    regions.around("us-west-2").reservations[which] = reservation(which, "usw2-az4", 4)
    (way,) = (way for way in ways() if way["kind"] == "reservation")
    assert way["obstacle"] == "`nodeGroups.second` has it"
    (way,) = (way for way in ways("--group", "second") if way["kind"] == "reservation")
    assert way["obstacle"] is None


def test_reservations_of_others_and_those_that_are_over(regions: Regions):
    """A shared one is paid for by its owner; a cancelled one is no way."""
    regions.around("us-west-2").reservations = {
        "cr-1": reservation("cr-1", "usw2-az4", 4, OwnerId="999999999999"),
        "cr-2": reservation("cr-2", "usw2-az4", 4, State="cancelled"),
        "cr-3": reservation("cr-3", "usw2-az4", 4, EndDate=text(NOW - timedelta(hours=1))),
        "cr-4": reservation("cr-4", "usw2-az4", 4, InstanceType="trn1.2xlarge"),
    }
    (way,) = (way for way in ways() if way["kind"] == "reservation")
    assert (way["id"], way["notes"][1]) == ("cr-1", "shared by account 999999999999, which pays for it")


@pytest.mark.parametrize(
    ("operation", "what", "why"),
    [
        ("DescribeAvailabilityZones", "zones", "AccessDeniedException"),
        ("DescribeCapacityBlockOfferings", "capacity blocks", "AccessDeniedException"),
        ("DescribeCapacityReservations", "reservations", "AccessDeniedException"),
        ("GetSpotPlacementScores", "spot scores", "AccessDeniedException"),
        ("DescribeInstances", "quotas", "AccessDeniedException"),
    ],
)
def test_a_region_that_refuses_says_so_and_the_others_are_shown(regions: Regions, operation: str, what: str, why: str):
    """A service control policy often names regions."""
    regions.wire("us-east-2").denied.add(f"ec2.{operation}")
    regions.around("us-west-2").blocks = [block("cb-near", "us-west-24", 2, 3000)]
    code, out, _ = find("--hours", "60")
    assert (code, f"us-east-2, {what}: {why}" in " ".join(out.split()), "cb-near" in out) == (0, True, True)
    assert "us-west-2, " not in out.partition("not known")[2]


def test_a_region_without_blocks_a_throttled_and_a_silent_one(regions: Regions):
    """Each in its own words; AWS's code comes first."""
    regions.around("us-east-2").is_without_blocks = True
    assert "us-east-2, capacity blocks: Unsupported: not known in this region" in find()[1]
    regions.wire("us-east-2").faults["ec2.DescribeCapacityBlockOfferings"] = [Refused("RequestLimitExceeded", "slow down", 503)] * 20
    regions.wire("us-west-2").faults["ec2.DescribeAvailabilityZones"] = [ReadTimeoutError(endpoint_url="https://ec2")] * 20
    code, out, _ = find()
    assert (code, "us-east-2, capacity blocks: RequestLimitExceeded" in out, "us-west-2, zones: Read timeout" in out) == (0, True, True)


def test_regions_are_asked_at_once_and_none_holds_up_the_others():
    """Each waits for the other to begin; one that never answers is left alone after its time."""
    both, never = threading.Barrier(2), threading.Event()
    answers = side_by_side({"a": lambda: both.wait(5), "b": lambda: both.wait(5), "c": lambda: never.wait(30)}, 0.3)
    assert sorted(str(answers[name]) for name in "ab") == ["0", "1"]
    assert isinstance(answers["c"], TimeoutError)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["--group", "nosuch"], "has no Neuron group `nosuch`"),
        (["--type", "p5.48xlarge"], "no Neuron instance type `p5.48xlarge`"),
        (["--group", "trn1-32xl", "--type", "trn2.48xlarge"], "group `trn1-32xl` is of trn1.32xlarge"),
        (["--from", "2020-01-01"], "is over"),
        (["--from", "tomorrow"], "`tomorrow` is no day"),
        (["--regions", "us-wset-2"], "did you mean us-west-2"),
    ],
)
def test_misuse_is_refused_before_anything_is_asked(regions: Regions, arguments: list[str], wrong: str):
    """With what is allowed."""
    code, _, err = find(*arguments)
    assert (code, wrong in err) == (2, True)
    assert not list(regions.calls())


def test_the_best_of_each_kind_is_explained_first(regions: Regions):
    """Fifteen zones of spot would push the block of tomorrow out of sight."""
    regions.around("us-east-2").blocks = [block("cb-0123456789abcdef0", "us-east-23", 2, 12345.67)]
    regions.around("us-west-2").reservations["cr-0123456789abcdef0"] = reservation("cr-0123456789abcdef0", "usw2-az4", 2)
    _, out, _ = find("--hours", "60")
    explained = re.findall(r"^\d+  (\S+).* in us[ew]\d-az\d, us-\w+-2$", out, re.MULTILINE)
    assert explained == ["cr-0123456789abcdef0", "on", "spot", "block"]
    assert find("--details", "0")[1].count("in Pulumi.dev.yaml") == 0


def test_the_best_of_each_kind_is_in_the_table(regions: Regions):
    """A block begins tomorrow at the earliest: zones in which a launch may be tried now would fill the table without it."""
    regions.around("us-east-2").blocks = [block("cb-0123456789abcdef0", "us-east-23", 2, 12345.67), block("cb-2", "us-east-23", 3, 99999)]
    total = len([way for way in ways() if way["obstacle"] is None])
    _, out, _ = find("--hours", "60", "--rows", "1")
    rows = re.findall(r"^ *(\d+)  \S+.*  (on demand|spot|block cb-\S+) +(?:[\d,.]+|unknown)$", out, re.MULTILINE)
    assert ("block cb-0123456789abcdef0" in [name for _, name in rows], "block cb-2" in [name for _, name in rows]) == (True, False)
    assert f"and {total - len(rows)} more: --rows {total}" in out


def test_the_command_that_buys_is_on_one_line(regions: Regions):
    """It is there to be copied."""
    regions.around("us-west-2").blocks = [block("cb-0123456789abcdef0", "us-west-24", 2, 3000)]
    assert "\n     trn capacity buy dev cb-0123456789abcdef0 --instances 2 --hours 60\n" in find("--hours", "60")[1]
    assert "--group trn1n-32xl --instances" not in find("--hours", "60")[1]


def test_nodes_that_would_be_replaced_are_said(regions: Regions):
    """Of a group that runs, a block takes the place of its nodes, and has none before it begins."""
    regions.around("us-west-2").blocks = [block("cb-0123456789abcdef0", "us-west-24", 2, 3000)]
    told = {way["kind"]: way for way in reversed(ways()) if way["zoneId"] == "usw2-az4"}
    said = "nodes that `nodeGroups.trn1-32xl` has now: the next `pulumi up` replaces them"
    assert said in told["block"]["mustFollow"][0]
    # Where the group is already, on demand as it is, nothing is replaced.
    assert told["on-demand"]["mustFollow"] == []


def test_of_two_that_cost_the_same_what_is_promised_comes_first(regions: Regions):
    """A reservation is kept for the account; a launch may find nothing."""
    regions.around("us-west-2").reservations["cr-0123456789abcdef0"] = reservation("cr-0123456789abcdef0", "usw2-az4", 2)
    regions.around("us-west-2").spot_prices["trn1.32xlarge", "usw2-az1"] = 0.0
    regions.around("us-west-2").spot_scores["trn1.32xlarge", "usw2-az1"] = 10
    assert [way["kind"] for way in ways()[:2]] == ["reservation", "spot"]


def test_a_zone_that_the_account_may_not_use_is_not_a_way(regions: Regions):
    """A local zone takes an opt-in first."""
    view = RegionView(
        "us-west-2",
        zones={"usw2-az4": Zone("usw2-az4", "us-west-2d", "unavailable", "opt-in-not-required")},
        offered=frozenset({"usw2-az4"}),
    )
    wanted = Wanted("trn1-32xl", "trn1.32xlarge", 2, 24, datetime(2026, 12, 1, tzinfo=UTC))
    assert [way.obstacle for way in ways_of(view, wanted, "123456789012", settings_of(read_stack_file("dev")))] == [
        "usw2-az4 is unavailable, opt-in-not-required"
    ]
