"""EC2: the VPC and what lies in it, but for its security groups."""

from facts.prices import hourly
from facts.resources.api_calls import ApiCall, creation, ec2_tags, titled
from facts.resources.ec2 import AVAILABLE, TAGGING, by_tags, deletion, described, rights
from facts.resources.identity import by, by_all, by_name_tag
from facts.resources.latency import INSTANT, LOGS, Latencies, Latency, Lifetime, both
from facts.resources.outputs import Answer, Draw, Inputs, only_id, with_arn
from facts.resources.queries import Deletion, Entry, Leftover, Lookup, Stage, States, Step
from facts.resources.resource_type import Changes, Conflict, Listed, ResourceType, Without

_NO_TAGS = "EC2 tags no such object"
_FREE = Without("it has no price of its own (VPC pricing page, 2026-11)")


def _make_vpc(draw: Draw, inputs: Inputs) -> Answer:
    vpc_id, table = f"vpc-{draw.hex()}", f"rtb-{draw.hex(what='main')}"
    return vpc_id, {
        "arn": draw.arn("ec2", f"vpc/{vpc_id}"),
        "mainRouteTableId": table,
        "defaultRouteTableId": table,
        "defaultSecurityGroupId": f"sg-{draw.hex(what='default')}",
        "defaultNetworkAclId": f"acl-{draw.hex(what='acl')}",
        "ownerId": draw.account,
    }


_VPCS = described("DescribeVpcs", "Vpcs", "VpcId", states=AVAILABLE, absent="InvalidVpcID.NotFound")
VPC = ResourceType(
    "aws:ec2/vpc:Vpc",
    make=_make_vpc,
    latencies=Latencies(both(10, 12, 20, LOGS)),
    changes=Changes(replacing=("cidrBlock",), calls=("ModifyVpcAttribute",)),
    identity=by_name_tag(),
    creation=creation(
        ApiCall("ec2", "CreateVpc", {**titled("cidrBlock"), **ec2_tags("vpc")}),
        # One attribute per call (EC2 API, ModifyVpcAttribute).
        ApiCall("ec2", "ModifyVpcAttribute", {"enableDnsSupport": "EnableDnsSupport.Value"}, {}, "VpcId", "enableDnsSupport", unless=True),
        ApiCall("ec2", "ModifyVpcAttribute", {"enableDnsHostnames": "EnableDnsHostnames.Value"}, {}, "VpcId", "enableDnsHostnames"),
    ),
    lookup=by_tags(_VPCS),
    tagging=TAGGING,
    deletion=deletion("DeleteVpc", "VpcId"),
    rights=rights(
        "DescribeVpcs DescribeVpcAttribute DescribeNetworkAcls DescribeSecurityGroups DescribeRouteTables",
        "CreateVpc",
        "ModifyVpcAttribute DeleteVpc",
    ),
    costs=_FREE,
    leftover=Leftover("VPC", Stage.VPC, _VPCS),
    second="another",
)

POD_BLOCK = ResourceType(
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    make=only_id("vpc-cidr-assoc"),
    latencies=Latencies(both(2, 4, 8, "inferred: waits for state associated")),
    changes=Changes(replacing=("cidrBlock", "vpcId")),
    identity=by("vpcId", "cidrBlock"),
    creation=creation(ApiCall("ec2", "AssociateVpcCidrBlock", titled("vpcId", "cidrBlock"))),
    lookup=Lookup(
        described(
            "DescribeVpcs",
            "Vpcs[].CidrBlockAssociationSet",
            "AssociationId",
            states=States(
                "CidrBlockState.State", "associated", ("associating",), ("failed", "failing"), ("disassociating", "disassociated")
            ),
        ),
        "part",
        filters={"vpc-id": "vpcId"},
        matches={"VpcId": "vpcId", "CidrBlock": "cidrBlock"},
    ),
    tagging=Without(_NO_TAGS),
    deletion=deletion("DisassociateVpcCidrBlock", "AssociationId"),
    rights=rights("DescribeVpcs", "", "AssociateVpcCidrBlock DisassociateVpcCidrBlock"),
    costs=_FREE,
    leftover=Without("it is deleted with its VPC"),
)


def _make_subnet(draw: Draw, inputs: Inputs) -> Answer:
    subnet_id = f"subnet-{draw.hex()}"
    letter = "abcdef"[int(inputs["availabilityZoneId"][-1]) % 6]
    return subnet_id, {"arn": draw.arn("ec2", f"subnet/{subnet_id}"), "availabilityZone": draw.region + letter, "ownerId": draw.account}


