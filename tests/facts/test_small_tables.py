"""Regions, names, user data, releases, prices, IAM documents: small pure functions."""

import json
from collections.abc import Callable
from email import message_from_string

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts import iam, names, neuron_releases, prices, regions
from facts.ami_releases import AMI_DATES, PUBLISHED, near
from facts.catalogue import NEURON_TYPES, known_zone_ids
from facts.kubernetes_versions import leaves_standard_support_soon
from facts.neuron_releases import AMI_RELEASES, LATER_AMI_RELEASE, NEWEST_AMI_DATE
from facts.node_config import node_config, user_data
from facts.regions import REGIONS
from facts.toolchains import DEFAULT_TOOLCHAIN, TOOLCHAINS
from tests.support import dev_configuration

NAME = st.from_regex(r"[ab](-?[ab]){0,3}", fullmatch=True)
"""Names of clusters and groups, few and short, so that they meet."""


@pytest.mark.parametrize(
    ("region", "prefix", "partition"),
    [
        ("us-west-2", "usw2", "aws"),
        ("us-east-1", "use1", "aws"),
        ("ap-southeast-4", "apse4", "aws"),
        ("ap-south-2", "aps2", "aws"),
        ("sa-east-1", "sae1", "aws"),
        ("us-gov-west-1", "usgw1", "aws-us-gov"),
        ("cn-north-1", "cnn1", "aws-cn"),
    ],
)
def test_zone_prefix_and_partition_follow_from_the_region(region: str, prefix: str, partition: str):
    """The program asks no account which zones or partition a region has."""
    assert regions.zone_id_prefix(region) == prefix
    assert regions.partition(region) == partition


def test_zones_are_those_of_the_guide():
    """Regions have from three zones to six, and not always the first numbers."""
    assert regions.zone_ids("us-east-2") == ("use2-az1", "use2-az2", "use2-az3")
    assert regions.zone_ids("ca-central-1") == ("cac1-az1", "cac1-az2", "cac1-az4")
    assert len(regions.zone_ids("us-east-1")) == 6
    assert regions.zone_ids("us-gov-west-1") == regions.zone_ids("us-iso-east-1") == ()
    assert regions.zone_exists("usw2-az4")
    assert regions.zone_exists("usgw1-az9"), "the guide does not list GovCloud's"
    assert not regions.zone_exists("use2-az4")
    assert not regions.zone_exists("xyz1-az1")


@pytest.mark.parametrize("name", NEURON_TYPES)
def test_the_catalogue_names_zones_that_exist(name: str):
    """A zone id with a slip in it would send a user into 33 minutes of waiting."""
    seen = [zone for region in regions.REGIONS for zone in known_zone_ids(NEURON_TYPES[name], regions.zone_id_prefix(region))]
    assert all(regions.zone_exists(zone) for zone in seen)


@pytest.mark.parametrize("named", [names.launch_template_name, names.job_definition_name])
@given(st.tuples(NAME, NAME), st.tuples(NAME, NAME))
def test_two_clusters_never_share_a_name(named: Callable[[str, str], str], one: tuple[str, str], other: tuple[str, str]):
    """Group `b-c` of cluster `a` and group `c` of cluster `a-b`: the second up would take, or meet, what is the first's."""
    assert (named(*one) == named(*other)) == (one == other)
    assert named("a", "b-c") != named("a-b", "c")


def test_the_longest_role_name_fits_iam():
    """IAM refuses 65 characters, in the middle of an up."""
    cluster = "c" * names.CLUSTER_NAME_LIMIT
    assert len(names.role_name(cluster, "ap-southeast-4", "x" * 20)) == 64
    with pytest.raises(ValueError, match="IAM allows 64"):
        names.role_name(cluster + "c", "ap-southeast-4", "x" * 20)


def test_user_data_is_a_mime_document_that_names_no_cluster():
    """Without an ImageId EKS merges its own part; a cluster block of ours would fight with it."""
    message = message_from_string(user_data(node_config(local_storage_raid0=True)))
    _, part = message.walk()
    assert part.get_content_type() == "application/node.eks.aws"
    body = json.loads(str(part.get_payload()))
    assert body["kind"] == "NodeConfig"
    assert body["spec"] == {"instance": {"localStorage": {"strategy": "RAID0"}}}


