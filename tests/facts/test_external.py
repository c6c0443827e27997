"""What is wrong with a network for a stack is said before anything is made in it, each with its fix."""

from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

import pytest

from facts.external import judge
from facts.external.asked import AskedOfNetwork
from facts.external.assumed import ENDPOINT_GROUP, GATEWAY, NAT, NAT_SUBNET, PRIVATE_TABLE, PUBLIC_TABLE, assumed_network
from facts.external.ingress import lets_in
from facts.external.network import ANYWHERE, Endpoint, NetworkDescription, Route, RouteTable, Rule, SecurityGroup
from facts.external.subnet_tags import subnet_tags

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


def with_route(network: NetworkDescription, *, table: str = PRIVATE_TABLE, **route: Any) -> NetworkDescription:
    """The route of a table to everywhere changed, the nodes' unless another is named; without a target it is removed."""
    routes = (Route(destination=ANYWHERE, **route),) if route else ()
    changed = RouteTable(main=table == PRIVATE_TABLE, routes=routes)
    return network.model_copy(update={"route_tables": {**network.route_tables, table: changed}})


def with_halves(network: NetworkDescription, *, active: bool = True, lower: str = "0.0.0.0/1") -> NetworkDescription:
    """The nodes' way out in two routes of half of all addresses each, beside a route to everywhere that they hide."""
    routes = (
        Route(destination=ANYWHERE, target="nat-gone"),
        Route(destination=lower, target="tgw-1"),
        Route(destination="128.0.0.0/1", target="vgw-1", active=active),
    )
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


def gateway_on(network: NetworkDescription, *tables: str) -> NetworkDescription:
    """The gateway endpoint for S3 on these route tables."""
    moved = {
        which: each.model_copy(update={"route_tables": tables}) if each.type == "Gateway" else each
        for which, each in network.endpoints.items()
    }
    return network.model_copy(update={"endpoints": moved})


def closed(network: NetworkDescription, *cidrs: str, port: int = 443, lists: tuple[str, ...] = ()) -> NetworkDescription:
    """An endpoint of a service that is called takes its name, and its group lets only these blocks in, a rule for each."""
    rules = tuple(
        Rule(protocol="tcp", first_port=port, last_port=port, cidrs=(cidr,), prefix_lists=lists) for cidr in cidrs or ("192.168.0.0/24",)
    )
    return network.model_copy(
        update={
            "endpoints": {"vpce-1": Endpoint(service="ecr.api", type="Interface", private_dns=True, groups=(ENDPOINT_GROUP,))},
            "security_groups": {ENDPOINT_GROUP: SecurityGroup(ingress=rules)},
        }
    )


