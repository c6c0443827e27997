"""Subnets with their routes and endpoints, whether the program made them or others keep them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.account import kinds
from simulator.account.neighbours import Entry
from simulator.account.state import AccountState
from simulator.recording import Registration

EVERYWHERE = "0.0.0.0/0"
_HALVES = ("0.0.0.0/1", "128.0.0.0/1")
FREE = "availableIpAddressCount"
"""Output of a subnet that others keep: addresses that were free when it was described."""


def subnet(state: AccountState, subnet_id: str) -> Registration | None:
    """A subnet in the words of the program, whoever made it; None where there is none."""
    made = state.find(kinds.SUBNET, subnet_id)
    if made is not None:
        return made.registration
    entry = state.others.get("subnet", {}).get(subnet_id)
    if entry is None or "CidrBlock" not in entry:
        return None
    inputs = {
        "vpcId": entry["VpcId"],
        "cidrBlock": entry["CidrBlock"],
        "availabilityZoneId": entry.get("AvailabilityZoneId", ""),
        "mapPublicIpOnLaunch": entry.get("MapPublicIpOnLaunch", False),
    }
    outputs = {FREE: entry["AvailableIpAddressCount"]} if "AvailableIpAddressCount" in entry else {}
    return Registration("", kinds.SUBNET, subnet_id, True, False, "", inputs, id=subnet_id, outputs=outputs)


@dataclass(frozen=True)
class DefaultRoute:
    """Where a subnet's traffic to everywhere goes."""

    gateway: str = ""
    """Internet gateway, where it is one."""
    other: str = ""
    """A NAT gateway, or what others route to in its place: a transit gateway, a firewall."""


def default_routes(state: AccountState, place: Registration) -> list[DefaultRoute]:
    """Routes of a subnet to everywhere."""
    tables = {item.inputs["routeTableId"] for item in state.ready(kinds.ROUTE_TABLE_ASSOCIATION) if item.inputs["subnetId"] == place.id}
    own = [
        DefaultRoute(str(item.inputs.get("gatewayId") or ""), str(item.inputs.get("natGatewayId") or ""))
        for item in state.ready(kinds.ROUTE)
        if item.inputs["routeTableId"] in tables and item.inputs.get("destinationCidrBlock") == EVERYWHERE
    ]
    return [*own, *_routes_of_others(state, place)]


def _routes_of_others(state: AccountState, place: Registration) -> list[DefaultRoute]:
    table = _table_of(state, place) or {}
    found: list[DefaultRoute] = []
    for route in _to_everywhere(table.get("Routes", ())):
        if route.get("State") == "blackhole":
            continue
        gateway = str(route.get("GatewayId") or "")
        others = [str(value) for key, value in route.items() if key.endswith("Id") and key not in ("GatewayId", "DestinationPrefixListId")]
        usable = [which for which in others if not which.startswith("nat-") or _nat_works(state, which)]
        if gateway.startswith("igw-"):
            found.append(DefaultRoute(gateway=gateway))
        elif gateway or usable:
            found.append(DefaultRoute(other=gateway or usable[0]))
    return found


def _to_everywhere(routes: Sequence[Entry]) -> list[Entry]:
    """Routes to everywhere; two of a half each hide one to everywhere, since the longer prefix wins, and none works where one of them does not."""
    halves = [route for route in routes if route.get("DestinationCidrBlock") in _HALVES]
    if {route["DestinationCidrBlock"] for route in halves} == set(_HALVES):
        return sorted(halves, key=lambda route: route.get("State") != "blackhole")[:1]
    return [route for route in routes if route.get("DestinationCidrBlock") == EVERYWHERE]


def _nat_works(state: AccountState, which: str) -> bool:
    return state.others.get("nat", {}).get(which, {}).get("State") == "available"


def _table_of(state: AccountState, place: Registration) -> Entry | None:
    """The route table of others that serves a subnet: its own, or the main one of the VPC."""
    tables = [entry for entry in state.others.get("route table", {}).values() if entry.get("VpcId") == place.inputs["vpcId"]]
    links: list[tuple[Entry, Mapping[str, Any]]] = [(table, link) for table in tables for link in table.get("Associations", ())]
    own = next((table for table, link in links if link.get("SubnetId") == place.id), None)
    return own or next((table for table, link in links if link.get("Main")), None)


def endpoint_services(state: AccountState, place: Registration) -> set[str]:
    """Services that an endpoint of the VPC reaches from a subnet, by the names of their endpoints."""
    vpc_id = place.inputs["vpcId"]
    own = {str(item.inputs["serviceName"]) for item in state.ready(kinds.ENDPOINT) if item.inputs["vpcId"] == vpc_id}
    table = (_table_of(state, place) or {}).get("RouteTableId")
    others = {
        str(entry["ServiceName"])
        for entry in state.others.get("endpoint", {}).values()
        if entry.get("VpcId") == vpc_id and str(entry.get("State", "")).lower() == "available" and _serves(entry, table)
    }
    return {name.split(".", 3)[-1] for name in own | others}


def _serves(entry: Entry, table: str | None) -> bool:
    if "ServiceName" not in entry:
        return False
    return table in entry.get("RouteTableIds", ()) if entry.get("VpcEndpointType") == "Gateway" else bool(entry.get("PrivateDnsEnabled"))