def test_another_logical_core_size_adds_a_shell_part():
    """The AMI reads it from a file at boot; nodeadm has no key for it."""
    message = message_from_string(user_data(node_config(local_storage_raid0=True, max_pods=51), logical_core_size=1))
    kinds = [part.get_content_type() for part in message.walk()][1:]
    assert kinds == ["application/node.eks.aws", "text/x-shellscript"]
    assert "NEURON_LOGICAL_NC_CONFIG=1" in message.as_string()
    assert '"maxPods": 51' in message.as_string()


@pytest.mark.parametrize(
    ("release", "driver"),
    [
        ("1.35.4-20260505", "2.27.4.0"),
        ("1.35.4-20260409", "2.27.4.0"),
        ("1.35.4-20260403", "2.26.10.0"),
        ("1.36.0-20260610", "2.28.0.0"),
        ("1.36.0-20260713", "2.28.0.0"),
        ("1.36.0-20260714", "2.29.0.0"),
        ("1.34.1-20251201", "2.24.7.0"),
        (None, "2.29.0.0"),
    ],
)
def test_an_ami_release_brings_the_driver_of_its_date(release: str | None, driver: str):
    """The date decides which training images start."""
    assert neuron_releases.version_text(neuron_releases.ami_driver(release)) == driver


def test_the_last_training_image_fits_no_newer_driver_and_no_old_one():
    """SDK 2.30's runtime 2.32 needs a driver above 2.26 and below 2.29."""
    runtime = neuron_releases.SDK_RELEASES["2.30"].runtime
    fits = [
        driver
        for driver in ((2, 26, 10, 0), (2, 27, 4, 0), (2, 28, 0, 0), (2, 29, 0, 0))
        if not neuron_releases.runtime_conflict(driver, runtime)
    ]
    assert fits == [(2, 27, 4, 0), (2, 28, 0, 0)]
    assert neuron_releases.fitting_ami_dates(runtime) == ("20260409", "20260714")


def test_every_sdk_fits_the_driver_of_its_own_release():
    """A table that says otherwise is wrong."""
    assert not [sdk.name for sdk in neuron_releases.SDK_RELEASES.values() if neuron_releases.runtime_conflict(sdk.driver, sdk.runtime)]


def test_a_version_about_to_leave_standard_support_is_no_choice():
    """1.34 costs six times as much from 2026-12-02."""
    assert [name for name in ("1.33", "1.34", "1.35", "1.36") if leaves_standard_support_soon(name)] == ["1.33", "1.34"]


def test_a_monthly_price_is_spread_over_the_month():
    """1,200 GiB of Lustre are 0.238 USD an hour."""
    assert round(1200 * prices.hourly("Lustre 125"), 3) == 0.238
    assert prices.hourly("NAT gateway") == 0.045


@pytest.mark.parametrize("partition", ["aws", "aws-us-gov", "aws-cn"])
def test_every_arn_carries_the_partition(partition: str):
    """A document with arn:aws grants nothing in GovCloud."""
    region = {"aws": "us-west-2", "aws-us-gov": "us-gov-west-1", "aws-cn": "cn-north-1"}[partition]
    text = iam.to_json(iam.ebs_csi_policy(partition)) + iam.to_json(iam.fsx_csi_policy(partition, region, "train"))
    assert text.count("arn:") == text.count(f"arn:{partition}:")


def test_a_pod_identity_role_trusts_one_service_account_only():
    """Without the conditions any association in the account could use the role."""
    condition = iam.pod_identity_trust("train", "kube-system", "aws-node")["Statement"][0]["Condition"]["StringEquals"]
    assert condition == {
        "aws:RequestTag/eks-cluster-name": "train",
        "aws:RequestTag/kubernetes-namespace": "kube-system",
        "aws:RequestTag/kubernetes-service-account": "aws-node",
    }


