"""The same look against moto, whose filters were written by others: what EC2 calls a filter must be what we call it."""

import importlib
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from moto.utilities import utils as moto_files

from trn.aws.api import BotoApi
from trn.aws.leftovers import Found, Kind, Place, kind_named
from trn.aws.network import cluster_vpcs

REGION = "us-west-2"


@pytest.fixture(scope="module")
def account() -> Iterator[BotoApi]:
    """Two clusters with look-alike names, each with a VPC, and what leaks."""
    load = moto_files.load_resource
    with pytest.MonkeyPatch.context() as patched:
        # Which instance types are offered in which zone of the world: 100 MB that nothing here asks for.
        patched.setattr(moto_files, "load_resource", lambda path: [] if "instance_type_offerings" in path else load(path))
        importlib.import_module("moto.ec2")
    with mock_aws():
        session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="y", region_name=REGION)
        for number, name in enumerate(("train", "train-2")):
            _cluster(session, name, f"10.{number}.0.0/16")
        yield BotoApi(REGION, session)


def _cluster(session: Any, name: str, cidr: str) -> None:
    ec2 = session.client("ec2", region_name=REGION)
    tags = [{"Key": "trn:cluster", "Value": name}]

    def tagged(kind: str) -> list[dict[str, Any]]:
        return [{"ResourceType": kind, "Tags": tags}]

    vpc = ec2.create_vpc(CidrBlock=cidr, TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr.replace("/16", "/20"))["Subnet"]["SubnetId"]
    ec2.create_network_interface(SubnetId=subnet)
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip"))["AllocationId"]
    ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)
    ec2.create_route_table(VpcId=vpc)
    ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)
    ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=10, VolumeType="gp3", TagSpecifications=tagged("volume"))
    ec2.create_launch_template(
        LaunchTemplateName=name, LaunchTemplateData={"InstanceType": "m5.large"}, TagSpecifications=tagged("launch-template")
    )
    session.client("logs", region_name=REGION).create_log_group(logGroupName=f"/aws/eks/{name}/cluster")
    iam = session.client("iam", region_name=REGION)
    iam.create_role(RoleName=f"{name}-{REGION}-node", AssumeRolePolicyDocument="{}", Tags=tags)


@pytest.mark.parametrize(
    "kind",
    [
        kind_named(name)
        for name in (
            "VPC", "subnet", "internet gateway", "NAT gateway", "address", "route table", "security group", "volume", "launch template",
            "log group", "role",
        )
    ],
    ids=lambda kind: kind.name,
)  # fmt: skip
def test_each_kind_is_found_once_for_its_own_cluster(account: BotoApi, kind: Kind):
    """Neither the neighbour's, nor twice where tag and VPC both say so."""
    found = {name: _found(account, kind, name) for name in ("train", "train-2", "trai")}
    assert {name: len(items) for name, items in found.items()} == {"train": 1, "train-2": 1, "trai": 0}
    assert found["train"][0].id != found["train-2"][0].id


def test_an_interface_without_a_tag_is_found_by_its_vpc(account: BotoApi):
    """The neighbour's lie in another VPC."""
    ours, theirs = (_found(account, kind_named("network interface"), name) for name in ("train", "train-2"))
    assert ours
    assert all(item.because.startswith("in vpc-") for item in ours)
    assert not {item.id for item in ours} & {item.id for item in theirs}


def _found(api: BotoApi, kind: Kind, cluster: str) -> list[Found]:
    return list(kind.find(api, Place(cluster, frozenset(cluster_vpcs(api, cluster)))))
