"""`trn check`: passes where the stack would come up, and says of each thing that is wrong what to do about it."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from facts.external.assumed import assumed_network
from facts.external.description import assumed
from facts.names import CLUSTER_TAG, cluster_tags
from facts.neuron_releases import AMI_RELEASES, first_ami_date
from simulator.account.external import put_network
from simulator.account.putting import put_existing
from simulator.aws_endpoint.wire import Refused
from stacks.external import asked_of, asked_of_network
from tests.stacks import external_networks
from tests.stacks.external_networks import network
from tests.stacks.samples import BOUNDARY
from tests.support import ROOT, dev_configuration, merged
from tests.trn.aws.cloud import ACCOUNT, STACK, tag_list
from tests.trn.aws.healthy import HealthyAccount, block
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.change.owned import state
from tests.trn.given import Given
from trn.app import app
from trn.before.check import account, tools
from trn.before.check.run import CHECKS, findings_of
from trn.before.check.subject import Subject
from trn.change.clients import Live
from trn.cli.findings import Finding, exit_code
from trn.engine.assumed_account import put_missing
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile

TODAY = date(2026, 11, 21)
TOOLS = {
    "pulumi version": "v3.272.0",
    "aws --version": "aws-cli/2.15.30 Python/3.11 Linux/6.1",
    "kubectl version --client --output=json": '{"clientVersion": {"gitVersion": "v1.35.2"}}',
    "pulumi stack export --stack dev": '{"deployment": {"resources": []}}',
}


@cache
def _recorded(text: str) -> Any:
    return record_stack(_stack_file(json.loads(text)))


def _stack_file(configuration: dict[str, Any]) -> StackFile:
    return StackFile(ROOT, "trn", "dev", {f"trn:{key}": value for key, value in configuration.items()})


def subject_of(aws: HealthyAccount, **changes: Any) -> Subject:
    """The shipped stack with a real allow-list, on this account."""
    configuration = merged(dev_configuration(), controlPlane={"publicAccessCidrs": ["198.18.0.7/32"]})
    configuration = merged(configuration, **changes)
    stack_file = _stack_file(configuration)
    return Subject(
        stack_file=stack_file,
        settings=settings_of(stack_file),
        recording=_recorded(json.dumps(configuration)),
        api=aws.api,
        today=TODAY,
        own_address=lambda: "198.18.0.7",
        tool_answer=lambda parts: TOOLS[" ".join(parts)],
    )


def check(name: str, subject: Subject) -> list[Finding]:
    """One check's findings."""
    return list(findings_of(subject, [name]))


def worst(found: Sequence[Finding]) -> Finding:
    """The gravest."""
    return max(found, key=lambda finding: ("pass", "warn", "fail").index(finding.verdict))


def test_a_healthy_account_passes_every_check():
    """Else the checks would be switched off. The largest sizes of the shipped stack need more quota than most have."""
    aws = HealthyAccount()
    found = [*account.credentials(subject_of(aws)), *findings_of(subject_of(aws), list(CHECKS))]
    assert {finding.verdict for finding in found if finding.check != "quota"} == {"pass"}
    assert [finding.what.split(":")[0] for finding in found if finding.verdict == "warn"] == ["quota L-2C3B7624"]
    assert exit_code(found) == 0


def _deny(name: str):
    return lambda aws: aws.wire.denied.add(name)


def _set(attribute: str, **values: Any):
    return lambda aws: getattr(aws.around, attribute).update(values)


def _add_running(count: int, kind: str = "m5.xlarge", **entry: Any):
    def spoil(aws: HealthyAccount) -> None:
        for number in range(count):
            instance = {"InstanceId": f"i-{number}", "InstanceType": kind, "State": {"Name": "running"}, **entry}
            aws.put("instance", f"i-{number}", instance)

    return spoil


def _add_groups(aws: HealthyAccount, cluster: str, *names: str) -> None:
    aws.put("cluster", cluster, {"name": cluster, "status": "ACTIVE"})
    for name in names:
        aws.put("node group", name, {"clusterName": cluster, "nodegroupName": name, "status": "ACTIVE"})


def _add_vpcs(count: int, tags: dict[str, str] | None = None):
    def spoil(aws: HealthyAccount) -> None:
        for number in range(count):
            aws.put("vpc", f"vpc-{number}", {"VpcId": f"vpc-{number}", "Tags": tag_list(tags or {})})

    return spoil


def _use_up_the_zone(aws: HealthyAccount) -> None:
    aws.put("subnet", "subnet-1", {"SubnetId": "subnet-1", "AvailabilityZoneId": "usw2-az4"})
    for number in range(5):
        nat = {"NatGatewayId": f"nat-{number}", "SubnetId": "subnet-1", "State": "available"}
        aws.put("nat", f"nat-{number}", nat)