def test_no_document_allows_all_actions():
    """Least privilege is a promise of the design."""
    for document in (iam.ebs_csi_policy("aws"), iam.fsx_csi_policy("aws", "us-west-2", "train"), iam.node_boot_policy()):
        actions = [
            action
            for statement in document["Statement"]
            for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
        ]
        assert not [action for action in actions if "*" in action]


def test_a_node_may_ask_what_nodeadm_asks():
    """AL2023 waits ten minutes for DescribeInstances and then gives up; the node never joins."""
    (statement,) = iam.node_boot_policy()["Statement"]
    assert statement["Action"] == ["ec2:DescribeInstances", "ec2:DescribeInstanceTypes"]


def test_a_dynamic_file_system_can_be_made_with_its_tag():
    """Making, tagging and looking at the network belong together: without one of them every claim stays pending."""
    actions = [action for statement in iam.fsx_csi_policy("aws", "us-west-2", "train")["Statement"] for action in statement["Action"]]
    assert {"fsx:CreateFileSystem", "fsx:TagResource", "ec2:DescribeSubnets", "ec2:GetSecurityGroupsForVpc"} <= set(actions)


def test_file_systems_of_other_clusters_are_out_of_the_drivers_reach():
    """`DeleteFileSystem` on * would let one claim delete another team's data."""
    statements = iam.fsx_csi_policy("aws", "us-west-2", "train")["Statement"]
    deleting = next(statement for statement in statements if "fsx:DeleteFileSystem" in statement["Action"])
    assert deleting["Condition"] == {"StringEquals": {"aws:ResourceTag/trn:cluster": "train"}}


def test_regions_are_those_that_have_eks():
    """A region that AWS has opened since is refused until the table has it: botocore knows first."""
    session = boto3.Session()
    known = {region for partition in session.get_available_partitions() for region in session.get_available_regions("eks", partition)}
    assert set(REGIONS) == known


def test_the_releases_that_samples_pin_start_the_default_toolchain():
    """What `trn init` writes, the shipped stack pins and the random stacks take is one table: a new release is one line."""
    runtime = TOOLCHAINS[DEFAULT_TOOLCHAIN].sdk.runtime
    for minor, release in neuron_releases.AMI_RELEASES.items():
        assert release.startswith(f"{minor}.")
        assert neuron_releases.runtime_conflict(neuron_releases.ami_driver(release), runtime) is None
    assert neuron_releases.ami_date(neuron_releases.LATER_AMI_RELEASE) > neuron_releases.ami_date(neuron_releases.AMI_RELEASES["1.35"])
    pinned = {group["releaseVersion"] for group in dev_configuration()["nodeGroups"].values()}
    assert pinned == {neuron_releases.AMI_RELEASES["1.35"]}


def test_the_newest_sdk_runs_on_the_newest_ami_and_not_on_a_driver_of_last_year():
    """Its own driver, 2.31.7.0, was seen in no AMI; runtime 2.35 needs a driver newer than 2.26."""
    newest = neuron_releases.SDK_RELEASES["2.33"]
    assert (neuron_releases.version_text(newest.driver), newest.runtime) == ("2.31.7.0", (2, 35, 30))
    assert neuron_releases.runtime_conflict(neuron_releases.NEWEST_DRIVER, newest.runtime) is None
    assert neuron_releases.runtime_conflict((2, 26, 10, 0), newest.runtime) is not None


def test_the_releases_that_the_program_names_were_published():
    """A default that EKS refuses would stop every first `up`; a driver comes with a release."""
    assert list(AMI_DATES) == sorted(AMI_DATES, reverse=True)
    named = {minor: {release} for minor, release in AMI_RELEASES.items()}
    named["1.35"] |= {LATER_AMI_RELEASE}
    assert {minor: releases - set(PUBLISHED[minor]) for minor, releases in named.items()} == {minor: set() for minor in named}
    assert NEWEST_AMI_DATE in AMI_DATES
    assert near("20260501", AMI_DATES) == ("20260505", "20260423")
