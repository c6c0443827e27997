"""What is read of what others keep is what is there: the description goes into an account and comes back."""

from typing import Any

import pytest

from facts.external.assumed import PRIVATE_TABLE, assumed_network
from facts.external.description import Description
from facts.external.file_system import FileSystem, assumed_file_system
from facts.external.network import ANYWHERE, Endpoint, NatGateway, NetworkDescription, Route, RouteTable, Rule, SecurityGroup, Subnet
from simulator.account.external import put_network
from simulator.account.external_file_system import put_file_system
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.external import asked_of_file_system, asked_of_network
from tests.simulator.account.standing import recording, standing
from tests.stacks.external_networks import CLIENTS, configuration, sharing
from tests.trn.aws.cloud import ACCOUNT, Cloud
from trn.aws.external_network import described_network
from trn.aws.external_services import described_file_system
from trn.cli.errors import CommandError, CompleteError
from trn.engine.external_reading import as_yaml, read_description


def assumed(**existing: Any) -> NetworkDescription:
    """A network that the stack fits into."""
    asked = asked_of_network(parse_settings(configuration(existing=existing), "dev", rehearsal=True))
    assert asked is not None
    return assumed_network(asked)


def company() -> NetworkDescription:
    """A network as companies have them: shared, with name servers of its own, a transit gateway, a failed gateway, a subnet of IPv6 alone."""
    network = assumed()
    tables = {
        **network.route_tables,
        "rtb-1": RouteTable(routes=(Route(destination=ANYWHERE, target="tgw-1"), Route(destination="pl-1", target="vpce-1"))),
        "rtb-2": RouteTable(
            routes=(Route(destination="10.9.0.0/16", target="pcx-1", active=False), Route(destination=ANYWHERE, target="eni-1"))
        ),
    }
    rules = (
        Rule(protocol="-1", groups=("sg-2",)),
        Rule(protocol="tcp", first_port=443, last_port=443, cidrs=("10.0.0.0/8", "100.64.0.0/10"), prefix_lists=("pl-2",)),
    )
    return network.model_copy(
        update={
            "owner": "999999999999",
            "name_servers": ("10.0.0.7", "10.0.0.8"),
            "cidrs": ("10.0.0.0/16", "100.64.0.0/16"),
            "subnets": {**network.subnets, "subnet-6": Subnet(zone_id="usw2-az1", free_addresses=0)},
            "dns_hostnames": False,
            "route_tables": tables,
            "nat_gateways": {**network.nat_gateways, "nat-2": NatGateway(subnet=next(iter(network.subnets)), state="failed", public=False)},
            "endpoints": {"vpce-2": Endpoint(service="ecr.api", type="Interface", private_dns=True, groups=("sg-1",), state="pending")},
            "security_groups": {"sg-1": SecurityGroup(ingress=rules)},
        }
    )


@pytest.mark.parametrize("network", [assumed(), assumed(isolated=True), company()], ids=["assumed", "isolated", "company"])
def test_a_description_comes_back_from_the_account_it_was_put_into(network: NetworkDescription):
    """So a rehearsal in it meets what a check on the account saw."""
    cloud = Cloud()
    put_network(cloud.world.state, network)
    found = described_network(cloud.api, network.vpc_id)
    assert found is not None
    groups = {group for endpoint in network.endpoints.values() for group in endpoint.groups}
    seen = {which: group for which, group in network.security_groups.items() if which in groups}
    assert found == network.model_copy(update={"security_groups": seen})


def test_a_network_of_the_callers_own_account_has_no_other_owner():
    """EC2 names the owner of every VPC; without DHCP options there is no name server."""
    cloud, network = Cloud(), assumed()
    put_network(cloud.world.state, network)
    cloud.world.state.others["vpc"][network.vpc_id] |= {"OwnerId": ACCOUNT, "DhcpOptionsId": "default"}
    assert described_network(cloud.api, network.vpc_id) == network.model_copy(update={"name_servers": (), "security_groups": {}})


def shared(**changes: Any) -> FileSystem:
    """A file system in another VPC, which lets in a group for clients."""
    wanted = asked_of_file_system(parse_settings(sharing(clients=True), "dev", rehearsal=True))
    assert wanted is not None
    place = {
        "vpc_id": "vpc-0900000000000000",
        "subnet": "subnet-0900000000000000",
        "version": "2.12",
        "deployment_type": "SCRATCH_2",
        "state": "UPDATING",
    }
    return assumed_file_system(wanted, assumed()).model_copy(update={**place, **changes})


@pytest.mark.parametrize("found", [shared(), shared(groups={}, client_group=None), shared(type="ONTAP", mount_name="", deployment_type="")])
def test_a_file_system_comes_back_from_the_account_it_was_put_into(found: FileSystem):
    """State, names, addresses and rules: all that is judged."""
    cloud = Cloud()
    put_file_system(cloud.world.state, found)
    assert described_file_system(cloud.api, found.id, CLIENTS) == found


def test_a_file_system_that_is_not_there_has_no_description():
    """Its id may be of another region."""
    assert described_file_system(Cloud().api, "fs-0123456789abcdef0") is None


def test_a_network_of_another_stack_of_the_program_can_be_described():
    """Two clusters in one VPC: the second uses what the first one made."""
    made: Recording = recording()
    (vpc,) = made.of_type("aws:ec2/vpc:Vpc")
    found = described_network(Cloud(world=standing()).api, vpc.id)
    assert found is not None
    assert found.cidrs == ("10.1.0.0/21", "100.64.0.0/16")
    assert found.dns_hostnames
    assert len(found.subnets) == 6
    assert {route.target[:4] for subnet in found.subnets if (route := found.default_route(subnet))} == {"igw-", "nat-"}


def test_a_vpc_that_is_not_there_has_no_description():
    """Its id may be of another region."""
    assert described_network(Cloud().api, "vpc-0") is None


def test_the_file_says_all_of_it(tmp_path: Any):
    """Defaults are left out, and nothing else."""
    path = tmp_path / "network.yaml"
    found = Description(network=company(), file_system=shared())
    path.write_text(as_yaml(found))
    assert read_description(path) == found
    assert PRIVATE_TABLE in path.read_text()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[]", "describes nothing that exists"),
        ("a: [", "not valid YAML"),
        ("network: {region: us-west-2}", "`network.vpcId` is missing"),
        ("network: {cidrs: [banana/8]}", "`network.cidrs\\[0\\]` is `banana/8`"),
        ("network: {cidrs: [300.0.0.0/8]}", "such as 10.0.0.0/20"),
        ("network: {subnets: {s: {zoneId: z, freeAddresses: 1, cidr: '::/0'}}}", "not a valid IPv4 block"),
        ("network: {routeTables: {t: {routes: [{destination: x, target: y}]}}}", "not a valid destination of a route"),
        ("network: {securityGroups: {g: {ingress: [{protocol: tcp, cidrs: [x/1]}]}}}", "not a valid IPv4 block"),
        ("fileSystem: {addresses: [10.0.0.256]}", "not a valid IPv4 address"),
        ("network: {subnets: {s: {zoneId: z, freeAddresses: -1}}}", "`network.subnets.s.freeAddresses` is `-1`"),
    ],
)
def test_a_file_that_is_no_description_is_refused(tmp_path: Any, text: str, wrong: str):
    """Every mistake at once, with the key."""
    path = tmp_path / "network.yaml"
    path.write_text(text)
    with pytest.raises((CommandError, CompleteError), match=wrong):
        read_description(path)