@pytest.mark.parametrize(
    ("name", "spoil", "verdict", "says", "do"),
    [
        ("permissions", _set("denied_actions") , "pass", "IAM allows all", ""),
        ("permissions", lambda aws: aws.around.denied_actions.update({"eks:CreateCluster", "iam:PassRole"}), "fail", "denies 2 of", "trn iam dev --deployer"),
        ("permissions", lambda aws: setattr(aws.around, "caller", f"arn:aws:iam::{ACCOUNT}:user/anna"), "pass", "IAM allows all", ""),
        ("permissions", _deny("iam.SimulatePrincipalPolicy"), "fail", "could not check", "trn iam"),
        ("dry runs", _set("refused_dry_runs", CreateVpc="UnauthorizedOperation"), "fail", "ec2:CreateVpc", "organisation"),
        ("dry runs", _set("refused_dry_runs", CreateVpc="VpcLimitExceeded"), "fail", "could not check: VpcLimitExceeded", "run it again"),
        ("zones", lambda aws: aws.around.zones.pop("usw2-az1"), "fail", "usw2-az1 is no zone of us-west-2", "usw2-az4"),
        ("zones", _set("zones", **{"usw2-az1": ("available", "not-opted-in")}), "fail", "not-opted-in", "opt in"),
        ("zones", _set("zones", **{"usw2-az1": ("impaired", "opted-in")}), "fail", "impaired", "another zone"),
        ("offerings", _set("offered", **{"trn1.32xlarge": ["usw2-az1"]}), "fail", "not offered in usw2-az4, but in usw2-az1", "33 minutes"),
        ("offerings", _set("offered", **{"trn1n.32xlarge": []}), "fail", "but in nowhere in us-west-2", "nodeGroups.trn1n-32xl"),
        ("vCPU quotas", _set("quotas", **{"L-2C3B7624": 255}), "fail", "needs 256 vCPU (2 x trn1.32xlarge", "ask for 256 at https://us-west-2.console"),
        ("vCPU quotas", _set("quotas", **{"L-2C3B7624": 512}), "pass", "allows 512", ""),
        ("vCPU quotas", _set("quotas", **{"L-1216C47A": 23}), "warn", "an update needs 16 more", "ask for 24"),
        ("vCPU quotas", _set("quotas", **{"L-1216C47A": 24}), "warn", "all groups at their largest need 32", "ask for 32"),
        ("vCPU quotas", _add_running(1, "trn1.32xlarge"), "fail", "128 in use by others", "ask for 384"),
        ("vCPU quotas", _add_running(1, "trn1.32xlarge", Tags=tag_list({"trn:cluster": "trainium-dev"})), "warn", "0 in use by others", ""),
        ("vCPU quotas", _add_running(1, "trn1.32xlarge", InstanceLifecycle="capacity-block"), "warn", "0 in use by others", ""),
        ("vCPU quotas", _add_running(1, "p5.48xlarge"), "warn", "0 in use by others", ""),
        ("vCPU quotas", _deny("service-quotas.GetServiceQuota"), "fail", "could not check", "trn iam"),
        ("network quotas", _add_vpcs(5), "fail", "needs 1 VPC, 5 in use by others", "ask for 6"),
        ("network quotas", _add_vpcs(5, {"trn:cluster": "trainium-dev"}), "pass", "0 in use by others", ""),
        ("network quotas", _use_up_the_zone, "fail", "NAT gateway in a zone, 5 in use", "L-FE5A380F"),
        ("network quotas", _set("quotas", **{"L-0263D0A3": 0}), "fail", "needs 1 address", "quotas/L-0263D0A3"),
        ("network quotas", _set("quotas", **{"L-A4707A72": 0}), "fail", "internet gateway", "quotas/L-A4707A72"),
        ("cluster quota", _set("quotas", **{"L-1194D53C": 1}), "fail", "1 in use by others", "services/eks"),
        ("cluster quota", lambda aws: aws.put("cluster", "trainium-dev", {"name": "trainium-dev", "status": "ACTIVE"}), "pass", "1 in use by others", ""),
        ("node group quota", _set("quotas", **{"L-6D54EA21": 2}), "fail", "needs 3 node group, 0 in use by others", "services/eks/quotas/L-6D54EA21"),
        ("node group quota", lambda aws: _add_groups(aws, "trainium-dev", "core", "by-hand"), "pass", "1 in use by others", ""),
        ("storage quota", _set("quotas", **{"L-8F1B9C74": 1199}), "fail", "needs 1200 GiB", "services/fsx"),
        ("AMI releases", lambda aws: aws.around.images.clear(), "fail", f"neuron release {AMI_RELEASES['1.35']} is not in us-west-2", "describe-images"),
        ("AMI releases", lambda aws: aws.around.recommended.pop("standard"), "fail", "publishes no standard AMI", "another minor"),
        ("Kubernetes", lambda aws: setattr(aws.around, "standard_support_ends", ""), "fail", "does not offer 1.35", "kubernetesVersion"),
        ("Kubernetes", lambda aws: setattr(aws.around, "standard_support_ends", "2027-01-10T00:00:00Z"), "warn", "until 2027-01-10", "newer minor"),
        ("Kubernetes", lambda aws: setattr(aws.around, "standard_support_ends", "2026-11-20T00:00:00Z"), "warn", "six times", "newer minor"),
        ("add-ons", _set("addons", coredns="v1.14.0-eksbuild.1"), "fail", "coredns has no v1.13.2-eksbuild.31", "v1.14.0-eksbuild.1, v0.1.0"),
        ("add-ons", lambda aws: aws.around.addons.pop("coredns"), "fail", "coredns has no", "none"),
        ("leftovers", lambda aws: leave_everything(aws, "trainium-dev"), "fail", "in the way: launch template, log group", "trn sweep dev"),
        ("leftovers", lambda aws: leave_everything(aws, "trainium-dev-2"), "pass", "nothing of an earlier", ""),
        ("leftovers", _add_vpcs(1, {"trn:cluster": "trainium-dev"}), "warn", "VPC vpc-0 of an earlier", "trn sweep dev"),
        ("leftovers", lambda aws: aws.put("cluster", "trainium-dev", {"name": "trainium-dev", "status": "ACTIVE", "tags": {}}), "fail", "lacks the tag", "trn:name"),
        ("leftovers", _deny("ec2.DescribeVolumes"), "fail", "could not check", "trn iam"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_account_is_reported_with_its_fix(name: str, spoil: Any, verdict: str, says: str, do: str):
    """One thing spoilt, one finding that names it."""
    aws = HealthyAccount()
    spoil(aws)
    found = check(name, subject_of(aws))
    gravest = worst(found)
    assert gravest.verdict == verdict
    assert any(says in finding.what for finding in found if finding.verdict == verdict)
    assert any(do in finding.do for finding in found if finding.verdict == verdict)
    assert gravest.do or gravest.verdict == "pass"


def test_what_the_stack_itself_has_is_no_leftover():
    """A check beside a running cluster must not call it rubbish."""
    aws = HealthyAccount()
    leave_control_plane(aws, "trainium-dev")
    held = ("trainium-dev", "trainium-dev:core", f"trainium-dev:arn:aws:iam::{ACCOUNT}:role/team")
    state = {"deployment": {"resources": [{"urn": which, "id": which} for which in held]}}
    subject = replace(subject_of(aws), tool_answer=lambda parts: json.dumps(state))
    assert worst(check("leftovers", subject)).verdict == "pass"

    def no_stack(parts: Sequence[str]) -> str:
        raise OSError("no stack named 'dev' found")

    assert worst(check("leftovers", replace(subject, tool_answer=no_stack))).verdict == "fail"


RESERVATION = {
    "CapacityReservationId": "cr-0123456789abcdef0", "InstanceType": "trn1.32xlarge", "AvailabilityZoneId": "usw2-az4", "State": "active",
    "TotalInstanceCount": 2, "AvailableInstanceCount": 2, "ReservationType": "capacity-block", "StartDate": "2026-11-20T00:00:00Z",
    "EndDate": "2026-11-30T00:00:00Z",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "verdict", "says"),
    [
        ({}, "pass", "2 of 2 trn1.32xlarge free in usw2-az4 until 2026-11-30"),
        ({"ReservationType": "default"}, "fail", "no capacity block, the group's `capacityType` is CAPACITY_BLOCK"),
        ({"InstanceType": "trn1.2xlarge"}, "fail", "holds trn1.2xlarge"),
        ({"AvailabilityZoneId": "usw2-az1"}, "fail", "is in usw2-az1, the group in usw2-az4"),
        ({"TotalInstanceCount": 1, "AvailableInstanceCount": 1}, "fail", "holds 1 instances, the group wants 2"),
        ({"State": "expired"}, "fail", "it is expired"),
        ({"EndDate": "2026-11-20T00:00:00Z"}, "fail", "ended on 2026-11-20"),
        ({"State": "scheduled", "StartDate": "2026-12-01T11:30:00Z"}, "warn", "scheduled until 2026-12-01 11:30 UTC"),
        ({"AvailableInstanceCount": 0}, "warn", "0 of 2"),
        ({"EndDate": "2026-11-22T11:30:00Z"}, "warn", "until 2026-11-22 11:30"),
        (None, "fail", "is not in us-west-2 of this account"),
    ],
)
def test_a_reservation_is_there_right_large_enough_and_in_its_time(change: dict[str, Any] | None, verdict: str, says: str):
    """A block that was paid for and is in another zone is the dearest slip there is."""
    aws = HealthyAccount()
    if change is not None:
        aws.around.reservations[RESERVATION["CapacityReservationId"]] = {**RESERVATION, **change}
    group = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": "cr-0123456789abcdef0"}
    finding, *offers = check("reservations", subject_of(aws, nodeGroups={"trn1-32xl": group}))
    assert (finding.verdict, says in finding.what) == (verdict, True)
    assert bool(offers) == (verdict == "fail" or change == {"EndDate": "2026-11-22T11:30:00Z"})
    assert bool(finding.do) == (verdict != "pass")


BLOCK_TIMES = {"startsAt": "2026-11-20T11:30:00Z", "endsAt": "2026-12-05T11:30:00Z"}
BLOCK_DATES = {"StartDate": "2026-11-20T11:30:00Z", "EndDate": "2026-12-05T11:30:00Z"}


@pytest.mark.parametrize(
    ("change", "verdict", "says", "do"),
    [
        ({"AvailableInstanceCount": 1}, "warn", "1 of 2", "right if the missing ones"),
        ({}, "warn", "and none of them is used", "`trn scale trn1-32xl 2` after `pulumi up`"),
        ({"State": "scheduled"}, "pass", "`nodeGroups.trn1-32xl` goes up at 2026-11-20 11:30 UTC", ""),
        (
            {"EndDate": "2026-12-12T11:30:00Z"},
            "fail",
            "from 2026-11-20T11:30:00Z to 2026-12-12T11:30:00Z, which",
            "fix `nodeGroups.trn1-32xl`",
        ),
        ({"StartDate": "2026-11-21T11:30:00Z"}, "fail", "from 2026-11-21T11:30:00Z to", "fix `nodeGroups.trn1-32xl`"),
    ],
)
def test_a_blocks_times_are_those_of_the_stack_file(change: dict[str, Any], verdict: str, says: str, do: str):
    """After an extension the group would otherwise be emptied at the old end."""
    aws = HealthyAccount()
    aws.around.reservations[RESERVATION["CapacityReservationId"]] = {**RESERVATION, **BLOCK_DATES, **change}
    finding, *_ = check("reservations", subject_of(aws, nodeGroups={"trn1-32xl": {**BLOCK_GROUP, "capacityBlock": BLOCK_TIMES}}))
    assert finding.verdict == verdict
    assert says in finding.what
    assert do in finding.do


BLOCK_GROUP = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": "cr-0123456789abcdef0"}


def test_blocks_on_offer_are_listed_with_their_price_and_what_buys_them():
    """Where the group's own is missing: the earliest first, three at most, in the group's zone, of its size and the length asked for."""
    aws = HealthyAccount()
    aws.around.blocks = [
        block("cb-later", "us-west-24", "2026-11-28", "1032.00"),
        block("cb-elsewhere", "us-west-21", "2026-11-22", "900.00"),
        block("cb-first", "us-west-24", "2026-11-23", "1099.20"),
        block("cb-expensive", "us-west-24", "2026-11-23", "2000.00"),
        block("cb-fourth", "us-west-24", "2026-11-29", "1000.00"),
        block("cb-long", "us-west-24", "2026-11-23", "1.00", CapacityBlockDurationHours=48),
        block("cb-other", "us-west-24", "2026-11-23", "1.00", InstanceType="trn2.48xlarge"),
        block("cb-small", "us-west-24", "2026-11-23", "1.00", InstanceCount=1),
        block("cb-past", "us-west-24", "2026-11-20", "1.00"),
    ]
    subject = subject_of(aws, nodeGroups={"trn1-32xl": BLOCK_GROUP})
    missing, *offers = check("reservations", subject)
    assert (missing.verdict, {offer.verdict for offer in offers}) == ("fail", {"warn"})
    assert [offer.do.split("--capacity-block-offering-id ")[1].split()[0] for offer in offers] == ["cb-first", "cb-expensive", "cb-later"]
    when, price = "from 2026-11-23 11:30 to 2026-11-24 11:30 UTC", "1099.20 USD, 22.90 an instance and hour"
    assert offers[0].what == f"2 x trn1.32xlarge in usw2-az4 {when} for {price}"
    assert offers[0].do.startswith("`aws ec2 purchase-capacity-block --region us-west-2 --capacity-block-offering-id cb-first")
    assert offers[0].do.endswith("then its id into `nodeGroups.trn1-32xl.capacityReservationId`")
    _, longer = check("reservations", replace(subject, block_hours=48))
    assert "cb-long" in longer.do


def test_where_no_block_is_on_offer_that_is_said_with_the_zones_that_have_one():
    """The type may be sold next door."""
    aws = HealthyAccount()
    subject = subject_of(aws, nodeGroups={"trn1-32xl": BLOCK_GROUP})
    _, none = check("reservations", subject)
    assert none.what == "2 x trn1.32xlarge for 24 h: nowhere in us-west-2 before 2027-01-16"
    aws.around.blocks = [block("cb-elsewhere", "us-west-21", "2026-11-22", "900.00")]
    _, none = check("reservations", subject)
    assert "only in usw2-az1" in none.what
    aws.around.reservations[RESERVATION["CapacityReservationId"]] = {**RESERVATION, "EndDate": "2026-11-22T11:30:00Z"}
    aws.wire.denied.add("ec2.DescribeCapacityBlockOfferings")
    assert [finding.verdict for finding in check("reservations", subject)] == ["warn", "fail"]
    plain = {"capacityReservationId": "cr-0123456789abcdef0"}
    assert len(check("reservations", subject_of(aws, nodeGroups={"trn1-32xl": plain}))) == 1


@pytest.mark.parametrize(
    ("hours", "sold"), [(24, True), (336, True), (504, True), (4368, True), (0, False), (25, False), (360, False), (4536, False)]
)
def test_blocks_are_sold_by_whole_days_and_weeks(aws: HealthyAccount, hours: int, sold: bool):
    """EC2 would answer with a code that says less."""
    code, _, err = trn("dev", "--block-hours", str(hours))
    assert (code, "`--block-hours`" in err) == ((0, False) if sold else (2, True))


def test_capacity_blocks_draw_on_no_quota_and_spot_on_its_own():
    """EC2 counts them apart."""
    aws = HealthyAccount()
    from_block = check("vCPU quotas", subject_of(aws, nodeGroups={"trn1-32xl": BLOCK_GROUP}))
    assert any("L-2C3B7624" in finding.what and "needs 0 vCPU (0 x trn1n.32xlarge)" in finding.what for finding in from_block)
    spot = check("vCPU quotas", subject_of(aws, nodeGroups={"trn1-32xl": {"capacityType": "SPOT"}}))
    assert any("L-6B0D517C" in finding.what and "needs 256" in finding.what for finding in spot)


def karpenter(**pool: Any) -> dict[str, Any]:
    """Karpenter with one Neuron pool and the general one."""
    pools = {"big": {"instanceType": "trn1.32xlarge", "maxNodes": 3, "zoneId": "usw2-az4", **pool}}
    section = {"enabled": True, "neuronPools": pools, "generalPool": {"enabled": True, "maxVcpu": 64, "spot": True}}
    return {"addons": {"karpenter": section, "clusterAutoscaler": {"enabled": False}}}


def test_karpenters_pools_draw_on_the_same_quotas():
    """What it may buy stands in no node group. A static pool is full from the start."""
    aws = HealthyAccount()
    aws.around.quotas["L-34B43A08"] = 8
    found = {finding.what.split(" in ")[0]: finding for finding in check("vCPU quotas", subject_of(aws, **karpenter()))}
    assert [finding.verdict for finding in found.values()] == ["warn"] * 3
    assert any("all groups at their largest need 896" in finding.what for finding in found.values())
    assert any("largest need 96" in finding.what for finding in found.values())
    assert any("L-34B43A08" in finding.what and "largest need 64" in finding.what for finding in found.values())
    static = check("vCPU quotas", subject_of(aws, **karpenter(static=True)))
    assert any("needs 640 vCPU (2 x trn1.32xlarge, 0 x trn1n.32xlarge, 3 x trn1.32xlarge)" in finding.what for finding in static)


def test_karpenters_pools_are_held_against_what_is_offered_and_reserved():
    """A pool without capacity fails without a word: its pods wait."""
    aws = HealthyAccount()
    (wrong,) = [
        finding
        for finding in check("offerings", subject_of(aws, **karpenter(zoneId="usw2-az1", instanceType="trn1n.32xlarge")))
        if finding.verdict == "fail"
    ]
    assert "`addons.karpenter.neuronPools.big`" in wrong.do
    aws.around.reservations[RESERVATION["CapacityReservationId"]] = RESERVATION
    block = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": RESERVATION["CapacityReservationId"]}
    (fits,) = check("reservations", subject_of(aws, **karpenter(**block)))
    assert fits.verdict == "pass"
    aws.around.reservations.clear()
    missing, offer = check("reservations", subject_of(aws, **karpenter(**block)))
    assert (missing.do.startswith("`addons.karpenter.neuronPools.big.capacityReservationId`"), "3 x trn1.32xlarge" in offer.what) == (
        True,
        True,
    )


def test_the_driver_is_held_against_the_training_images_runtime():
    """The commonest way in which a cluster that is up cannot train."""
    aws = HealthyAccount()
    unpinned = subject_of(aws, nodeGroups={"trn1-32xl": {"releaseVersion": AMI_RELEASES["1.35"]}})
    assert worst(check("AMI releases", unpinned)).verdict == "pass"
    configuration = merged(dev_configuration(), training={"toolchain": "jax-2.32"})
    for group in configuration["nodeGroups"].values():
        del group["releaseVersion"]
    aws.around.recommended["neuron"] = AMI_RELEASES["1.35"]
    stack_file = _stack_file(configuration)
    subject = replace(subject_of(aws), settings=settings_of(stack_file))
    aws.around.recommended["neuron"] = f"1.35.4-{first_ami_date((2, 26, 10, 0))}"
    found = [finding for finding in check("AMI releases", subject) if finding.check == "driver"]
    assert {finding.verdict for finding in found} == {"fail"}
    assert "runtime 2.32 and later need a driver newer than 2.26" in found[0].what
    aws.around.recommended["neuron"] = "unreadable"
    assert worst(check("AMI releases", subject)).do.startswith("pin `nodeGroups.trn1-32xl.releaseVersion`")


def test_batch_is_missed_its_role():
    """It makes the role by itself for environments that launch instances; the program's does not, and would be refused."""
    aws = HealthyAccount()
    subject = subject_of(aws, addons={"batch": {"enabled": True, "nodeGroups": ["trn1-32xl"]}})
    assert worst(check("add-ons", subject)).verdict == "pass"

    aws.of("role").clear()
    found = worst(check("add-ons", subject))
    assert (found.verdict, found.do) == ("fail", "aws iam create-service-linked-role --aws-service-name batch.amazonaws.com")
    assert worst(check("add-ons", subject_of(aws))).verdict == "pass"


def test_without_a_known_toolchain_the_driver_is_a_warning():
    """It may still be wrong, and the image that will run is not known."""
    configuration = merged(dev_configuration(), training={"toolchain": None})
    subject = replace(subject_of(HealthyAccount()), settings=settings_of(_stack_file(configuration)))
    assert {finding.verdict for finding in check("AMI releases", subject) if finding.check == "driver"} == {"warn"}


@pytest.mark.parametrize(
    ("tool", "answer", "verdict", "says"),
    [
        ("pulumi version", "v3.259.9", "fail", "pulumi 3.259.9 is too old"),
        ("pulumi version", None, "fail", "could not ask `pulumi version`"),
        ("aws --version", "aws-cli/1.32.0 Python", "fail", "too old"),
        ("aws --version", "zsh: not found", "fail", "no version in"),
        ("kubectl version --client --output=json", '{"clientVersion": {"gitVersion": "v1.33.9"}}', "warn", "kubectl 1.33 for a control plane of 1.35"),
        ("kubectl version --client --output=json", "{}", "fail", "could not ask"),
    ],
)  # fmt: skip
def test_tools_that_are_missing_or_old_are_reported(tool: str, answer: str | None, verdict: str, says: str):
    """Without them `pulumi up` fails after the first minutes, not before."""

    def answered(parts: Sequence[str]) -> str:
        if " ".join(parts) != tool:
            return TOOLS[" ".join(parts)]
        if answer is None:
            raise OSError("No such file or directory")
        return answer

    gravest = worst(check("tools", replace(subject_of(HealthyAccount()), tool_answer=answered)))
    assert (gravest.verdict, says in gravest.what, gravest.do.startswith("install")) == (verdict, True, True)


def test_the_allow_list_must_hold_the_callers_address():
    """pulumi-eks waits 305 s for an API server that it cannot reach."""
    subject = subject_of(HealthyAccount())
    elsewhere = replace(subject, own_address=lambda: "192.0.2.4")
    (finding,) = check("allow-list", elsewhere)
    assert finding.verdict == "fail"
    assert finding.do.endswith("publicAccessCidrs[1]' 192.0.2.4/32")
    assert check("allow-list", replace(subject, own_address=lambda: "2001:db8::1"))[0].do.endswith("2001:db8::1/128")

    def unreachable() -> str:
        raise OSError("timed out")

    (finding,) = check("allow-list", replace(subject, own_address=unreachable))
    assert (finding.verdict, finding.what) == ("fail", "could not check: timed out")
    (finding,) = check("allow-list", subject_of(HealthyAccount(), controlPlane={"publicAccessCidrs": []}))
    assert finding.verdict == "warn"


@pytest.mark.parametrize(
    ("changes", "verdict", "says"),
    [
        ({}, "pass", "43.82 USD an hour now, 45.04 at full size, 0.80 idle; no `budget.limitUsdPerHour`"),
        ({"budget": {"limitUsdPerHour": 50}}, "pass", "the limit is 50"),
        ({"budget": {"limitUsdPerHour": 43.5}}, "fail", "`budget.limitUsdPerHour` is 43.5"),
        ({"budget": {"limitUsdPerHour": 44}}, "warn", "at full size it is above `budget.limitUsdPerHour`, 44"),
        (
            {"budget": {"limitUsdPerHour": 50}, "nodeGroups": {"trn1-32xl": {"capacityType": "SPOT"}}},
            "fail",
            "2 x trn1.32xlarge (spot) of unknown price",
        ),
    ],
)
def test_the_cost_by_the_hour_is_held_against_the_budget(changes: dict[str, Any], verdict: str, says: str):
    """A sum that lacks a price is not below anything."""
    (finding,) = check("budget", subject_of(HealthyAccount(), **changes))
    assert (finding.verdict, says in finding.what) == (verdict, True)


def test_a_check_that_breaks_off_keeps_what_it_has_found():
    """And ends in a failure."""
    aws = HealthyAccount()
    aws.wire.denied.add("fsx.DescribeFileSystems")
    aws.wire.denied.add("ec2.DescribeAddresses")
    found = check("network quotas", subject_of(aws))
    assert [finding.verdict for finding in found] == ["pass", "pass", "fail"]
    assert check("storage quota", subject_of(aws))[0].what.startswith("could not check: AccessDeniedException")


def asked_by(name: str) -> set[str]:
    """Operations that one check makes on a healthy account."""
    aws = HealthyAccount()
    leave_everything(aws, "trainium-dev")
    check(name, subject_for(name, aws))
    return set(aws.wire.count())


TOPIC = f"arn:aws:sns:us-west-2:{ACCOUNT}:costs"
LETS_BUDGETS = {"Effect": "Allow", "Principal": {"Service": "budgets.amazonaws.com"}, "Action": "SNS:Publish", "Resource": TOPIC}


def with_alarm(aws: HealthyAccount, *, topic: str = TOPIC, limit: float = 20_000, attributes: Mapping[str, str] | None = None) -> Subject:
    """The dev stack with a budget whose tag is active and whose topic takes messages."""
    aws.put("cost tag", CLUSTER_TAG, {"Status": "Active"})
    given = {"Policy": json.dumps({"Statement": [LETS_BUDGETS]}), **(attributes or {})}
    aws.put("topic", TOPIC, {"attributes": given})
    return subject_of(aws, budget={"alarm": {"limitUsdPerMonth": limit, "snsTopicArn": topic}})


def test_a_budget_that_counts_and_is_heard_passes():
    """The sum of a month, the tag and the topic, each with a line; without an alarm none."""
    aws = HealthyAccount()
    found = check("budget alarm", with_alarm(aws))
    assert [finding.verdict for finding in found] == ["pass"] * 3
    assert "which the nodes of now cost in 19.0 days; idle the stack costs 58" in found[0].what
    assert check("budget alarm", subject_of(aws)) == []


@pytest.mark.parametrize(
    ("status", "says"),
    [("Inactive", "is not active in Billing"), (None, "does not know the tag trn:cluster yet"), ("linked", "a member of an organization")],
)
def test_a_budget_whose_tag_is_not_active_counts_nothing(status: str | None, says: str):
    """A month that seems to cost nothing is below any limit. A new stack cannot have activated the tag yet."""
    aws = HealthyAccount()
    subject = with_alarm(aws)
    aws.of("cost tag").clear()
    if status:
        aws.put("cost tag", CLUSTER_TAG if status == "Inactive" else "linked account", {"Status": status})
    finding = check("budget alarm", subject)[1]
    assert (finding.verdict, says in finding.what, "update-cost-allocation-tags-status" in finding.do) == ("warn", True, True)


@pytest.mark.parametrize(
    ("topic", "attributes", "verdict", "says"),
    [
        ("arn:aws:sns:us-west-2:999988887777:costs", {}, "fail", "a topic of another account"),
        (f"arn:aws:sns:us-east-1:{ACCOUNT}:costs", {}, "warn", "in another region"),
        (f"{TOPIC}-2", {}, "fail", "there is no topic"),
        (TOPIC, {"Policy": json.dumps({"Statement": [{**LETS_BUDGETS, "Effect": "Deny"}]})}, "fail", "does not let AWS Budgets publish"),
        (TOPIC, {"Policy": json.dumps({"Statement": {**LETS_BUDGETS, "Principal": "*"}})}, "fail", "does not let AWS Budgets publish"),
        (TOPIC, {"KmsMasterKeyId": "alias/aws/sns"}, "fail", "encrypted with AWS's own key"),
    ],
)
def test_a_topic_that_takes_no_message_of_the_budget_is_named(topic: str, attributes: dict[str, str], verdict: str, says: str):
    """AWS Budgets drops such a message without a word."""
    finding = check("budget alarm", with_alarm(HealthyAccount(), topic=topic, attributes=attributes))[2]
    assert (finding.verdict, says in finding.what) == (verdict, True)


def test_a_limit_below_what_an_idle_stack_costs_is_always_passed():
    """Its alarm comes every month, and readers learn to ignore it."""
    assert check("budget alarm", with_alarm(HealthyAccount(), limit=100))[0].verdict == "warn"


def with_guard(aws: HealthyAccount, **section: Any) -> Subject:
    """The dev stack with a guard that is up, and whose one address is confirmed."""
    arn = f"arn:aws:sns:us-west-2:{ACCOUNT}:trainium-dev-idle-guard"
    aws.put("topic", arn, {"TopicArn": arn, "ResourceARN": arn, "attributes": {}, "tags": cluster_tags("trainium-dev", STACK)})
    members = {"TopicArn": arn, "Protocol": "email", "Endpoint": "team@example.com"}
    aws.put("subscription", f"{arn}:1", {"SubscriptionArn": f"{arn}:1", **members})
    return subject_of(aws, addons={"idleGuard": {"enabled": True, **(section or {"emails": ["team@example.com"]})}})


def test_a_guard_whose_messages_arrive_passes():
    """Confirmed; before the first up there is nothing to confirm yet; without a guard there is no line."""
    aws = HealthyAccount()
    subject = with_guard(aws)
    assert [finding.verdict for finding in check("idle guard", subject)] == ["pass"]
    aws.of("topic").clear()
    (finding,) = check("idle guard", subject)
    assert (finding.verdict, "must then confirm a link" in finding.what) == ("pass", True)
    assert check("idle guard", subject_of(aws)) == []


def test_an_address_that_has_not_confirmed_is_named():
    """It gets no message, and nothing else says so."""
    aws = HealthyAccount()
    subject = with_guard(aws)
    (entry,) = aws.of("subscription").values()
    entry["SubscriptionArn"] = "PendingConfirmation"
    (finding,) = check("idle guard", subject)
    assert (finding.verdict, finding.what.startswith("team@example.com gets no message yet")) == ("warn", True)


@pytest.mark.parametrize(("region", "verdict"), [("us-west-2", "fail"), ("us-east-1", "warn")])
def test_a_guards_topic_that_is_not_there_fails(region: str, verdict: str):
    """One in another region cannot be looked up from here."""
    subject = with_guard(HealthyAccount(), snsTopicArn=f"arn:aws:sns:{region}:{ACCOUNT}:elsewhere")
    assert [finding.verdict for finding in check("idle guard", subject)] == [verdict]


def subject_for(name: str, aws: HealthyAccount) -> Subject:
    """A stack that a check has something to ask about, and the account that it needs."""
    if name == "permissions boundary":
        aws.put("policy", BOUNDARY, {"Arn": BOUNDARY})
        return subject_of(aws, iam={"permissionsBoundary": BOUNDARY})
    if name == "existing file system":
        subject = sharing(aws, clients=True)
        put_existing(aws.world.state, assumed(asked_of(subject.settings)))
        return subject
    if name == "given roles":
        subject = subject_of(aws, iam={"roles": {"node": "arn:aws:iam::123456789012:role/company/nodes"}})
        put_missing(aws.world.state, subject.settings)
        return subject
    if name == "existing workspace":
        return writing_to_a_workspace(aws)
    if name == "existing bucket":
        subject = logging_to_a_bucket(aws)
        put_missing(aws.world.state, subject.settings)
        return subject
    if name == "existing network":
        subject = in_network(aws, isolated=True)
        put_described(aws, subject)
        return subject
    if name == "budget alarm":
        return with_alarm(aws)
    if name == "idle guard":
        return with_guard(aws)
    block = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": "cr-0123456789abcdef0"}
    return subject_of(aws, **({"nodeGroups": {"trn1-32xl": block}} if name == "reservations" else {}))


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in ("tools", "allow-list", "budget")])
def test_a_check_that_is_denied_any_one_call_fails(name: str):
    """Could not check is a failure, never a pass: one call after the other is taken away."""
    blocks = {"ec2.DescribeCapacityReservations", "ec2.DescribeCapacityBlockOfferings", "ec2.DescribeAvailabilityZones"}
    operations = asked_by(name) if name != "reservations" else blocks
    assert operations
    for operation in sorted(operations):
        aws = HealthyAccount()
        leave_everything(aws, "trainium-dev")
        aws.wire.denied.add(operation)
        assert worst(check(name, subject_for(name, aws))).verdict == "fail", operation


