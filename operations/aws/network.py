"""Everything of a VPC that a cluster may leave, the VPC last."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from operations.aws.api import Api, Call
from operations.aws.found import Found, Kind, Place, deleter, finder, owned_entries, per_day
from operations.belonging import belongs
from operations.cluster.iam.scopes import BALANCERS, INTERFACES, TAGGED

DESCRIBE_VPCS = Call("ec2", "DescribeVpcs")
DELETE_VPC = Call("ec2", "DeleteVpc", TAGGED)
DESCRIBE_SUBNETS = Call("ec2", "DescribeSubnets")
DELETE_SUBNET = Call("ec2", "DeleteSubnet", TAGGED)
DESCRIBE_ROUTE_TABLES = Call("ec2", "DescribeRouteTables")
DISASSOCIATE_ROUTE_TABLE = Call("ec2", "DisassociateRouteTable", TAGGED)
DELETE_ROUTE_TABLE = Call("ec2", "DeleteRouteTable", TAGGED)
DESCRIBE_INTERNET_GATEWAYS = Call("ec2", "DescribeInternetGateways")
DETACH_INTERNET_GATEWAY = Call("ec2", "DetachInternetGateway", TAGGED)
DELETE_INTERNET_GATEWAY = Call("ec2", "DeleteInternetGateway", TAGGED)
DESCRIBE_NAT_GATEWAYS = Call("ec2", "DescribeNatGateways")
DELETE_NAT_GATEWAY = Call("ec2", "DeleteNatGateway", TAGGED)
DESCRIBE_ADDRESSES = Call("ec2", "DescribeAddresses")
RELEASE_ADDRESS = Call("ec2", "ReleaseAddress", TAGGED)
DESCRIBE_ENDPOINTS = Call("ec2", "DescribeVpcEndpoints")
DELETE_ENDPOINTS = Call("ec2", "DeleteVpcEndpoints", TAGGED)
DESCRIBE_INTERFACES = Call("ec2", "DescribeNetworkInterfaces")
DELETE_INTERFACE = Call("ec2", "DeleteNetworkInterface", INTERFACES)
DESCRIBE_GROUPS = Call("ec2", "DescribeSecurityGroups")
REVOKE_INGRESS = Call("ec2", "RevokeSecurityGroupIngress", BALANCERS)
REVOKE_EGRESS = Call("ec2", "RevokeSecurityGroupEgress", BALANCERS)
DELETE_GROUP = Call("ec2", "DeleteSecurityGroup", BALANCERS)


def cluster_vpc_ids(api: Api, cluster: str) -> frozenset[str]:
    """VPCs that carry the cluster's exact tag. Most often one or none."""
    entries = owned_entries(api, DESCRIBE_VPCS, "Vpcs", Place(cluster), id_key="VpcId")
    return frozenset(entry["VpcId"] for entry, tags in entries if belongs(cluster, tags))


def _endpoint_cost(entry: Mapping[str, Any]) -> float:
    return per_day("interface endpoint", len(entry.get("SubnetIds", ()))) if entry["VpcEndpointType"] == "Interface" else 0.0


def _is_main(entry: Mapping[str, Any]) -> bool:
    return any(association.get("Main") for association in entry.get("Associations", ()))


def _delete_group(api: Api, found: Found) -> None:
    # Rules that name other groups hold those back, so they go first; a later round then meets no rule at all.
    if found.rest.get("IpPermissions"):
        api.call(REVOKE_INGRESS, GroupId=found.id, IpPermissions=found.rest["IpPermissions"])
    if found.rest.get("IpPermissionsEgress"):
        api.call(REVOKE_EGRESS, GroupId=found.id, IpPermissions=found.rest["IpPermissionsEgress"])
    api.call(DELETE_GROUP, GroupId=found.id)


def _delete_endpoint(api: Api, found: Found) -> None:
    for refused in api.call(DELETE_ENDPOINTS, VpcEndpointIds=[found.id]).get("Unsuccessful", ()):
        raise ClientError({"Error": {"Code": refused["Error"]["Code"], "Message": refused["Error"]["Message"]}}, DELETE_ENDPOINTS.operation)


def _delete_route_table(api: Api, found: Found) -> None:
    for association in found.rest.get("Associations", ()):
        api.call(DISASSOCIATE_ROUTE_TABLE, AssociationId=association["RouteTableAssociationId"])
    api.call(DELETE_ROUTE_TABLE, RouteTableId=found.id)


def _delete_internet_gateway(api: Api, found: Found) -> None:
    for attachment in found.rest.get("Attachments", ()):
        api.call(DETACH_INTERNET_GATEWAY, InternetGatewayId=found.id, VpcId=attachment["VpcId"])
    api.call(DELETE_INTERNET_GATEWAY, InternetGatewayId=found.id)


VPC_ENDPOINTS = Kind(
    "VPC endpoint",
    finder("VPC endpoint", DESCRIBE_ENDPOINTS, "VpcEndpoints", "VpcEndpointId", cost=_endpoint_cost, going="deleting", vpc_filter="vpc-id"),
    _delete_endpoint,
)  # fmt: skip
NAT_GATEWAYS = Kind(
    "NAT gateway",
    finder(
        "NAT gateway", DESCRIBE_NAT_GATEWAYS, "NatGateways", "NatGatewayId", cost=lambda entry: per_day("NAT gateway"), going="deleting",
        vpc_filter="vpc-id", filters="Filter", only={"state": ["pending", "available", "deleting", "failed"]},
    ),
    deleter(DELETE_NAT_GATEWAY, "NatGatewayId"),
)  # fmt: skip
ADDRESSES = Kind(
    "address",
    finder("address", DESCRIBE_ADDRESSES, "Addresses", "AllocationId", cost=lambda entry: per_day("public IPv4 address")),
    deleter(RELEASE_ADDRESS, "AllocationId"),
)
INTERFACES_LEFT = Kind(
    "network interface",
    finder(
        "network interface", DESCRIBE_INTERFACES, "NetworkInterfaces", "NetworkInterfaceId", vpc_filter="vpc-id", tags="TagSet",
        only={"status": ["available"]},
    ),
    deleter(DELETE_INTERFACE, "NetworkInterfaceId"),
)  # fmt: skip
SECURITY_GROUPS = Kind(
    "security group",
    finder(
        "security group", DESCRIBE_GROUPS, "SecurityGroups", "GroupId", vpc_filter="vpc-id", rest=("IpPermissions", "IpPermissionsEgress"),
        leave=lambda entry: entry["GroupName"] == "default",
    ),
    _delete_group,
)  # fmt: skip
SUBNETS = Kind("subnet", finder("subnet", DESCRIBE_SUBNETS, "Subnets", "SubnetId", vpc_filter="vpc-id"), deleter(DELETE_SUBNET, "SubnetId"))
ROUTE_TABLES = Kind(
    "route table",
    finder(
        "route table", DESCRIBE_ROUTE_TABLES, "RouteTables", "RouteTableId", vpc_filter="vpc-id", leave=_is_main, rest=("Associations",)
    ),
    _delete_route_table,
)
INTERNET_GATEWAYS = Kind(
    "internet gateway",
    finder(
        "internet gateway", DESCRIBE_INTERNET_GATEWAYS, "InternetGateways", "InternetGatewayId", vpc_filter="attachment.vpc-id",
        rest=("Attachments",),
    ),
    _delete_internet_gateway,
)  # fmt: skip
VPCS = Kind("VPC", finder("VPC", DESCRIBE_VPCS, "Vpcs", "VpcId"), deleter(DELETE_VPC, "VpcId"))