def with_endpoints(network: NetworkDescription, **endpoints: Endpoint) -> NetworkDescription:
    """Further endpoints beside those that are there."""
    return network.model_copy(update={"endpoints": {**network.endpoints, **endpoints}})


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
    "no S3 at all": (ISOLATED, without_gateway, "and a gateway endpoint for s3 on rtb-0a55ed"),
    "S3 on another table": (ISOLATED, lambda n: gateway_on(n, "rtb-other"), "and a gateway endpoint for s3 on rtb-0a55ed"),
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
    "an endpoint that lets no node in": ({}, lambda n: closed(n), "takes all calls to ecr.api, and sg-0a55ed does not let 10.0."),
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
    "a subnet of IPv6 alone": ({}, lambda n: changed_subnet(n, "subnet-1", cidr=None), "a subnet of IPv6 alone"),
    "a NAT gateway that is not there": (
        {},
        lambda n: n.model_copy(update={"nat_gateways": {}}),
        f"leads to {NAT}, which is not in the VPC",
    ),
    "a NAT gateway whose internet gateway is gone": (
        {},
        lambda n: with_route(n, table=PUBLIC_TABLE, target=GATEWAY, active=False),
        "has no route to an internet gateway",
    ),
    "a load balancer whose internet gateway is gone": (
        {},
        lambda n: with_route(n, table=PUBLIC_TABLE, target=GATEWAY, active=False),
        "a subnet without a route to an internet gateway",
    ),
    "half of the way is gone": ({}, lambda n: with_halves(n, active=False), "leads to vgw-1, which is gone"),
    "an endpoint that lets half of the nodes in": (
        {},
        lambda n: closed(n, "10.0.32.0/21", "10.0.48.0/20"),
        "takes all calls to ecr.api, and sg-0a55ed does not let 10.0.32.0/20 in",
    ),
    "an endpoint that lets nodes in elsewhere": (
        {},
        lambda n: closed(n, "10.0.0.0/16", port=80),
        "does not let 10.0.32.0/20 in on port 443",
    ),
    "a subnet of the control plane without addresses": (
        {},
        lambda n: changed_subnet(n, "subnet-3", free_addresses=15),
        "15 free addresses, where the stack can grow to take 16, `network.existing.controlPlane.usw2-az4`",
    ),
    "an endpoint on another route table": (
        ISOLATED,
        lambda n: changed_subnet(
            n.model_copy(update={"route_tables": {**n.route_tables, "rtb-9": RouteTable()}}), "subnet-1", route_table="rtb-9"
        ),
        "and a gateway endpoint for s3 on rtb-9",
    ),
    "an endpoint without the service's name, and no other way": (
        {},
        lambda n: with_route(with_endpoints(n, vpce=Endpoint(service="ecr.api", type="Interface"))),
        "a subnet without a way to ecr.api",
    ),
    "an endpoint of another kind": (
        {},
        lambda n: with_route(with_endpoints(n, vpce=Endpoint(service="ecr.api", type="GatewayLoadBalancer", private_dns=True))),
        "a subnet without a way to ecr.api",
    ),
    "an interface endpoint with the table of a gateway's": (
        {"services": {"s3": "nodes"}},
        lambda n: with_route(
            n.model_copy(update={"endpoints": {"v": Endpoint(service="s3", type="Interface", route_tables=(PRIVATE_TABLE,))}})
        ),
        "a subnet without a way to s3",
    ),
    "a tag of another cluster": (
        {"tags": subnet_tags((), (), ["subnet-1"], "train", karpenter=True), "sets_tags": True},
        lambda n: changed_subnet(n, "subnet-1", tags={"karpenter.sh/discovery": "other"}),
        "set it to false; karpenter.sh/discovery=other is another cluster's",
    ),
    "a tag that is there": (
        {"sets_tags": True},
        lambda n: changed_subnet(n, "subnet-5", tags={"kubernetes.io/role/elb": "1"}),
        "set it to false: controllers find the subnet by the tag that is there",
    ),
    "a zone without a subnet in the VPC": (
        {},
        lambda n: n.model_copy(update={"subnets": {k: v for k, v in n.subnets.items() if v.zone_id != "usw2-az1"}}),
        "allowed: none of this zone",
    ),
    "a zone with other subnets": (
        {},
        lambda n: n.model_copy(update={"subnets": {k: v for k, v in n.subnets.items() if k != "subnet-2"}}),
        "allowed: subnet-4, subnet-6\n",
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
    "a way out in two halves": with_halves,
    "an endpoint with a rule for each half": lambda n: closed(n, "10.0.32.0/21", "10.0.40.0/21", "10.0.48.0/20"),
    "an endpoint with a prefix list": lambda n: closed(n, lists=("pl-1",)),
    "an endpoint whose group is not shown": lambda n: closed(n).model_copy(update={"security_groups": {}}),
    "an endpoint of a service that is not called": lambda n: n.model_copy(
        update={"endpoints": {"vpce-1": Endpoint(service="sns", type="Interface", private_dns=True, groups=(ENDPOINT_GROUP,))}}
    ),
    "an endpoint without the service's name": lambda n: changed_endpoints(closed(n), private_dns=False),
    "an endpoint that is not ready": lambda n: changed_endpoints(closed(n), state="pending"),
    "a private NAT gateway": lambda n: changed_subnet(changed_nat(n, public=False), NAT_SUBNET, route_table=""),
    "public subnets for nodes of one interface": lambda n: changed_subnet(
        changed_subnet(n, "subnet-2", route_table=PUBLIC_TABLE, public_addresses=True), NAT_SUBNET, tags={}
    ),
    "a gateway of another account": lambda n: n.model_copy(update={"owner": "999999999999", "nat_gateways": {}}),
    "endpoints of another account": lambda n: with_route(n.model_copy(update={"owner": "999999999999", "endpoints": {}})),
    "a subnet with a table of its own": lambda n: changed_subnet(n, "subnet-1", route_table=PRIVATE_TABLE),
}