# The command


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given) -> HealthyAccount:
    """A project with a real allow-list on a healthy account."""
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / "Pulumi.dev.yaml").read_text()
    (tmp_path / "Pulumi.dev.yaml").write_text(text.replace("203.0.113.0/24", "198.18.0.7/32"))
    (tmp_path / "Pulumi.doc.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    made = HealthyAccount()
    given.api, given.address = made.api, lambda: "198.18.0.7"
    monkeypatch.setattr(tools, "tool_answer", lambda parts: TOOLS[" ".join(parts)])
    return made


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["check", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_lists_findings_and_exits_by_them(aws: HealthyAccount):
    """0 with warnings, 1 with a failure; the JSON holds the same."""
    code, out, _ = trn("dev", "--json", "check.json")
    assert code == 0
    assert "warn quota" in out
    data = yaml.safe_load(Path("check.json").read_text())
    assert {"check", "verdict", "what", "do"} == set(data["findings"][0])
    aws.around.images.clear()
    code, out, _ = trn("dev")
    assert (code, "fail AMI" in out, "-> `nodeGroups" in out) == (1, True, True)


def test_expired_credentials_end_it_with_2_and_one_line(aws: HealthyAccount):
    """Twenty findings with the same text hide the others."""
    aws.wire.faults["sts.GetCallerIdentity"] = [Refused("ExpiredToken", "The security token included in the request is expired", 403)]
    code, out, err = trn()
    assert (code, out) == (2, "")
    assert err.startswith("error: ExpiredToken: The security token")


def test_the_root_user_is_warned_of(aws: HealthyAccount):
    """IAM simulates nothing for it."""
    aws.around.caller = f"arn:aws:iam::{ACCOUNT}:root"
    code, out, _ = trn()
    assert (code, "the account's root user" in out, "may do everything" in out) == (0, True, True)


def test_a_documentation_address_is_refused_before_anything_is_asked(aws: HealthyAccount):
    """`pulumi up` would refuse it as well."""
    code, _, err = trn("doc")
    assert (code, "publicAccessCidrs" in err) == (2, True)
    assert aws.wire.calls == []


def test_tools_and_address_are_asked_on_this_machine(monkeypatch: pytest.MonkeyPatch):
    """What hangs, fails or is missing is an OSError, which the checks tell."""
    assert tools.tool_answer(["echo", " v1 "]) == "v1"
    for parts in (["false"], ["no-such-tool-here"]):
        with pytest.raises(OSError, match=r"."):
            tools.tool_answer(parts)
    monkeypatch.setattr("trn.change.clients.OWN_ADDRESS_URL", (Path(__file__).parent / "nothing-here").as_uri())
    with pytest.raises(OSError, match="nothing-here"):
        Live().own_address()


def in_network(aws: HealthyAccount, **existing: Any) -> Subject:
    """The shipped stack in a network that others keep."""
    configuration = {**merged(dev_configuration(), controlPlane={"publicAccessCidrs": ["198.18.0.7/32"]}), "network": network(**existing)}
    return with_configuration(aws, configuration)


def sharing(aws: HealthyAccount, *, clients: bool = False) -> Subject:
    """The same with a file system of others."""
    return with_configuration(aws, external_networks.sharing(clients=clients, controlPlane={"publicAccessCidrs": ["198.18.0.7/32"]}))


def with_configuration(aws: HealthyAccount, configuration: dict[str, Any]) -> Subject:
    """A stack by its configuration."""
    stack_file = _stack_file(configuration)
    return replace(subject_of(aws), stack_file=stack_file, settings=settings_of(stack_file), recording=_recorded(json.dumps(configuration)))


def put_described(aws: HealthyAccount, subject: Subject) -> None:
    """The network as the stack needs it."""
    asked = asked_of_network(subject.settings)
    assert asked is not None
    put_network(aws.world.state, assumed_network(asked))


def test_a_network_of_others_is_judged_on_the_account():
    """Before anything is made in it; what is only good to know is a warning."""
    aws = HealthyAccount()
    subject = in_network(aws)
    assert "there is no VPC vpc-0123456789abcdef0" in worst(check("existing network", subject)).what
    put_described(aws, subject)
    assert [finding.verdict for finding in check("existing network", subject)] == ["pass"]
    nat = aws.world.state.others.pop("nat")
    failing = worst(check("existing network", subject))
    assert (failing.verdict, "which is not in the VPC" in failing.what) == ("fail", True)
    assert "`network.existing.nodes.usw2-az4`" in failing.do
    aws.world.state.others["nat"] = nat
    del aws.world.state.others["endpoint"]
    assert "no gateway endpoint for S3" in worst(check("existing network", subject)).do


def test_a_file_system_of_others_is_judged_on_the_account():
    """Before a pod hangs in ContainerCreating for it; no storage of its own is counted."""
    aws = HealthyAccount()
    subject = sharing(aws)
    assert "there is no file system fs-0123456789abcdef0" in worst(check("existing file system", subject)).what
    put_existing(aws.world.state, assumed(asked_of(subject.settings)))
    assert [finding.verdict for finding in check("existing file system", subject)] == ["pass"]
    assert (check("storage quota", subject), check("existing file system", subject_of(aws))) == ([], [])
    (entry,) = aws.world.state.others["fsx"].values()
    entry["LustreConfiguration"]["MountName"] = "other"
    failing = worst(check("existing file system", subject))
    assert (failing.verdict, "`storage.lustre.existing.mountName`" in failing.do) == ("fail", True)
    entry["LustreConfiguration"]["MountName"] = "abcdefgh"
    entry["SubnetIds"] = ["subnet-0a00000000000002"]
    assert "traffic between them costs per GB" in worst(check("existing file system", subject)).what


@pytest.mark.parametrize(
    ("held", "tags", "verdict"),
    [
        (True, {}, "fail"),
        (None, cluster_tags("trainium-dev", STACK), "fail"),
        (False, cluster_tags("trainium-dev", STACK), "pass"),
        (None, {}, "pass"),
    ],
)
def test_a_file_system_that_the_stack_made_is_not_anothers(held: bool | None, tags: dict[str, str], verdict: str):
    """`pulumi up` would delete it, with its data. One that the state has forgotten was given away, though its tags are still on it."""
    aws = HealthyAccount()
    subject = sharing(aws)
    put_existing(aws.world.state, assumed(asked_of(subject.settings)))
    (entry,) = aws.world.state.others["fsx"].values()
    entry.update({"Tags": tag_list(tags)} if tags else {})

    def answered(parts: Sequence[str]) -> str:
        if held is None:
            raise OSError("no stack named `dev`")
        return json.dumps(state(subject.cluster, *([entry["FileSystemId"]] if held else [])))

    (finding,) = check("existing file system", replace(subject, tool_answer=answered))
    assert finding.verdict == verdict
    if verdict == "fail":
        assert ("with its data" in finding.what, "Remove `storage.lustre.existing`" in finding.do) == (True, True)


def writing_to_a_workspace(aws: HealthyAccount) -> Subject:
    """The shipped stack with metrics in a workspace that others keep."""
    return subject_of(aws, addons={"managedPrometheus": {"enabled": True, "workspaceArn": external_networks.WORKSPACE}})


def test_a_workspace_of_others_is_judged_on_the_account():
    """One that the caller does not see may be another account's."""
    aws = HealthyAccount()
    subject = writing_to_a_workspace(aws)
    assert "of account 123456789012 in us-west-2, or it is another account's" in worst(check("existing workspace", subject)).what
    put_existing(aws.world.state, assumed(asked_of(subject.settings)))
    assert [finding.verdict for finding in check("existing workspace", subject)] == ["pass"]
    (entry,) = aws.world.state.others["workspace"].values()
    entry["status"] = {"statusCode": "DELETING"}
    assert "a workspace that is DELETING" in worst(check("existing workspace", subject)).what
    assert check("existing workspace", subject_of(aws)) == []


def logging_to_a_bucket(aws: HealthyAccount) -> Subject:
    """The shipped stack with logs of pods in a bucket that others keep."""
    return subject_of(aws, addons={"fluentBit": {"enabled": True, "s3Bucket": "pod-logs"}})


def test_a_bucket_of_others_is_looked_at_on_the_account():
    """Pods' logs would never arrive in it, and only Fluent Bit's own log would say so."""
    aws = HealthyAccount()
    subject = logging_to_a_bucket(aws)
    assert "there is no bucket pod-logs in partition aws" in worst(check("existing bucket", subject)).what
    assert put_missing(aws.world.state, subject.settings)
    assert [finding.verdict for finding in check("existing bucket", subject)] == ["pass"]
    assert not put_missing(aws.world.state, subject.settings)
    assert check("existing bucket", subject_of(aws)) == []
    assert check("existing bucket", subject_of(aws, addons={"fluentBit": {"enabled": False, "s3Bucket": "pod-logs"}})) == []


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1", "eu-central-1"])
def test_a_bucket_in_another_region_fails(region: str):
    """S3 names its two oldest regions in its own way; each is named as it is."""
    aws = HealthyAccount()
    aws.put("bucket", "pod-logs", {"region": region})
    (finding,) = check("existing bucket", logging_to_a_bucket(aws))
    assert (finding.verdict, finding.what) == ("fail", f"bucket pod-logs is in {region}, the stack in us-west-2")


def test_a_bucket_that_its_owner_does_not_show_fails():
    """It may be another account's: only the owner can say more."""
    aws = HealthyAccount()
    aws.wire.denied.add("s3.GetBucketLocation")
    (finding,) = check("existing bucket", logging_to_a_bucket(aws))
    assert (finding.verdict, "s3:GetBucketLocation" in finding.do) == ("fail", True)


def test_where_others_keep_the_network_nothing_of_it_is_counted_or_tried():
    """No quota of VPCs is used, and no right to make one is needed."""
    aws = HealthyAccount()
    subject = in_network(aws)
    assert (check("network quotas", subject), check("dry runs", subject)) == ([], [])
    assert check("existing network", subject_of(aws)) == []


def test_a_permissions_boundary_that_is_not_there_fails():
    """The first role is refused with it, after the VPC is made and paid for."""
    aws = HealthyAccount()
    subject = subject_of(aws, iam={"permissionsBoundary": BOUNDARY})
    assert worst(check("permissions boundary", subject)).verdict == "fail"
    aws.put("policy", BOUNDARY, {"Arn": BOUNDARY})
    assert [finding.verdict for finding in check("permissions boundary", subject)] == ["pass"]
    assert check("permissions boundary", subject_of(aws)) == []
