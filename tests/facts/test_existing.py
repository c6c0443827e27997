"""What is wrong with a network for a stack is said before anything is made in it, each with its fix."""

from collections.abc import Callable
from typing import Any

import pytest

from facts.existing import judge
from facts.existing.asked import AskedOfNetwork
from facts.existing.assumed import ENDPOINT_GROUP, NAT, NAT_SUBNET, PRIVATE_TABLE, assumed_network
from facts.existing.network import ANYWHERE, Endpoint, NetworkDescription, Route, RouteTable, Rule, SecurityGroup
from facts.existing.subnet_tags import subnet_tags

NODES = {"usw2-az4": "subnet-1", "usw2-az1": "subnet-2"}
PLANE = {"usw2-az4": "subnet-3", "usw2-az1": "subnet-4"}
PUBLIC = {"usw2-az4": "subnet-5", "usw2-az1": "subnet-6"}


def asked(**changes: Any) -> AskedOfNetwork:
    """What a stack asks: EFA nodes in the first zone, load balancers that face the internet."""
    given: dict[str, Any] = {
        "region": "us-west-2",
        "vpc_id": "vpc-1",
        "control_plane": PLANE,
        "nodes": NODES,
        "load_balancers": PUBLIC,
        "services": {"ecr.api": "nodes", "s3": "nodes", "fsx": "FSx CSI driver"},
        "addresses": {"subnet-1": 100, "subnet-3": 16},
        "several_interfaces": frozenset({"subnet-1"}),
        "tags": subnet_tags(PUBLIC.values(), (), (), "train", karpenter=False),
    }
    return AskedOfNetwork(**{**given, **changes})


def with_route(network: NetworkDescription, **route: Any) -> NetworkDescription:
    """The nodes' route to everywhere changed; None as its target removes it."""
    routes = (Route(destination=ANYWHERE, **route),) if route else ()
    return network.model_copy(update={"route_tables": {**network.route_tables, PRIVATE_TABLE: RouteTable(main=True, routes=routes)}})


def changed_subnet(network: NetworkDescription, which: str, **keys: Any) -> NetworkDescription:
    """One subnet changed."""
    return network.model_copy(update={"subnets": {**network.subnets, which: network.subnets[which].model_copy(update=keys)}})


def changed_endpoints(network: NetworkDescription, **keys: Any) -> NetworkDescription:
    """Every interface endpoint changed."""
    changed = {which: each.model_copy(update=keys) if each.type == "Interface" else each for which, each in network.endpoints.items()}
    return network.model_copy(update={"endpoints": changed})


def changed_nat(network: NetworkDescription, **keys: Any) -> NetworkDescription:
    """The NAT gateway changed."""
    return network.model_copy(update={"nat_gateways": {NAT: network.nat_gateways[NAT].model_copy(update=keys)}})


def without_gateway(network: NetworkDescription) -> NetworkDescription:
    """No gateway endpoint for S3 on any table."""
    left = {which: each for which, each in network.endpoints.items() if each.type != "Gateway"}
    return network.model_copy(update={"endpoints": left})


def closed(network: NetworkDescription) -> NetworkDescription:
    """An endpoint of a service that is called takes its name, and its group lets another block in."""
    rule = Rule(protocol="tcp", first_port=443, last_port=443, cidrs=("192.168.0.0/24",))
    return network.model_copy(
        update={
            "endpoints": {"vpce-1": Endpoint(service="ecr.api", type="Interface", private_dns=True, groups=(ENDPOINT_GROUP,))},
            "security_groups": {ENDPOINT_GROUP: SecurityGroup(ingress=(rule,))},
        }
    )


