"""A network in which a stack comes up: for a rehearsal that was given no description of the real one."""

from ipaddress import IPv4Network
from itertools import count

from facts.cidr import usable_addresses
from facts.external.asked import AskedOfNetwork
from facts.external.judge import is_reached
from facts.external.network import ANYWHERE, Endpoint, NatGateway, NetworkDescription, Route, RouteTable, Rule, SecurityGroup, Subnet

BLOCK, SUBNET_PREFIX = "10.0.0.0/16", 20
GATEWAY, NAT, ENDPOINT_GROUP = "igw-0a55ed", "nat-0a55ed", "sg-0a55ed"
PRIVATE_TABLE, PUBLIC_TABLE, NAT_SUBNET = "rtb-0a55ed", "rtb-0a55ed1", "subnet-0a55ed"


def assumed_network(asked: AskedOfNetwork) -> NetworkDescription:
    """All that is asked: a NAT gateway, or where the stack says that there is none an endpoint for each service; free addresses."""
    public = set(asked.load_balancers.values()) - set(asked.nodes.values())
    zones = {subnet_id: zone_id for _, zone_id, subnet_id in asked.places()}
    blocks = (str(block) for block in IPv4Network(BLOCK).subnets(new_prefix=SUBNET_PREFIX))
    subnets = {
        subnet_id: _subnet(asked, subnet_id, zone_id, next(blocks), public=subnet_id in public) for subnet_id, zone_id in zones.items()
    }
    way_out = (Route(destination=ANYWHERE, target=NAT),) if not asked.is_isolated else ()
    tables = {
        PRIVATE_TABLE: RouteTable(main=True, routes=way_out),
        PUBLIC_TABLE: RouteTable(routes=(Route(destination=ANYWHERE, target=GATEWAY),)),
    }
    nats: dict[str, NatGateway] = {}
    if not asked.is_isolated:
        first = next(iter(asked.nodes))
        subnets[NAT_SUBNET] = Subnet(zone_id=first, cidr=next(blocks), free_addresses=16, route_table=PUBLIC_TABLE)
        nats[NAT] = NatGateway(subnet=NAT_SUBNET)
    return NetworkDescription(
        region=asked.region,
        vpc_id=asked.vpc_id,
        cidrs=(BLOCK,),
        subnets=subnets,
        route_tables=tables,
        nat_gateways=nats,
        endpoints=_endpoints(asked),
        security_groups={ENDPOINT_GROUP: SecurityGroup(ingress=(Rule(protocol="tcp", first_port=443, last_port=443, cidrs=(BLOCK,)),))},
    )


def with_unseen(network: NetworkDescription, asked: AskedOfNetwork) -> NetworkDescription:
    """A shared network with what only its owner sees, as the stack needs it; another network as it is.

    NAT gateways that routes lead to, and endpoints for what subnets without a default route call.
    """
    if not network.owner:
        return network
    targets = {route.target for table in network.route_tables.values() for route in table.routes if route.active}
    unseen = sorted(target for target in targets - network.nat_gateways.keys() if target.startswith("nat-"))
    shut = [which for which in asked.nodes.values() if network.default_route(which) is None]
    called = asked.services if shut else ()
    endpoints = {
        f"vpce-0a55ed{number}": _gateway_endpoint(network)
        if service == "s3"
        else Endpoint(service=service, type="Interface", private_dns=True)
        for number, service in enumerate(sorted(called))
        if not all(is_reached(network, which, service) for which in shut)
    }
    # Its subnet is the owner's and not shared.
    gateways = dict.fromkeys(unseen, NatGateway(subnet=NAT_SUBNET))
    return network.model_copy(
        update={"nat_gateways": {**network.nat_gateways, **gateways}, "endpoints": {**network.endpoints, **endpoints}}
    )


def _gateway_endpoint(network: NetworkDescription) -> Endpoint:
    return Endpoint(service="s3", type="Gateway", route_tables=tuple(network.route_tables))


def _subnet(asked: AskedOfNetwork, subnet_id: str, zone_id: str, cidr: str, *, public: bool) -> Subnet:
    free = max(usable_addresses(cidr), asked.addresses.get(subnet_id, 0))
    tags = {} if asked.sets_tags else {tag.key: tag.value for tag in asked.tags if tag.subnet_id == subnet_id}
    table = PUBLIC_TABLE if public else PRIVATE_TABLE
    return Subnet(zone_id=zone_id, cidr=cidr, free_addresses=free, route_table=table, tags=tags)


def _endpoints(asked: AskedOfNetwork) -> dict[str, Endpoint]:
    found = {"vpce-0a55ed": Endpoint(service="s3", type="Gateway", route_tables=(PRIVATE_TABLE,))}
    numbers = count(1)
    for service in sorted(asked.services.keys() - {"s3"}) if asked.is_isolated else ():
        place = tuple(asked.nodes.values())
        found[f"vpce-0a55ed{next(numbers)}"] = Endpoint(
            service=service, type="Interface", private_dns=True, subnets=place, groups=(ENDPOINT_GROUP,)
        )
    return found