_SUBNETS = described(
    "DescribeSubnets", "Subnets", "SubnetId", states=AVAILABLE, vpc="VpcId", vpc_filter="vpc-id", absent="InvalidSubnetID.NotFound"
)
SUBNET = ResourceType(
    "aws:ec2/subnet:Subnet",
    make=_make_subnet,
    latencies=Latencies(both(1, 2, 11, LOGS)),
    changes=Changes(replacing=("vpcId", "cidrBlock", "availabilityZoneId"), calls=("ModifySubnetAttribute",)),
    identity=by("vpcId", "cidrBlock"),
    creation=creation(ApiCall("ec2", "CreateSubnet", {**titled("vpcId", "availabilityZoneId", "cidrBlock"), **ec2_tags("subnet")})),
    lookup=by_tags(_SUBNETS, {"VpcId": "vpcId", "CidrBlock": "cidrBlock"}),
    tagging=TAGGING,
    deletion=deletion("DeleteSubnet", "SubnetId"),
    rights=rights("DescribeSubnets DescribeNetworkInterfaces", "CreateSubnet", "ModifySubnetAttribute DeleteSubnet"),
    costs=_FREE,
    leftover=Leftover("subnet", Stage.NETWORK, _SUBNETS, "tags or VPC"),
)

_INTERNET_GATEWAYS = described(
    "DescribeInternetGateways",
    "InternetGateways",
    "InternetGatewayId",
    vpc="Attachments[].VpcId",
    vpc_filter="attachment.vpc-id",
    absent="InvalidInternetGatewayID.NotFound",
)
INTERNET_GATEWAY = ResourceType(
    "aws:ec2/internetGateway:InternetGateway",
    make=with_arn("igw", "ec2", "internet-gateway"),
    latencies=Latencies(both(1, 2, 10, LOGS)),
    changes=Changes(replacing=(), calls=("AttachInternetGateway", "DetachInternetGateway")),
    identity=by_name_tag(),
    creation=creation(
        ApiCall("ec2", "CreateInternetGateway", ec2_tags("internet-gateway")),
        ApiCall("ec2", "AttachInternetGateway", titled("vpcId"), id_member="InternetGatewayId", needs="vpcId"),
    ),
    # It may not be attached yet: `up` does that after the import.
    lookup=by_tags(_INTERNET_GATEWAYS),
    tagging=TAGGING,
    deletion=deletion(
        "DeleteInternetGateway",
        "InternetGatewayId",
        steps=[Step("DetachInternetGateway", {"InternetGatewayId": "InternetGatewayId", "VpcId": "VpcId"}, each="Attachments")],
    ),
    rights=rights("DescribeInternetGateways", "CreateInternetGateway", "AttachInternetGateway DetachInternetGateway DeleteInternetGateway"),
    costs=_FREE,
    leftover=Leftover("internet gateway", Stage.NETWORK, _INTERNET_GATEWAYS, "tags or VPC"),
    second="another",
)


def _make_address(draw: Draw, inputs: Inputs) -> Answer:
    allocation = f"eipalloc-{draw.hex()}"
    return allocation, {
        "allocationId": allocation,
        "publicIp": f"198.51.100.{int(draw.hex(2), 16) % 254 + 1}",
        "arn": draw.arn("ec2", f"elastic-ip/{allocation}"),
    }


_ADDRESSES = described("DescribeAddresses", "Addresses", "AllocationId", absent="InvalidAllocationID.NotFound")
ADDRESS = ResourceType(
    "aws:ec2/eip:Eip",
    make=_make_address,
    latencies=Latencies(both(1, 2, 3, LOGS)),
    changes=Changes(replacing=("domain",)),
    identity=by_name_tag(),
    creation=creation(ApiCall("ec2", "AllocateAddress", {**titled("domain"), **ec2_tags("elastic-ip")})),
    lookup=by_tags(_ADDRESSES),
    tagging=TAGGING,
    deletion=deletion("ReleaseAddress", "AllocationId"),
    rights=rights("DescribeAddresses DescribeAddressesAttribute", "AllocateAddress", "DisassociateAddress ReleaseAddress"),
    costs=Listed("public IPv4 address", "public IPv4 address"),
    leftover=Leftover("address", Stage.IN_NETWORK, _ADDRESSES, usd_per_hour=lambda entry: hourly("public IPv4 address")),
    second="another",
)


