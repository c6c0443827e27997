"""A stack in a network that others keep: killed, recovered, destroyed and swept, it touches nothing of theirs."""

import copy
import random
from collections.abc import Callable

import pytest

from facts.external.assumed import PRIVATE_TABLE, assumed_network
from facts.external.description import Description, problems, with_unseen
from facts.external.network import NetworkDescription, Route, RouteTable
from simulator.account.external import put_network
from simulator.account.putting import put_existing
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.external import asked_of, asked_of_network, existing_ids
from tests.stacks.external_networks import CLIENTS, FILE_SYSTEM, VPC, configuration, sharing
from tests.support import record_stack
from tests.trn.aws.cloud import Cloud
from tests.trn.change.owned import cluster_arn, resource
from tests.trn.ending.story import Story, drawn_kill, put_tenants, told
from trn.aws.api import Call
from trn.change.ownership import Ownership, StackCluster
from trn.engine.stack_state import parse_state

CLUSTER, REGION = "trainium-dev", "us-west-2"
SUBNETS = Call("ec2", "DescribeSubnets")


def recorded(**existing: bool) -> Recording:
    """The stack, with keys below `network.existing` changed."""
    return record_stack(configuration(existing=dict(existing)), stack="dev")


def described(**existing: bool) -> NetworkDescription:
    """The network as the stack needs it."""
    asked = asked_of_network(parse_settings(configuration(existing=dict(existing)), "dev", rehearsal=True))
    assert asked is not None
    return assumed_network(asked)


def test_nothing_of_a_network_is_made():
    """VPC, subnets, routes, gateways and endpoints are their owner's; without consent no tag is put on them either."""
    made = {item.type.split(":")[1].split("/")[-1] for item in recorded().resources() if item.type.startswith("aws:ec2/")}
    assert made == {"launchTemplate", "securityGroup"}


@pytest.mark.parametrize("seed", range(4))
def test_what_others_keep_stays_wherever_the_stack_is_killed(seed: int):
    """The VPC tells nothing of whose an object is: a colleague's interface without a tag is there, and stays."""
    stack, drawn = recorded(), random.Random(seed)
    kill = drawn_kill(drawn, stack, "delete" if seed % 2 else "create")
    assert told(Story(stack, CLUSTER, REGION, existing=Description(network=described())), kill, seed) == []


def halves(network: NetworkDescription) -> NetworkDescription:
    """The same, with the default route in two halves."""
    lower, upper = Route(destination="0.0.0.0/1", target="tgw-1"), Route(destination="128.0.0.0/1", target="tgw-1")
    table = RouteTable(main=True, routes=(lower, upper))
    return network.model_copy(update={"route_tables": {**network.route_tables, PRIVATE_TABLE: table}, "nat_gateways": {}})


def hidden(network: NetworkDescription) -> NetworkDescription:
    """The same as another account shares it: without its gateways and endpoints."""
    return network.model_copy(update={"owner": "999999999999", "nat_gateways": {}, "endpoints": {}, "security_groups": {}})


@pytest.mark.parametrize(("isolated", "change"), [(False, halves), (False, hidden), (True, hidden)], ids=["halves", "shared", "isolated"])
def test_what_fits_by_the_judge_comes_up_in_the_rehearsal(isolated: bool, change: Callable[[NetworkDescription], NetworkDescription]):
    """A way out in two halves, or through what only the network's owner sees."""
    asked = asked_of(parse_settings(configuration(existing={"isolated": isolated}), "dev", rehearsal=True))
    found = Description(network=change(described(isolated=isolated)))
    assert problems(found, asked) == []
    engine = Engine(World(), State())
    put_existing(engine.world.state, with_unseen(found, asked))
    assert engine.up(recorded(isolated=isolated)).ended_well


def test_a_half_of_the_way_that_is_gone_keeps_nodes_from_joining():
    """The rehearsal and the judge see it alike."""
    network = halves(described())
    lost = network.route_tables[PRIVATE_TABLE].routes[1].model_copy(update={"active": False})
    table = RouteTable(main=True, routes=(network.route_tables[PRIVATE_TABLE].routes[0], lost))
    engine = Engine(World(), State())
    put_network(engine.world.state, network.model_copy(update={"route_tables": {**network.route_tables, PRIVATE_TABLE: table}}))
    assert not engine.up(recorded()).ended_well