@pytest.mark.parametrize("case", FINE)
def test_other_ways_that_companies_have_fit_too(case: str):
    """What is beyond a transit gateway is not seen; it is said, and no reason to refuse."""
    assert judge.problems(FINE[case](assumed_network(asked())), asked()) == []


ISOLATED_FINE: dict[str, Change] = {
    "S3 by an interface too, without its name": lambda n: with_endpoints(n, vpce=Endpoint(service="s3", type="Interface")),
    "S3 by an interface with its name": lambda n: with_endpoints(
        without_gateway(n), vpce=Endpoint(service="s3", type="Interface", private_dns=True, groups=(ENDPOINT_GROUP,))
    ),
    "an endpoint that nothing calls, without its name": lambda n: with_endpoints(n, vpce=Endpoint(service="sns", type="Interface")),
    "a gateway for another service": lambda n: with_endpoints(n, vpce=Endpoint(service="dynamodb", type="Gateway")),
}


@pytest.mark.parametrize("case", ISOLATED_FINE)
def test_other_endpoints_that_companies_have_fit_too(case: str):
    """Only what nodes and add-ons call is judged, and each by one way that works."""
    wanted = asked(**ISOLATED)
    assert judge.problems(ISOLATED_FINE[case](assumed_network(wanted)), wanted) == []


def fixes(network: NetworkDescription, **keys: Any) -> str:
    """All hints."""
    return "\n".join(problem.hint for problem in judge.problems(network, asked(**keys)))


def test_a_fix_names_what_is_lacking_and_nothing_else():
    """Each service by the kind of endpoint that it has; a service without one by the switch that does without it, where that is off."""
    none = with_route(assumed_network(asked()))
    assert "private DNS names for ecr.api, fsx; or a NAT gateway" in fixes(none)
    assert "for ecr.api, fsx, and a gateway endpoint for s3 on rtb-0a55ed; or" in fixes(without_gateway(none))
    assert "endpoints with private DNS names for these, and a gateway endpoint for s3" in fixes(
        without_gateway(none), services={"s3": "nodes"}
    )
    assert "set `network.existing.isolated: true`" in fixes(none, services={"iam": "Karpenter"})
    assert fixes(none, services={"iam": "Karpenter"}, is_isolated=True).startswith("switch it off; or add a NAT gateway")


def test_a_note_is_about_a_subnet_that_is_there_and_has_a_way_out():
    """S3 by a gateway endpoint is free; a subnet that leads nowhere, or is not there, has a mistake and no note."""
    plain = without_gateway(assumed_network(asked()))
    assert "pass nat-0a55ed" in notes_of(plain)
    other = Endpoint(service="dynamodb", type="Gateway", route_tables=(PRIVATE_TABLE,))
    assert "no gateway endpoint for S3" in notes_of(with_endpoints(plain, vpce=other))
    assert "no gateway endpoint for S3" in notes_of(
        with_endpoints(plain, vpce=Endpoint(service="s3", type="Gateway", route_tables=("rtb-9",)))
    )
    for gone in (
        with_route(plain),
        with_route(plain, target=NAT, active=False),
        with_route(plain, target="local"),
        changed_nat(plain, state="failed"),
        plain.model_copy(update={"subnets": {}}),
    ):
        assert notes_of(gone, tags=()) == ""
    private = changed_nat(assumed_network(asked()), public=False)
    assert f"leads to {NAT}, and what that lets through is not known" in notes_of(private)
    assert "leads to igw-" not in notes_of(with_route(plain, target=GATEWAY))
    isolated = assumed_network(asked(**ISOLATED))
    assert notes_of(isolated, **ISOLATED) == ""
    assert "and there is a way to the internet" in notes_of(with_route(isolated, target="tgw-1"), **ISOLATED)