def _make_nat_gateway(draw: Draw, inputs: Inputs) -> Answer:
    return f"nat-{draw.hex()}", {"networkInterfaceId": f"eni-{draw.hex(what='eni')}", "privateIp": "10.0.0.10"}


_NAT_GATEWAYS = described(
    "DescribeNatGateways",
    "NatGateways",
    "NatGatewayId",
    states=States("State", "available", ("pending",), ("failed",), ("deleting", "deleted")),
    vpc="VpcId",
    vpc_filter="vpc-id",
    filters="Filter",
    absent="NatGatewayNotFound",
)
NAT_GATEWAY = ResourceType(
    "aws:ec2/natGateway:NatGateway",
    make=_make_nat_gateway,
    latencies=Latencies(Lifetime(Latency(85, 105, 125, LOGS), Latency(37, 55, 79, LOGS))),
    changes=Changes(replacing=("allocationId", "subnetId")),
    identity=by("subnetId", "allocationId"),
    creation=creation(ApiCall("ec2", "CreateNatGateway", {**titled("subnetId", "allocationId"), **ec2_tags("natgateway")})),
    lookup=by_tags(_NAT_GATEWAYS, {"SubnetId": "subnetId", "NatGatewayAddresses[].AllocationId": "allocationId"}),
    tagging=TAGGING,
    deletion=deletion("DeleteNatGateway", "NatGatewayId"),
    rights=rights("DescribeNatGateways", "CreateNatGateway", "DeleteNatGateway"),
    costs=Listed("NAT gateway", "NAT gateway"),
    leftover=Leftover(
        "NAT gateway",
        Stage.IN_NETWORK,
        _NAT_GATEWAYS,
        "tags or VPC",
        # A deleted one stays listed for about an hour.
        only={"state": ("pending", "available", "deleting", "failed")},
        usd_per_hour=lambda entry: hourly("NAT gateway"),
    ),
    second="another",
)


def _is_main(entry: Entry) -> bool:
    """Of the main route table, which is deleted with its VPC."""
    return any(association.get("Main") for association in entry.get("Associations", ()))


_ROUTE_TABLES = described(
    "DescribeRouteTables", "RouteTables", "RouteTableId", vpc="VpcId", vpc_filter="vpc-id", absent="InvalidRouteTableID.NotFound"
)
ROUTE_TABLE = ResourceType(
    "aws:ec2/routeTable:RouteTable",
    make=with_arn("rtb", "ec2", "route-table"),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("vpcId",)),
    identity=by_name_tag("vpcId"),
    creation=creation(ApiCall("ec2", "CreateRouteTable", {**titled("vpcId"), **ec2_tags("route-table")})),
    lookup=by_tags(_ROUTE_TABLES, {"VpcId": "vpcId"}),
    tagging=TAGGING,
    deletion=deletion(
        "DeleteRouteTable",
        "RouteTableId",
        steps=[Step("DisassociateRouteTable", {"AssociationId": "RouteTableAssociationId"}, each="Associations")],
    ),
    rights=rights("DescribeRouteTables", "CreateRouteTable", "DisassociateRouteTable DeleteRouteTable"),
    costs=_FREE,
    leftover=Leftover("route table", Stage.NETWORK, _ROUTE_TABLES, "tags or VPC", leaves=_is_main),
    second="another",
)


def _make_route(draw: Draw, inputs: Inputs) -> Answer:
    return f"r-{inputs['routeTableId']}{int(draw.hex(8), 16) % 10**10:010d}", {"origin": "CreateRoute", "state": "active"}


ROUTE = ResourceType(
    "aws:ec2/route:Route",
    make=_make_route,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("routeTableId", "destinationCidrBlock"), calls=("ReplaceRoute",)),
    identity=by_all("routeTableId", "destinationCidrBlock"),
    creation=creation(ApiCall("ec2", "CreateRoute", titled("routeTableId", "destinationCidrBlock", "gatewayId", "natGatewayId"))),
    lookup=Lookup(
        described("DescribeRouteTables", "RouteTables[].Routes", "DestinationCidrBlock", states=States("State", "active")),
        "part",
        filters={"route-table-id": "routeTableId"},
        matches={"RouteTableId": "routeTableId", "DestinationCidrBlock": "destinationCidrBlock"},
        import_id="{routeTableId}_{destinationCidrBlock}",
    ),
    tagging=Without(_NO_TAGS),
    deletion=Deletion("ec2", "DeleteRoute", {"RouteTableId": "RouteTableId", "DestinationCidrBlock": "DestinationCidrBlock"}),
    rights=rights("DescribeRouteTables", "", "CreateRoute ReplaceRoute DeleteRoute"),
    costs=_FREE,
    leftover=Without("it is deleted with its route table"),
    conflict=Conflict(
        ("routeTableId", "destinationCidrBlock"), "RouteAlreadyExists", "The route identified by {destinationCidrBlock} already exists."
    ),
)