@pytest.mark.parametrize("isolated", [False, True])
def test_tags_are_put_on_and_taken_away_again(isolated: bool):
    """Exactly those of the stack: what the subnets had before they have afterwards."""
    switches = {"tagSubnets": True, "isolated": isolated}
    state = AccountState()
    put_network(state, described(**switches))
    before = copy.deepcopy(state.others)
    engine, stack = Engine(World(state), State()), recorded(**switches)
    assert engine.up(stack).ended_well
    shown = {entry["SubnetId"]: entry["Tags"] for entry in Cloud(world=engine.world).api.pages(SUBNETS, "Subnets")}
    assert shown["subnet-0c00000000000001"] == [{"Key": "kubernetes.io/role/elb", "Value": "1"}]
    assert engine.destroy().ended_well
    assert (state.others, state.leftovers()) == (before, [])


def test_the_vpc_of_others_is_never_taken_for_the_clusters_own():
    """A sweep deletes everything without a tag in the cluster's own VPC: the identity names the other one, but not as its own."""
    own = {"trn:cluster": CLUSTER, "trn:stack": "organization/trn/dev"}
    outputs = {
        "arn": cluster_arn(CLUSTER),
        "createdAt": "2026-01-01T00:00:00Z",
        "name": CLUSTER,
        "tagsAll": own,
        "vpcConfig": {"vpcId": VPC},
    }
    state = parse_state({"deployment": {"resources": [resource("aws:eks/cluster:Cluster", CLUSTER, outputs)]}}, CLUSTER)
    assert state.identity is not None
    assert state.identity.vpc_id == VPC
    owner = Ownership(StackCluster("trn", "dev", CLUSTER), state, state.identity, "arn").owner("organization/trn/dev")
    assert (owner.vpc_ids, owner.used_vpc_ids) == (frozenset(), {VPC})


def test_a_vpc_that_the_stack_file_names_is_not_its_own_whatever_its_tags_say():
    """Made by the stack, taken out of its state and given: a destroy or a sweep would delete it by its tags."""
    own = {"trn:cluster": CLUSTER, "trn:stack": "organization/trn/dev"}
    outputs = {"arn": cluster_arn(CLUSTER), "name": CLUSTER, "tagsAll": own, "vpcConfig": {"vpcId": VPC}}
    state = parse_state({"deployment": {"resources": [resource("aws:eks/cluster:Cluster", CLUSTER, outputs)]}}, CLUSTER)
    assert state.identity is not None
    given = existing_ids(parse_settings(sharing(clients=True), "dev", rehearsal=True))
    assert {VPC, FILE_SYSTEM, CLIENTS} < given
    subject = StackCluster("trn", "dev", CLUSTER, VPC, given)
    owner = Ownership(subject, state, state.identity, "arn", vpcs={VPC: own}).owner("organization/trn/dev")
    assert (owner.vpc_ids, owner.used_vpc_ids, owner.given_ids) == (frozenset(), {VPC}, given)


def test_a_cluster_that_is_not_finished_is_known_by_the_vpc_of_its_groups():
    """The state has no VPC and no cluster yet: `trn recover` must find its own all the same."""
    own = {"trn:cluster": CLUSTER, "trn:stack": "organization/trn/dev"}
    group = resource("aws:ec2/securityGroup:SecurityGroup", "sg-1", {"vpcId": VPC, "tagsAll": own})
    state = parse_state({"deployment": {"resources": [group]}}, CLUSTER)
    assert state.identity is not None
    assert state.identity.vpc_id == VPC


def test_colleagues_in_the_network_are_part_of_the_story():
    """Without them the story above would show nothing."""
    others: dict[str, dict[str, dict[str, object]]] = {}
    put_tenants(others, described())
    assert {entry["VpcId"] for entries in others.values() for entry in entries.values()} == {VPC}