def notes_of(network: NetworkDescription, **keys: Any) -> str:
    """All notes."""
    return "\n".join(judge.notes(network, asked(**keys)))


def test_an_endpoint_with_a_prefix_list_is_noted_where_it_takes_calls():
    """Elsewhere its group is of no interest."""
    network = closed(assumed_network(asked()), lists=("pl-1",))
    assert "lets in pl-1" in notes_of(network)
    assert "lets in" not in notes_of(changed_endpoints(network, private_dns=False))
    assert "lets in" not in notes_of(changed_endpoints(network, service="sns"))
    assert "lets in" not in notes_of(network.model_copy(update={"security_groups": {}}))


@pytest.mark.parametrize(
    ("rule", "is_in"),
    [
        (Rule(protocol="-1", cidrs=("10.0.0.0/8",)), True),
        (Rule(protocol="6", first_port=0, last_port=65535, cidrs=("10.0.0.0/24", "10.0.1.0/24")), True),
        (Rule(protocol="udp", first_port=443, last_port=443, cidrs=("10.0.0.0/8",)), False),
        (Rule(protocol="tcp", first_port=443, last_port=443, cidrs=("10.0.0.0/24",)), False),
        (Rule(protocol="tcp", first_port=444, last_port=500, cidrs=("10.0.0.0/8",), prefix_lists=("pl-1",)), False),
        (Rule(protocol="tcp", first_port=443, last_port=443, groups=("sg-1",)), False),
    ],
)
def test_a_block_is_let_in_by_protocol_port_and_all_its_addresses(rule: Rule, is_in: bool):
    """A group's members are let in only where it is their group."""
    block = IPv4Network("10.0.0.0/23")
    assert lets_in([rule], (443, 443), block) is is_in
    assert lets_in([rule], (443, 443), block, "sg-1") is (is_in or rule.groups == ("sg-1",))


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


def test_what_is_not_seen_from_here_is_noted():
    """A participant of a shared VPC sees neither endpoints nor tags of its owner; a list's blocks and a company's name servers are beyond us."""
    network = closed(assumed_network(asked()), lists=("pl-1",))
    shared = with_route(network.model_copy(update={"owner": "999999999999", "name_servers": ("10.0.0.7",)}))
    said = "\n".join(judge.notes(shared, asked()))
    assert "vpce-1 for ecr.api lets in pl-1: whether the nodes' subnets are in it is not known" in said
    assert "names in vpc-1 are resolved by 10.0.0.7" in said
    assert "vpc-1 is shared by account 999999999999" in said
    assert "subnet-1 has no default route: its owner must have endpoints for fsx, s3" in said
    assert "are resolved by no server" in "".join(judge.notes(network.model_copy(update={"name_servers": ()}), asked()))
    assert not any(word in "".join(judge.notes(assumed_network(asked()), asked())) for word in ("shared", "resolved", "lets in"))


def test_the_discovery_tag_is_for_karpenter_alone():
    """It holds one cluster's name: without Karpenter it would only keep another cluster from having it."""
    keys = {tag.key for tag in subnet_tags(["subnet-5"], ["subnet-3"], ["subnet-1"], "train", karpenter=False)}
    assert keys == {"kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"}
    (tag,) = subnet_tags([], [], ["subnet-1"], "train", karpenter=True)
    assert (tag.key, tag.value) == ("karpenter.sh/discovery", "train")
