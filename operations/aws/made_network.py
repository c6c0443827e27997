"""Finds what a run made in EC2, by exact tags, names and places."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.names import CLUSTER_TAG
from operations.aws.api import Api, Call, tags_of
from operations.aws.compute import DESCRIBE_PLACEMENT_GROUPS, DESCRIBE_TEMPLATES
from operations.aws.network import (
    DESCRIBE_ADDRESSES,
    DESCRIBE_ENDPOINTS,
    DESCRIBE_GROUPS,
    DESCRIBE_INTERNET_GATEWAYS,
    DESCRIBE_NAT_GATEWAYS,
    DESCRIBE_ROUTE_TABLES,
    DESCRIBE_SUBNETS,
    DESCRIBE_VPCS,
)
from operations.aws.sighting import Finder, Inputs, Sighting, filters, has, named, sighted, tag_filters

DESCRIBE_RULES = Call("ec2", "DescribeSecurityGroupRules")


def _tagged(call: Call, key: str, id_key: str, *, filter_key: str = "Filters", **same: str) -> Finder:
    """A finder by tags; `same` are inputs that must equal what the service says, under the service's key."""

    def find(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
        wanted = named(cluster, inputs)
        for entry in api.pages(call, key, **{filter_key: tag_filters(wanted)}):
            if has(tags_of(entry), wanted) and all(entry.get(theirs) == inputs[ours] for theirs, ours in same.items()):
                yield from sighted(entry[id_key], str(entry.get("State", "")))

    return find


def _by_name(call: Call, key: str, id_key: str, filter_name: str, name_key: str, **same: str) -> Finder:
    """A finder by name, for what must carry the cluster's tag as well: another one of that name is not ours."""

    def find(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
        for entry in api.pages(call, key, Filters=filters({filter_name: inputs["name"]})):
            is_meant = entry[name_key] == inputs["name"] and has(tags_of(entry), {CLUSTER_TAG: cluster})
            if is_meant and all(entry.get(theirs) == inputs[ours] for theirs, ours in same.items()):
                yield from sighted(entry[id_key], str(entry.get("State", "")))

    return find


def _pod_block(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    for vpc in api.pages(DESCRIBE_VPCS, "Vpcs", Filters=filters({"vpc-id": inputs["vpcId"]})):
        for block in vpc.get("CidrBlockAssociationSet", ()):
            if vpc["VpcId"] == inputs["vpcId"] and block["CidrBlock"] == inputs["cidrBlock"]:
                yield from sighted(block["AssociationId"], block["CidrBlockState"]["State"])


def _tables(api: Api, filter_name: str, value: str) -> Iterator[Mapping[str, Any]]:
    yield from api.pages(DESCRIBE_ROUTE_TABLES, "RouteTables", Filters=filters({filter_name: value}))


def _routes(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    table_id, block = inputs["routeTableId"], inputs["destinationCidrBlock"]
    for table in _tables(api, "route-table-id", table_id):
        for route in table.get("Routes", ()):
            if table["RouteTableId"] == table_id and route.get("DestinationCidrBlock") == block:
                yield from sighted(f"{table_id}_{block}", route.get("State", ""))


def _table_associations(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    table_id, subnet_id = inputs["routeTableId"], inputs["subnetId"]
    for table in _tables(api, "association.subnet-id", subnet_id):
        for association in table.get("Associations", ()):
            if table["RouteTableId"] == table_id and association.get("SubnetId") == subnet_id:
                yield from sighted(f"{subnet_id}/{table_id}", association.get("AssociationState", {}).get("State", ""))


def _rules(egress: bool) -> Finder:
    def find(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
        group, wanted = inputs["securityGroupId"], _rule_of(inputs)
        for rule in api.pages(DESCRIBE_RULES, "SecurityGroupRules", Filters=filters({"group-id": group})):
            if rule["GroupId"] == group and rule["IsEgress"] == egress and _rule_in(rule) == wanted:
                yield from sighted(rule["SecurityGroupRuleId"])

    return find


def _rule_of(inputs: Inputs) -> tuple[Any, ...]:
    # Where all protocols are meant, the program gives no ports, and EC2 answers with -1.
    ports = (inputs.get("fromPort", -1), inputs.get("toPort", -1))
    return inputs["ipProtocol"], *ports, inputs.get("cidrIpv4"), inputs.get("referencedSecurityGroupId")


def _rule_in(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    other = rule.get("ReferencedGroupInfo", {}).get("GroupId")
    return rule["IpProtocol"], rule.get("FromPort", -1), rule.get("ToPort", -1), rule.get("CidrIpv4"), other


FINDERS: Mapping[str, Finder] = {
    "aws:ec2/vpc:Vpc": _tagged(DESCRIBE_VPCS, "Vpcs", "VpcId"),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": _pod_block,
    "aws:ec2/subnet:Subnet": _tagged(DESCRIBE_SUBNETS, "Subnets", "SubnetId", VpcId="vpcId", CidrBlock="cidrBlock"),
    # It may not be attached yet: `up` does that after the import.
    "aws:ec2/internetGateway:InternetGateway": _tagged(DESCRIBE_INTERNET_GATEWAYS, "InternetGateways", "InternetGatewayId"),
    "aws:ec2/eip:Eip": _tagged(DESCRIBE_ADDRESSES, "Addresses", "AllocationId"),
    "aws:ec2/natGateway:NatGateway": _tagged(
        DESCRIBE_NAT_GATEWAYS, "NatGateways", "NatGatewayId", filter_key="Filter", SubnetId="subnetId"
    ),
    "aws:ec2/routeTable:RouteTable": _tagged(DESCRIBE_ROUTE_TABLES, "RouteTables", "RouteTableId", VpcId="vpcId"),
    "aws:ec2/route:Route": _routes,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _table_associations,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _tagged(
        DESCRIBE_ENDPOINTS, "VpcEndpoints", "VpcEndpointId", VpcId="vpcId", ServiceName="serviceName"
    ),
    "aws:ec2/securityGroup:SecurityGroup": _by_name(
        DESCRIBE_GROUPS, "SecurityGroups", "GroupId", "group-name", "GroupName", VpcId="vpcId"
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _rules(egress=False),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _rules(egress=True),
    "aws:ec2/launchTemplate:LaunchTemplate": _by_name(
        DESCRIBE_TEMPLATES, "LaunchTemplates", "LaunchTemplateId", "launch-template-name", "LaunchTemplateName"
    ),
    "aws:ec2/placementGroup:PlacementGroup": _by_name(
        DESCRIBE_PLACEMENT_GROUPS, "PlacementGroups", "GroupName", "group-name", "GroupName"
    ),
}  # fmt: skip
