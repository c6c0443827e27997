"""A network that others keep, as EC2 describes it: reads only."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from facts.external.network import AMAZON_DNS, Endpoint, NatGateway, NetworkDescription, Route, RouteTable, Rule, SecurityGroup, Subnet
from trn.aws.api import Api, Call, tags_of
from trn.aws.identity import caller
from trn.aws.sighting import filters

DESCRIBE_VPCS = Call("ec2", "DescribeVpcs")
DESCRIBE_VPC_ATTRIBUTE = Call("ec2", "DescribeVpcAttribute")
DESCRIBE_SUBNETS = Call("ec2", "DescribeSubnets")
DESCRIBE_ROUTE_TABLES = Call("ec2", "DescribeRouteTables")
DESCRIBE_NAT_GATEWAYS = Call("ec2", "DescribeNatGateways")
DESCRIBE_ENDPOINTS = Call("ec2", "DescribeVpcEndpoints")
DESCRIBE_GROUPS = Call("ec2", "DescribeSecurityGroups")
DESCRIBE_DHCP_OPTIONS = Call("ec2", "DescribeDhcpOptions")
_SWITCHES = {"dns_support": "enableDnsSupport", "dns_hostnames": "enableDnsHostnames"}
_TARGETS = (
    "NatGatewayId", "TransitGatewayId", "NetworkInterfaceId", "VpcPeeringConnectionId", "LocalGatewayId", "CarrierGatewayId",
    "CoreNetworkArn", "EgressOnlyInternetGatewayId", "GatewayId",
)  # fmt: skip
"""Where EC2 shows what a route leads to (EC2 API, Route)."""
_GONE = "deleted"
_AWS_SERVICE = "com.amazonaws."


def described_network(api: Api, vpc_id: str) -> NetworkDescription | None:
    """The VPC with all that decides whether a cluster works in it; None where the region has no such VPC."""
    inside = filters({"vpc-id": vpc_id})
    vpc = next(iter(api.pages(DESCRIBE_VPCS, "Vpcs", Filters=inside)), None)
    if vpc is None:
        return None
    endpoints = {
        entry["VpcEndpointId"]: _endpoint(entry, api.region) for entry in api.pages(DESCRIBE_ENDPOINTS, "VpcEndpoints", Filters=inside)
    }
    tables = list(api.pages(DESCRIBE_ROUTE_TABLES, "RouteTables", Filters=inside))
    served = {link["SubnetId"]: table["RouteTableId"] for table in tables for link in table.get("Associations", ()) if link.get("SubnetId")}
    return NetworkDescription(
        region=api.region,
        vpc_id=vpc_id,
        owner=_other_owner(api, vpc),
        name_servers=_name_servers(api, vpc),
        cidrs=tuple(_blocks(vpc)),
        **{name: _is_on(api, vpc_id, attribute) for name, attribute in _SWITCHES.items()},
        subnets={entry["SubnetId"]: _subnet(entry, served) for entry in api.pages(DESCRIBE_SUBNETS, "Subnets", Filters=inside)},
        route_tables={table["RouteTableId"]: _table(table) for table in tables},
        nat_gateways={
            entry["NatGatewayId"]: _nat(entry)
            for entry in api.pages(DESCRIBE_NAT_GATEWAYS, "NatGateways", Filter=inside)
            if entry.get("State") != _GONE
        },
        endpoints=endpoints,
        security_groups=_groups(api, inside, {group for endpoint in endpoints.values() for group in endpoint.groups}),
    )


def _blocks(vpc: Mapping[str, Any]) -> Iterator[str]:
    associations = vpc.get("CidrBlockAssociationSet") or [{"CidrBlock": vpc["CidrBlock"]}]
    for entry in associations:
        if entry.get("CidrBlockState", {}).get("State", "associated") == "associated":
            yield entry["CidrBlock"]


def _other_owner(api: Api, vpc: Mapping[str, Any]) -> str:
    """The account that shares the VPC; empty where it is the caller's own."""
    owner = str(vpc.get("OwnerId", ""))
    return "" if owner in ("", caller(api).account) else owner


