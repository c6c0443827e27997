"""A network that others keep, put into the account as AWS describes it: neighbours that the program uses and never makes."""

from collections.abc import Iterable, Iterator

from facts.external.network import Endpoint, NetworkDescription, Route, Rule, Subnet
from simulator.account.neighbours import Entry
from simulator.account.state import AccountState

_TARGETS = {
    "nat-": "NatGatewayId", "igw-": "GatewayId", "vgw-": "GatewayId", "vpce-": "GatewayId", "tgw-": "TransitGatewayId", "eni-": "NetworkInterfaceId",
    "pcx-": "VpcPeeringConnectionId", "lgw-": "LocalGatewayId", "cagw-": "CarrierGatewayId", "i-": "InstanceId",
}  # fmt: skip
"""What the id of a route's target begins with, to where EC2 shows it (EC2 API, Route)."""


def put_network(state: AccountState, network: NetworkDescription) -> None:
    """Put a network and all in it into the account; what is there under its ids is replaced."""
    for kind, which, entry in _entries(network):
        state.others.setdefault(kind, {})[which] = entry


def _entries(network: NetworkDescription) -> Iterator[tuple[str, str, Entry]]:
    blocks = [
        {"AssociationId": f"{network.vpc_id}-{index}", "CidrBlock": block, "CidrBlockState": {"State": "associated"}}
        for index, block in enumerate(network.cidrs)
    ]
    switches = {"EnableDnsSupport": network.dns_support, "EnableDnsHostnames": network.dns_hostnames}
    plain = {"VpcId": network.vpc_id, "CidrBlock": network.cidrs[0], "State": "available", "IsDefault": False}
    options = {"DhcpOptionsId": network.vpc_id.replace("vpc-", "dopt-"), "NameServers": list(network.name_servers)}
    owner = {"OwnerId": network.owner} if network.owner else {}
    yield "vpc", network.vpc_id, {**plain, **owner, "CidrBlockAssociationSet": blocks, "Tags": [], **switches, **options}
    for which, subnet in network.subnets.items():
        yield "subnet", which, _subnet(network, which, subnet)
    for which, table in network.route_tables.items():
        served = [subnet_id for subnet_id, subnet in network.subnets.items() if subnet.route_table == which]
        links = [
            {"RouteTableAssociationId": f"rtbassoc-{subnet_id}", "RouteTableId": which, "SubnetId": subnet_id, "Main": False}
            for subnet_id in served
        ]
        main = [{"RouteTableAssociationId": f"rtbassoc-{which}", "RouteTableId": which, "Main": True}] if table.main else []
        routes = [_route(route) for route in table.routes]
        yield (
            "route table",
            which,
            {"RouteTableId": which, "VpcId": network.vpc_id, "Routes": routes, "Associations": [*main, *links], "Tags": []},
        )
    for which in sorted(
        {route.target for table in network.route_tables.values() for route in table.routes if route.target.startswith("igw-")}
    ):
        attached = [{"VpcId": network.vpc_id, "State": "available"}]
        yield "internet gateway", which, {"InternetGatewayId": which, "Attachments": attached, "Tags": []}
    for which, gateway in network.nat_gateways.items():
        kind = "public" if gateway.public else "private"
        place = {"VpcId": network.vpc_id, "SubnetId": gateway.subnet}
        yield (
            "nat",
            which,
            {"NatGatewayId": which, **place, "State": gateway.state, "ConnectivityType": kind, "NatGatewayAddresses": [], "Tags": []},
        )
    for which, endpoint in network.endpoints.items():
        yield "endpoint", which, _endpoint(network, which, endpoint)
    for which, group in network.security_groups.items():
        yield "group", which, group_entry(which, network.vpc_id, group.ingress)


def group_entry(which: str, vpc_id: str, ingress: Iterable[Rule]) -> Entry:
    """A security group of others as EC2 describes it."""
    rules = [_permission(rule) for rule in ingress]
    plain = {"GroupId": which, "GroupName": which, "Description": which, "VpcId": vpc_id}
    return {**plain, "IpPermissions": rules, "IpPermissionsEgress": [], "Tags": []}


def _subnet(network: NetworkDescription, which: str, subnet: Subnet) -> Entry:
    tags = [{"Key": key, "Value": value} for key, value in subnet.tags.items()]
    place = {"VpcId": network.vpc_id, "AvailabilityZoneId": subnet.zone_id, "State": "available"}
    place |= {"CidrBlock": subnet.cidr} if subnet.cidr is not None else {}
    room = {"AvailableIpAddressCount": subnet.free_addresses, "MapPublicIpOnLaunch": subnet.public_addresses}
    return {"SubnetId": which, **place, **room, "Tags": tags}


def _route(route: Route) -> Entry:
    destination = "DestinationPrefixListId" if route.destination.startswith("pl-") else "DestinationCidrBlock"
    key = next((key for prefix, key in _TARGETS.items() if route.target.startswith(prefix)), "GatewayId")
    return {destination: route.destination, key: route.target, "State": "active" if route.active else "blackhole"}


def _endpoint(network: NetworkDescription, which: str, endpoint: Endpoint) -> Entry:
    return {
        "VpcEndpointId": which,
        "VpcEndpointType": endpoint.type,
        "VpcId": network.vpc_id,
        "ServiceName": f"com.amazonaws.{network.region}.{endpoint.service}",
        "State": endpoint.state,
        "PrivateDnsEnabled": endpoint.private_dns,
        "SubnetIds": list(endpoint.subnets),
        "RouteTableIds": list(endpoint.route_tables),
        "Groups": [{"GroupId": group} for group in endpoint.groups],
        "Tags": [],
    }


def _permission(rule: Rule) -> Entry:
    ports = {"FromPort": rule.first_port, "ToPort": rule.last_port} if rule.first_port >= 0 else {}
    blocks = [{"CidrIp": cidr} for cidr in rule.cidrs]
    pairs, lists = [{"GroupId": group} for group in rule.groups], [{"PrefixListId": each} for each in rule.prefix_lists]
    return {"IpProtocol": rule.protocol, **ports, "IpRanges": blocks, "UserIdGroupPairs": pairs, "PrefixListIds": lists}
