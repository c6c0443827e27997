"""What keeps nodes from mounting a file system of others is said before anything is made, each with its fix."""

from collections.abc import Callable
from typing import Any

import pytest

from facts.external import judge_file_system
from facts.external.asked import AskedOfNetwork
from facts.external.assumed import PRIVATE_TABLE, assumed_network
from facts.external.file_system import AskedOfFileSystem, ClientGroup, FileSystem, assumed_file_system
from facts.external.network import NetworkDescription, Route, RouteTable, Rule, SecurityGroup

NODES = {"usw2-az4": "subnet-1", "usw2-az1": "subnet-2"}
CLIENTS = "sg-clients"


def asked(**changes: Any) -> AskedOfFileSystem:
    """What a stack asks that trains in the first zone."""
    given: dict[str, Any] = {
        "region": "us-west-2",
        "id": "fs-1",
        "mount_name": "abc",
        "vpc_id": "vpc-1",
        "nodes": NODES,
        "efa_zones": ("usw2-az4",),
    }
    return AskedOfFileSystem(**{**given, **changes})


def network() -> NetworkDescription:
    """As the nodes need it."""
    return assumed_network(AskedOfNetwork(region="us-west-2", vpc_id="vpc-1", control_plane=NODES, nodes=NODES))


def with_route(found: NetworkDescription, *routes: Route) -> NetworkDescription:
    """More routes on the nodes' table."""
    table = found.route_tables[PRIVATE_TABLE]
    changed = RouteTable(main=True, routes=(*table.routes, *routes))
    return found.model_copy(update={"route_tables": {**found.route_tables, PRIVATE_TABLE: changed}})


def letting_in(*rules: Rule) -> dict[str, Any]:
    """A file system whose group has these rules."""
    return {"groups": {"sg-1": SecurityGroup(ingress=rules)}}


def opened(first: int, last: int, **who: Any) -> Rule:
    """A rule on TCP."""
    return Rule(protocol="tcp", first_port=first, last_port=last, **who)


ANYONE: dict[str, Any] = {"cidrs": ("10.0.0.0/8",)}
ELSEWHERE = {"vpc_id": "vpc-2", "addresses": ("10.9.0.5",)}
WITH_CLIENTS = {"client_group": CLIENTS}
THERE = {"client_group": ClientGroup(id=CLIENTS, vpc_id="vpc-1")}
BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "another region": ({}, {"region": "eu-west-1"}, "a file system described in eu-west-1"),
    "another file system": ({}, {"id": "fs-2"}, "not the file system described"),
    "no Lustre": ({}, {"type": "OPENZFS"}, "a file system of OPENZFS"),
    "deleted": ({}, {"state": "DELETING"}, "a file system that is DELETING"),
    "another mount name": ({}, {"mount_name": "xyz"}, "`storage.lustre.existing.mountName` is `abc`\n  allowed: xyz"),
    "a version that is too old": ({}, {"version": "2.10"}, "a file system of Lustre 2.10"),
    "closed to a subnet": ({}, letting_in(opened(988, 988, cidrs=("10.0.0.0/20",)), opened(1018, 1023, **ANYONE)), "the nodes of usw2-az1"),
    "half of the ports": ({}, letting_in(opened(988, 988, **ANYONE), opened(1019, 1023, **ANYONE)), "on TCP 988 and 1018-1023"),
    "UDP": ({}, letting_in(Rule(protocol="udp", first_port=0, last_port=65535, **ANYONE)), "does not let in"),
    "a group that is not the nodes'": ({}, letting_in(Rule(protocol="-1", groups=("sg-2",))), "does not let in"),
    "no group": ({}, {"groups": {}}, "no security group of the file system"),
    "clients that are not let in": (WITH_CLIENTS, {**THERE, **letting_in(Rule(protocol="-1", groups=("sg-2",)))}, f"from {CLIENTS}"),
    "clients that are not there": (WITH_CLIENTS, {"client_group": None}, "there is no such security group"),
    "clients of another VPC": (WITH_CLIENTS, {"client_group": ClientGroup(id=CLIENTS, vpc_id="vpc-2")}, "a security group of vpc-2"),
    "clients of another description": (
        WITH_CLIENTS,
        {"client_group": ClientGroup(id="sg-9", vpc_id="vpc-1")},
        "not the security group described",
    ),
    "another VPC without a way": ({}, ELSEWHERE, "a file system in vpc-2: no route leads there from subnet-1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_keeps_nodes_from_mounting_is_said(name: str):
    """With its key and a fix, in place of a pod that hangs in ContainerCreating."""
    question, changes, expected = BROKEN[name]
    wanted = asked(**question)
    found = assumed_file_system(wanted, network()).model_copy(update=changes)
    problems = judge_file_system.problems(found, network(), wanted)
    assert expected in "\n".join(str(problem) for problem in problems)
    assert all(problem.hint and problem.path.startswith(judge_file_system.PATH) for problem in problems)


FITTING: dict[str, tuple[dict[str, Any], Callable[[FileSystem], FileSystem], tuple[Route, ...]]] = {
    "as assumed": ({}, lambda found: found, ()),
    "with a group for clients": (WITH_CLIENTS, lambda found: found, ()),
    "all ports": ({}, lambda found: found.model_copy(update=letting_in(Rule(protocol="-1", **ANYONE))), ()),
    "peered": ({}, lambda found: found.model_copy(update=ELSEWHERE), (Route(destination="10.9.0.0/16", target="pcx-1"),)),
    "being enlarged": ({}, lambda found: found.model_copy(update={"state": "UPDATING"}), ()),
}


@pytest.mark.parametrize("name", FITTING)
def test_what_can_be_mounted_has_no_problem(name: str):
    """A check that refuses what works is switched off by its users."""
    question, change, routes = FITTING[name]
    wanted = asked(**question)
    found = change(assumed_file_system(wanted, network()))
    assert judge_file_system.problems(found, with_route(network(), *routes), wanted) == []


@pytest.mark.parametrize(
    "route", [Route(destination="10.9.0.0/16", target="pcx-1", active=False), Route(destination="10.9.0.0/24", target="nat-1")]
)
def test_a_route_that_leads_nowhere_is_no_way(route: Route):
    """The most exact route decides, and a gateway to the internet leads to no other VPC."""
    wanted = asked()
    found = assumed_file_system(wanted, network()).model_copy(update=ELSEWHERE)
    assert judge_file_system.problems(found, with_route(network(), route), wanted) != []


def test_what_costs_or_may_be_lost_is_noted():
    """Both work, and neither is to be found out by a bill or a loss."""
    found = assumed_file_system(asked(), network()).model_copy(update={"zone_id": "usw2-az1", "deployment_type": "SCRATCH_2"})
    dear, lost = judge_file_system.notes(found, asked())
    assert "traffic between them costs per GB" in dear
    assert "one copy of its data" in lost
    assert judge_file_system.notes(assumed_file_system(asked(), network()), asked()) == []