ROUTE_TABLE_ASSOCIATION = ResourceType(
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    make=only_id("rtbassoc"),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("subnetId",), calls=("ReplaceRouteTableAssociation",)),
    identity=by("subnetId"),
    creation=creation(ApiCall("ec2", "AssociateRouteTable", titled("subnetId", "routeTableId"))),
    lookup=Lookup(
        described(
            "DescribeRouteTables",
            "RouteTables[].Associations",
            "RouteTableAssociationId",
            states=States("AssociationState.State", "associated", ("associating",), ("failed",), ("disassociating", "disassociated")),
        ),
        "part",
        filters={"association.subnet-id": "subnetId"},
        matches={"RouteTableId": "routeTableId", "SubnetId": "subnetId"},
        import_id="{subnetId}/{routeTableId}",
    ),
    tagging=Without(_NO_TAGS),
    deletion=deletion("DisassociateRouteTable", "AssociationId", "RouteTableAssociationId"),
    rights=rights("DescribeRouteTables", "", "AssociateRouteTable ReplaceRouteTableAssociation DisassociateRouteTable"),
    costs=_FREE,
    leftover=Without("a sweep takes it apart before it deletes the route table"),
    conflict=Conflict((), "Resource.AlreadyAssociated"),  # EC2 API, AssociateRouteTable
)


def _make_endpoint(draw: Draw, inputs: Inputs) -> Answer:
    endpoint = f"vpce-{draw.hex()}"
    return endpoint, {"arn": draw.arn("ec2", f"vpc-endpoint/{endpoint}"), "state": "available", "ownerId": draw.account}


def _zones(inputs: Inputs) -> int:
    """An interface endpoint bills for each zone, a gateway endpoint not at all."""
    return len(inputs["subnetIds"]) if inputs["vpcEndpointType"] == "Interface" else 0


def _endpoint_usd(entry: Entry) -> float:
    return hourly("interface endpoint") * len(entry.get("SubnetIds", ())) if entry["VpcEndpointType"] == "Interface" else 0.0


_ENDPOINTS = described(
    "DescribeVpcEndpoints",
    "VpcEndpoints",
    "VpcEndpointId",
    states=States("State", "available", ("pending", "pendingAcceptance"), ("failed", "rejected", "expired"), ("deleting", "deleted")),
    vpc="VpcId",
    vpc_filter="vpc-id",
    absent="InvalidVpcEndpointId.NotFound",
)
ENDPOINT = ResourceType(
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    make=_make_endpoint,
    latencies=Latencies(Lifetime(Latency(5, 8, 60, "inferred: gateway 5-10 s, interface up to a minute"), Latency(5, 10, 60, "inferred"))),
    changes=Changes(replacing=("vpcId", "serviceName", "vpcEndpointType"), calls=("ModifyVpcEndpoint",)),
    identity=by("vpcId", "serviceName"),
    creation=creation(
        ApiCall(
            "ec2",
            "CreateVpcEndpoint",
            {
                **titled("vpcId", "serviceName", "vpcEndpointType", "privateDnsEnabled", "routeTableIds", "subnetIds", "securityGroupIds"),
                **ec2_tags("vpc-endpoint"),
            },
        )
    ),
    lookup=by_tags(_ENDPOINTS, {"VpcId": "vpcId", "ServiceName": "serviceName"}),
    tagging=TAGGING,
    deletion=deletion("DeleteVpcEndpoints", "VpcEndpointIds[]", "VpcEndpointId"),
    rights=rights("DescribeVpcEndpoints DescribePrefixLists", "CreateVpcEndpoint", "ModifyVpcEndpoint DeleteVpcEndpoints"),
    costs=Listed("interface endpoint", "endpoint for {serviceName} in {quantity} zones", _zones),
    leftover=Leftover("VPC endpoint", Stage.IN_NETWORK, _ENDPOINTS, "tags or VPC", usd_per_hour=_endpoint_usd),
)

TYPES = (
    ENDPOINT, NAT_GATEWAY, ADDRESS, SUBNET, ROUTE_TABLE, INTERNET_GATEWAY, VPC, POD_BLOCK, ROUTE, ROUTE_TABLE_ASSOCIATION,
)  # fmt: skip
