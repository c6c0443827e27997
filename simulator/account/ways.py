"""Which services of AWS pods and nodes reach from a subnet."""

from simulator.account import kinds
from simulator.account.state import AccountState
from simulator.recording import Registration


def without_public_address(state: AccountState, subnet: Registration) -> bool:
    """Whether the subnet's way leads to the internet gateway, which passes on nothing from private addresses."""
    return any(route.get("gatewayId") for route in _default_routes(state, subnet)) and not subnet.inputs.get("mapPublicIpOnLaunch")


def unreached(state: AccountState, subnet: Registration, services: tuple[str, ...]) -> list[str]:
    """Those of the services, by the names of their endpoints, that nothing in the subnet reaches: neither NAT nor an endpoint leads there."""
    routes = _default_routes(state, subnet)
    if any(route.get("natGatewayId") for route in routes):
        return []
    if any(route.get("gatewayId") for route in routes) and not without_public_address(state, subnet):
        return []
    there = {
        str(item.inputs["serviceName"]).split(".", 3)[-1]
        for item in state.ready(kinds.ENDPOINT)
        if item.inputs["vpcId"] == subnet.inputs["vpcId"]
    }
    return [service for service in services if service not in there]


def _default_routes(state: AccountState, subnet: Registration) -> list[dict[str, object]]:
    tables = {item.inputs["routeTableId"] for item in state.ready(kinds.ROUTE_TABLE_ASSOCIATION) if item.inputs["subnetId"] == subnet.id}
    return [
        dict(item.inputs)
        for item in state.ready(kinds.ROUTE)
        if item.inputs["routeTableId"] in tables and item.inputs.get("destinationCidrBlock") == "0.0.0.0/0"
    ]
