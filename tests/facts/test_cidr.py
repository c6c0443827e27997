"""The address plan: laws that hold for any block and any zones."""

from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts.catalogue import NEURON_TYPES
from facts.cidr import MAX_ZONES, plan_subnets, usable_addresses
from facts.efa import LAYOUTS, EfaLayout, addresses_per_node, plan_interfaces
from tests.support import dev_configuration

ZONES = ["usw2-az4", "usw2-az1", "usw2-az2", "usw2-az3"]
vpc_blocks = st.builds(lambda octet, prefix: str(IPv4Network(f"10.{octet}.0.0/{prefix}")), st.integers(0, 255), st.integers(16, 23))
pod_blocks = st.builds(lambda octet, prefix: str(IPv4Network(f"100.{octet}.0.0/{prefix}")), st.integers(64, 127), st.integers(16, 26))
zone_lists = st.permutations(ZONES).flatmap(lambda zones: st.integers(1, MAX_ZONES).map(lambda count: zones[:count]))


def all_blocks(cidr: str, pod_cidr: str, zones: list[str]) -> list[IPv4Network]:
    """Every subnet of a plan."""
    return [IPv4Network(block) for item in plan_subnets(cidr, pod_cidr, zones) for block in (item.public, item.private, item.node)]


@given(cidr=vpc_blocks, pod_cidr=pod_blocks, zones=zone_lists)
def test_no_two_subnets_overlap(cidr: str, pod_cidr: str, zones: list[str]):
    """EC2 refuses the second of two that do."""
    assert not any(one.overlaps(other) for one, other in combinations(all_blocks(cidr, pod_cidr, zones), 2))


@given(cidr=vpc_blocks, pod_cidr=pod_blocks, zones=zone_lists)
def test_every_subnet_lies_in_its_own_block(cidr: str, pod_cidr: str, zones: list[str]):
    """Public and private ones in the VPC's block, nodes in the secondary one."""
    for item in plan_subnets(cidr, pod_cidr, zones):
        assert IPv4Network(item.public).subnet_of(IPv4Network(cidr))
        assert IPv4Network(item.private).subnet_of(IPv4Network(cidr))
        assert IPv4Network(item.node).subnet_of(IPv4Network(pod_cidr))


@given(cidr=vpc_blocks, pod_cidr=pod_blocks, zones=zone_lists)
def test_a_zone_added_later_moves_no_subnet(cidr: str, pod_cidr: str, zones: list[str]):
    """A new CIDR means a replaced subnet, and a replaced subnet a replaced cluster."""
    assert plan_subnets(cidr, pod_cidr, zones)[:-1] == plan_subnets(cidr, pod_cidr, zones[:-1])


@given(cidr=vpc_blocks, pod_cidr=pod_blocks, zones=zone_lists)
def test_every_subnet_is_one_that_ec2_makes(cidr: str, pod_cidr: str, zones: list[str]):
    """EC2 makes subnets from /16 to /28."""
    assert all(16 <= block.prefixlen <= 28 for block in all_blocks(cidr, pod_cidr, zones))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_default_plan_has_room_for_sixteen_of_the_largest_nodes(layout: EfaLayout):
    """16 trn1 nodes is the largest training AWS publishes figures of; half the layouts would empty a /20."""
    node_subnet = plan_subnets("10.1.0.0/21", "100.64.0.0/16", ZONES)[0].node
    needs = max(addresses_per_node(item, plan_interfaces(item, layout)) for item in NEURON_TYPES.values() if item.has_efa)
    assert 16 * needs <= usable_addresses(node_subnet)


@pytest.mark.parametrize(
    ("cidr", "pod_cidr", "zones"),
    [
        ("10.1.0.0/24", "100.64.0.0/16", ZONES[:2]),
        ("10.1.0.0/21", "10.1.0.0/20", ZONES[:2]),
        ("10.1.0.0/21", "100.64.0.0/16", [*ZONES, "usw2-az5"]),
        ("10.1.0.0/21", "100.64.0.0/16", ["usw2-az4", "usw2-az4"]),
    ],
)
def test_an_impossible_plan_is_refused(cidr: str, pod_cidr: str, zones: list[str]):
    """Half a plan would be half a VPC."""
    with pytest.raises(ValueError, match=r"zone ids|must not overlap"):
        plan_subnets(cidr, pod_cidr, zones)


def test_the_shipped_stack_has_these_blocks():
    """Another cut of the same blocks replaces the subnets of every cluster that stands, and with them the cluster."""
    network = dev_configuration()["network"]
    planned = plan_subnets(network["cidr"], network["podCidr"], network["zones"])
    assert [(item.zone_id, item.public, item.private, item.node) for item in planned] == [
        ("usw2-az4", "10.1.4.0/26", "10.1.0.0/24", "100.64.0.0/18"),
        ("usw2-az1", "10.1.4.64/26", "10.1.1.0/24", "100.64.64.0/18"),
    ]
    all_zones = plan_subnets("10.1.0.0/21", "100.64.0.0/16", ZONES)
    assert [(item.public, item.private, item.node) for item in all_zones[2:]] == [
        ("10.1.4.128/26", "10.1.2.0/24", "100.64.128.0/18"),
        ("10.1.4.192/26", "10.1.3.0/24", "100.64.192.0/18"),
    ]