def _name_servers(api: Api, vpc: Mapping[str, Any]) -> tuple[str, ...]:
    """Of the VPC's DHCP options; none where it has no options, which EC2 calls `default` (VPC user guide, DHCP option sets)."""
    which = vpc.get("DhcpOptionsId")
    if which is None:
        return (AMAZON_DNS,)
    entries = [] if which == "default" else list(api.pages(DESCRIBE_DHCP_OPTIONS, "DhcpOptions", DhcpOptionsIds=[which]))
    options = [option for entry in entries for option in entry.get("DhcpConfigurations", ()) if option["Key"] == "domain-name-servers"]
    return tuple(value["Value"] for option in options for value in option.get("Values", ()))


def _is_on(api: Api, vpc_id: str, attribute: str) -> bool:
    answer = api.call(DESCRIBE_VPC_ATTRIBUTE, VpcId=vpc_id, Attribute=attribute)
    return bool(answer[attribute[0].upper() + attribute[1:]]["Value"])


def _subnet(entry: Mapping[str, Any], served: Mapping[str, str]) -> Subnet:
    return Subnet(
        zone_id=entry["AvailabilityZoneId"],
        # A subnet of IPv6 alone has none.
        cidr=entry.get("CidrBlock"),
        free_addresses=entry["AvailableIpAddressCount"],
        public_addresses=bool(entry.get("MapPublicIpOnLaunch")),
        route_table=served.get(entry["SubnetId"], ""),
        tags=tags_of(entry),
    )


def _table(entry: Mapping[str, Any]) -> RouteTable:
    return RouteTable(
        main=any(link.get("Main") for link in entry.get("Associations", ())),
        routes=tuple(_routes(entry.get("Routes", ()))),
    )


def _routes(entries: Iterable[Mapping[str, Any]]) -> Iterator[Route]:
    """Routes for IPv4 and to prefix lists; those for IPv6 are left out."""
    for entry in entries:
        destination = entry.get("DestinationCidrBlock") or entry.get("DestinationPrefixListId")
        # An instance is shown beside its interface.
        target = next((entry[key] for key in _TARGETS if entry.get(key)), entry.get("InstanceId", ""))
        if destination:
            yield Route(destination=destination, target=target, active=entry.get("State", "active") == "active")


def _nat(entry: Mapping[str, Any]) -> NatGateway:
    return NatGateway(
        subnet=entry["SubnetId"], state=entry.get("State", "available"), public=entry.get("ConnectivityType", "public") == "public"
    )


def _endpoint(entry: Mapping[str, Any], region: str) -> Endpoint:
    name = str(entry["ServiceName"])
    return Endpoint(
        # China's services are named cn.com.amazonaws.REGION.NAME (PrivateLink guide).
        service=name.partition(_AWS_SERVICE)[2].removeprefix(f"{region}.") or name,
        type=entry["VpcEndpointType"],
        state=str(entry.get("State", "available")).lower(),
        private_dns=bool(entry.get("PrivateDnsEnabled")),
        subnets=tuple(entry.get("SubnetIds", ())),
        route_tables=tuple(entry.get("RouteTableIds", ())),
        groups=tuple(group["GroupId"] for group in entry.get("Groups", ())),
    )


def _groups(api: Api, inside: list[dict[str, Any]], wanted: set[str]) -> dict[str, SecurityGroup]:
    """Those of the endpoints."""
    if not wanted:
        return {}
    entries = api.pages(DESCRIBE_GROUPS, "SecurityGroups", Filters=inside)
    return {entry["GroupId"]: described_group(entry) for entry in entries if entry["GroupId"] in wanted}


def described_group(entry: Mapping[str, Any]) -> SecurityGroup:
    """What a security group lets in, from EC2's entry of it."""
    return SecurityGroup(ingress=tuple(_rule(rule) for rule in entry.get("IpPermissions", ())))


def _rule(entry: Mapping[str, Any]) -> Rule:
    return Rule(
        protocol=entry["IpProtocol"],
        first_port=entry.get("FromPort", -1),
        last_port=entry.get("ToPort", -1),
        cidrs=tuple(block["CidrIp"] for block in entry.get("IpRanges", ())),
        groups=tuple(pair["GroupId"] for pair in entry.get("UserIdGroupPairs", ()) if pair.get("GroupId")),
        prefix_lists=tuple(each["PrefixListId"] for each in entry.get("PrefixListIds", ())),
    )