Change = Callable[[NetworkDescription], NetworkDescription]
ISOLATED = {"is_isolated": True}
BROKEN: dict[str, tuple[dict[str, Any], Change, str]] = {
    "another region": ({}, lambda n: n.model_copy(update={"region": "eu-west-1"}), "not the region of the network described"),
    "another VPC": ({}, lambda n: n.model_copy(update={"vpc_id": "vpc-2"}), "not the VPC described, `network.existing.vpcId` is `vpc-1`"),
    "a subnet that is not there": (
        {},
        lambda n: n.model_copy(update={"subnets": {k: v for k, v in n.subnets.items() if k != "subnet-2"}}),
        "no subnet of vpc-1, `network.existing.nodes.usw2-az1` is `subnet-2`",
    ),
    "a subnet of another zone": ({}, lambda n: changed_subnet(n, "subnet-1", zone_id="usw2-az2"), "a subnet in usw2-az2"),
    "no names": ({}, lambda n: n.model_copy(update={"dns_hostnames": False}), "without enable-dns-hostnames"),
    "no resolver": ({}, lambda n: n.model_copy(update={"dns_support": False}), "without enable-dns-support"),
    "no block for services": ({}, lambda n: n.model_copy(update={"cidrs": ("10.100.0.0/16", "172.20.0.0/20")}), "overlaps both blocks"),
    "a black hole": ({}, lambda n: with_route(n, target=NAT, active=False), f"leads to {NAT}, which is gone"),
    "a NAT gateway that failed": ({}, lambda n: changed_nat(n, state="failed"), f"leads to {NAT}, which is failed"),
    "a NAT gateway in a private subnet": (
        {},
        lambda n: changed_subnet(n, NAT_SUBNET, route_table=""),
        "has no route to an internet gateway",
    ),
    "EFA nodes in a public subnet": (
        {},
        lambda n: changed_subnet(with_route(n, target="igw-1"), "subnet-1", public_addresses=True),
        "nodes with several network interfaces get no public address, `network.existing.nodes.usw2-az4`",
    ),
    "a public subnet without public addresses": ({}, lambda n: with_route(n, target="igw-1"), "and nodes get no public address"),
    "no way at all": ({}, with_route, "a subnet without a way to ecr.api (called by nodes); fsx (called by FSx CSI driver)"),
    "an endpoint too few": (
        ISOLATED,
        lambda n: n.model_copy(update={"endpoints": {k: v for k, v in n.endpoints.items() if v.service != "fsx"}}),
        "a subnet without a way to fsx (called by FSx CSI driver)",
    ),
    "S3 on another table": (ISOLATED, without_gateway, "and a gateway endpoint for s3 on rtb-0a55ed"),
    "an endpoint that is not ready": (
        ISOLATED,
        lambda n: changed_endpoints(n, state="pendingacceptance"),
        "a subnet without a way to ecr.api",
    ),
    "an endpoint without the service's name": (ISOLATED, lambda n: changed_endpoints(n, private_dns=False), "has no private DNS name"),
    "a service without an endpoint": (
        {"services": {"iam": "Karpenter"}},
        with_route,
        "no endpoint of the region reaches iam (called by Karpenter)",
    ),
    "an endpoint that lets no node in": ({}, closed, "takes all calls to ecr.api, and sg-0a55ed does not let 10.0."),
    "too few addresses": (
        {},
        lambda n: changed_subnet(n, "subnet-1", free_addresses=99),
        "99 free addresses, where the stack can grow to take 100",
    ),
    "a load balancer without internet": (
        {},
        lambda n: changed_subnet(n, "subnet-5", route_table=""),
        "without a route to an internet gateway",
    ),
    "a tag of another owner": (
        {"sets_tags": True},
        lambda n: changed_subnet(n, "subnet-5", tags={"kubernetes.io/role/elb": "1"}),
        "has the tag kubernetes.io/role/elb=1 already, which a destroy of this stack would delete",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_does_not_fit_is_said_with_key_value_and_fix(case: str):
    """On AWS each of these shows twenty minutes into an up, as nodes that never join."""
    keys, change, expected = BROKEN[case]
    wanted = asked(**keys)
    found = judge.problems(change(assumed_network(wanted)), wanted)
    assert expected in "\n".join(map(str, found))
    assert all(problem.hint or problem.allowed for problem in found)


@pytest.mark.parametrize("keys", [{}, ISOLATED, {"sets_tags": True}, {"control_plane": NODES, "addresses": {"subnet-1": 100}}])
def test_what_is_assumed_of_a_network_fits(keys: dict[str, Any]):
    """A rehearsal without a description comes up in it; nothing of it is worth a word."""
    wanted = asked(**keys)
    assert judge.problems(assumed_network(wanted), wanted) == []
    assert judge.notes(assumed_network(wanted), wanted) == []


FINE: dict[str, Change] = {
    "a transit gateway": lambda n: with_route(n, target="tgw-1"),
    "an appliance": lambda n: with_route(n, target="eni-1"),
    "endpoints in place of a gateway": lambda n: n.model_copy(update={"endpoints": assumed_network(asked(**ISOLATED)).endpoints}),
    "a subnet with a table of its own": lambda n: changed_subnet(n, "subnet-1", route_table=PRIVATE_TABLE),
}


@pytest.mark.parametrize("case", FINE)
def test_other_ways_that_companies_have_fit_too(case: str):
    """What is beyond a transit gateway is not seen; it is said, and no reason to refuse."""
    assert judge.problems(FINE[case](assumed_network(asked())), asked()) == []


def test_a_cluster_that_is_up_has_taken_its_addresses_and_its_tags():
    """A check of a running cluster would else find its own nodes in its way."""
    tagged = changed_subnet(assumed_network(asked()), "subnet-5", tags={"kubernetes.io/role/elb": "1"}, free_addresses=0)
    full = changed_subnet(tagged, "subnet-1", free_addresses=0)
    assert judge.problems(full, asked(sets_tags=True, is_up=True)) == []


def test_what_works_and_should_be_known_is_noted():
    """Data over a NAT gateway costs by the gigabyte; a tag that is absent hides a subnet from its controller."""
    network = without_gateway(with_route(changed_subnet(assumed_network(asked()), "subnet-5", tags={}), target="tgw-1"))
    said = " ".join(judge.notes(network, asked()))
    assert "no gateway endpoint for S3 on rtb-0a55ed" in said
    assert "leads to tgw-1, and what that lets through is not known" in said
    assert "aws ec2 create-tags --resources subnet-5 --tags Key=kubernetes.io/role/elb,Value=1" in said
    assert "takes subnets in two zones" in " ".join(judge.notes(network, asked(load_balancers={"usw2-az4": "subnet-5"})))


def test_the_discovery_tag_is_for_karpenter_alone():
    """It holds one cluster's name: without Karpenter it would only keep another cluster from having it."""
    keys = {tag.key for tag in subnet_tags(["subnet-5"], ["subnet-3"], ["subnet-1"], "train", karpenter=False)}
    assert keys == {"kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"}
    (tag,) = subnet_tags([], [], ["subnet-1"], "train", karpenter=True)
    assert (tag.key, tag.value) == ("karpenter.sh/discovery", "train")
