"""Objects of a VPC as EC2 describes them."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.resources import ec2_network, ec2_security, ec2_tags
from simulator.account import addresses, kinds, places, view
from simulator.account.state import AccountState
from simulator.aws_endpoint.entries import Derive, Entry, Kind, chosen, made_id, tag_list, tags_of
from simulator.recording import Registration


def _shown(state: AccountState, resource_type: str) -> list[Registration]:
    """Parts that EC2 makes and deletes at once: what a run that was killed was making is there, whatever its caller still waited for."""
    return [item.registration for item in state.existing(resource_type) if item.status != "deleting"]


def _vpc(state: AccountState, item: Registration) -> Entry:
    blocks = [(f"{item.id}-primary", item.inputs["cidrBlock"])]
    blocks += [(block.id, block.inputs["cidrBlock"]) for block in _shown(state, kinds.POD_BLOCK) if block.inputs["vpcId"] == item.id]
    associations = [{"AssociationId": block_id, "CidrBlock": cidr, "CidrBlockState": {"State": "associated"}} for block_id, cidr in blocks]
    switches = {
        "EnableDnsSupport": item.inputs.get("enableDnsSupport", True),
        "EnableDnsHostnames": item.inputs.get("enableDnsHostnames", False),
    }
    plain = {"VpcId": item.id, "CidrBlock": item.inputs["cidrBlock"], "IsDefault": False, **switches}
    return {**plain, "CidrBlockAssociationSet": associations, "Tags": tag_list(tags_of(item))}


def _subnet(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, VpcId="vpcId", CidrBlock="cidrBlock", AvailabilityZoneId="availabilityZoneId")
    zone, left = item.outputs.get("availabilityZone", ""), addresses.free(state, item)
    free = {"AvailableIpAddressCount": left, "MapPublicIpOnLaunch": bool(item.inputs.get("mapPublicIpOnLaunch"))}
    return {"SubnetId": item.id, **members, **free, "AvailabilityZone": zone, "Tags": tag_list(tags_of(item))}


def _route_table(state: AccountState, item: Registration) -> Entry:
    routes = [route.inputs for route in _shown(state, kinds.ROUTE) if route.inputs["routeTableId"] == item.id]
    return {
        "RouteTableId": item.id,
        "VpcId": item.inputs["vpcId"],
        "Routes": [
            {
                **chosen(route, DestinationCidrBlock="destinationCidrBlock", GatewayId="gatewayId", NatGatewayId="natGatewayId"),
                "State": "active",
            }
            for route in routes
        ],
        "Associations": [
            {
                "RouteTableAssociationId": link.id,
                "RouteTableId": item.id,
                "SubnetId": link.inputs["subnetId"],
                "Main": False,
                "AssociationState": {"State": "associated"},
            }
            for link in _shown(state, kinds.ROUTE_TABLE_ASSOCIATION)
            if link.inputs["routeTableId"] == item.id
        ],
        "Tags": tag_list(tags_of(item)),
    }


def main_route_tables(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """The table that EC2 makes with each VPC, and deletes with it."""
    for item in state.existing(kinds.VPC):
        vpc = item.registration
        table = str(vpc.outputs.get("mainRouteTableId") or made_id("rtb", vpc.id))
        associations = [{"RouteTableAssociationId": made_id("rtbassoc", table), "RouteTableId": table, "Main": True}]
        yield table, {"RouteTableId": table, "VpcId": vpc.id, "Associations": associations, "Routes": [], "Tags": []}


def _internet_gateway(state: AccountState, item: Registration) -> Entry:
    attached = [{"VpcId": item.inputs["vpcId"], "State": "available"}] if item.inputs.get("vpcId") else []
    return {"InternetGatewayId": item.id, "Attachments": attached, "Tags": tag_list(tags_of(item))}


def _address(state: AccountState, item: Registration) -> Entry:
    public = item.outputs.get("publicIp", "198.51.100.1")
    return {"AllocationId": item.id, "PublicIp": public, "Domain": "vpc", "Tags": tag_list(tags_of(item))}


def _nat_gateway(state: AccountState, item: Registration) -> Entry:
    subnet = state.find(kinds.SUBNET, item.inputs["subnetId"])
    addresses = [chosen({**item.outputs, **item.inputs}, AllocationId="allocationId", NetworkInterfaceId="networkInterfaceId")]
    place = {"VpcId": subnet.registration.inputs["vpcId"]} if subnet is not None else {}
    tags = tag_list(tags_of(item))
    return {"NatGatewayId": item.id, "SubnetId": item.inputs["subnetId"], **place, "NatGatewayAddresses": addresses, "Tags": tags}


def _endpoint(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, VpcId="vpcId", ServiceName="serviceName", RouteTableIds="routeTableIds", SubnetIds="subnetIds")
    groups = [{"GroupId": group_id} for group_id in item.inputs.get("securityGroupIds") or ()]
    kind = item.inputs.get("vpcEndpointType", "Gateway")
    named = {"PrivateDnsEnabled": bool(item.inputs.get("privateDnsEnabled")), "Groups": groups, "Tags": tag_list(tags_of(item))}
    return {"VpcEndpointId": item.id, "VpcEndpointType": kind, **members, **named}


def _tag(state: AccountState, item: Registration) -> Entry:
    return {**chosen(item.inputs, ResourceId="resourceId", Key="key", Value="value"), "ResourceType": "subnet"}


def permission(inputs: Mapping[str, Any]) -> Entry:
    """A rule of a security group as an entry of its permissions."""
    made: Entry = {"IpProtocol": str(inputs["ipProtocol"]), **chosen(inputs, FromPort="fromPort", ToPort="toPort")}
    if inputs.get("referencedSecurityGroupId"):
        made["UserIdGroupPairs"] = [{"GroupId": inputs["referencedSecurityGroupId"]}]
    if inputs.get("cidrIpv4"):
        made["IpRanges"] = [{"CidrIp": inputs["cidrIpv4"]}]
    return made


def rules_of(state: AccountState, group_id: str, kind: str) -> list[Registration]:
    """Rules of one group, inward or outward."""
    return [rule for rule in _shown(state, kind) if rule.inputs["securityGroupId"] == group_id]


def _permissions(state: AccountState, group_id: str) -> Entry:
    return {
        "IpPermissions": [permission(rule.inputs) for rule in rules_of(state, group_id, kinds.INGRESS)],
        "IpPermissionsEgress": [permission(rule.inputs) for rule in rules_of(state, group_id, kinds.EGRESS)],
    }


def _group(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, VpcId="vpcId", Description="description", GroupName="name")
    return {"GroupId": item.id, **members, **_permissions(state, item.id), "Tags": tag_list(tags_of(item))}


def default_groups(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """The group that EC2 makes with each VPC, and deletes with it."""
    for item in state.existing(kinds.VPC):
        vpc = item.registration
        group = str(vpc.outputs.get("defaultSecurityGroupId") or made_id("sg", vpc.id))
        plain = {"GroupId": group, "GroupName": "default", "Description": "default VPC security group", "VpcId": vpc.id}
        yield group, {**plain, "IpPermissions": [], "IpPermissionsEgress": [], "Tags": []}


def cluster_groups(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """The group that EKS makes for each control plane, tagged as EKS tags it (EKS user guide, sec-group-reqs)."""
    for item in state.existing(kinds.CLUSTER):
        made = item.registration
        group = str(made.outputs.get("vpcConfig", {}).get("clusterSecurityGroupId", ""))
        name = made.inputs["name"]
        tags = {"aws:eks:cluster-name": name, f"kubernetes.io/cluster/{name}": "owned", "Name": f"eks-cluster-sg-{name}"}
        plain = {"GroupId": group, "GroupName": f"eks-cluster-sg-{name}", "VpcId": vpc_of(state, made.inputs["vpcConfig"]["subnetIds"])}
        if group:
            yield group, {**plain, "Description": "EKS created security group", **_permissions(state, group), "Tags": tag_list(tags)}


def vpc_of(state: AccountState, subnet_ids: Any) -> str:
    """The VPC of subnets; empty where none of them is known."""
    found = (places.subnet(state, subnet_id) for subnet_id in view.listed(subnet_ids))
    return next((item.inputs["vpcId"] for item in found if item is not None), "")


def _rule(state: AccountState, item: Registration) -> Entry:
    inputs = item.inputs
    plain = {"SecurityGroupRuleId": item.id, "GroupId": inputs["securityGroupId"], "IsEgress": item.type == kinds.EGRESS}
    ports = {"IpProtocol": str(inputs["ipProtocol"]), "FromPort": int(inputs.get("fromPort", -1)), "ToPort": int(inputs.get("toPort", -1))}
    other = {"ReferencedGroupInfo": {"GroupId": inputs["referencedSecurityGroupId"]}} if inputs.get("referencedSecurityGroupId") else {}
    return {**plain, **ports, **chosen(inputs, CidrIpv4="cidrIpv4"), **other, "Tags": tag_list(tags_of(item))}


KINDS = (
    Kind("vpc", ec2_network.VPC, _vpc, hidden=("EnableDnsSupport", "EnableDnsHostnames", "NameServers")),
    Kind("subnet", ec2_network.SUBNET, _subnet),
    Kind("route table", ec2_network.ROUTE_TABLE, _route_table),
    Kind("internet gateway", ec2_network.INTERNET_GATEWAY, _internet_gateway),
    Kind("address", ec2_network.ADDRESS, _address),
    Kind("nat", ec2_network.NAT_GATEWAY, _nat_gateway),
    Kind("endpoint", ec2_network.ENDPOINT, _endpoint),
    Kind("subnet tag", ec2_tags.TAG, _tag),
    Kind("group", ec2_security.SECURITY_GROUP, _group),
    Kind("ingress rule", ec2_security.INGRESS, _rule),
    Kind("egress rule", ec2_security.EGRESS, _rule),
)
DERIVED: Mapping[str, tuple[Derive, ...]] = {"route table": (main_route_tables,), "group": (default_groups, cluster_groups)}
"""What AWS makes of these kinds by itself."""
