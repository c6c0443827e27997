"""Which services of AWS pods and nodes reach from a subnet."""

from simulator.account import places
from simulator.account.state import AccountState
from simulator.recording import Registration


def without_public_address(state: AccountState, subnet: Registration) -> bool:
    """Whether the subnet's way leads to the internet gateway, which passes on nothing from private addresses."""
    return any(route.gateway for route in places.default_routes(state, subnet)) and not subnet.inputs.get("mapPublicIpOnLaunch")


def unreached(state: AccountState, subnet: Registration, services: tuple[str, ...]) -> list[str]:
    """Those of the services, by the names of their endpoints, that nothing in the subnet reaches: neither NAT nor an endpoint leads there."""
    routes = places.default_routes(state, subnet)
    if any(route.other for route in routes):
        return []
    if any(route.gateway for route in routes) and not without_public_address(state, subnet):
        return []
    there = places.endpoint_services(state, subnet)
    return [service for service in services if service not in there]
