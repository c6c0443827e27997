"""Several clusters in one account, region and VPC: no name is taken twice, no address, and no sweep reaches the other one."""

import copy
import random
from functools import cache
from typing import Any

import pytest

from facts.external import judge
from facts.external.assumed import assumed_network
from facts.external.description import Description, assumed
from simulator.account.conflicts import identity
from simulator.account.external import put_network
from simulator.account.neighbours import Entry
from simulator.account.putting import put_existing
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.engine.crash import MOMENTS
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.recording import Recording
from stacks.config import parse_settings
from stacks.external import asked_of, asked_of_network
from stacks.settings import Settings
from tests.stacks import external_networks
from tests.stacks.addon_sets import everything
from tests.support import record_stack
from tests.trn.aws.cloud import Cloud
from tests.trn.ending.story import Story
from trn.aws.external_network import described_network

REGION = "us-west-2"
ONE, OTHER = "train", "train-2"
"""One name begins with the other: what is matched by a prefix would meet both."""


def configuration(name: str, **existing: Any) -> dict[str, Any]:
    """The shipped stack under a name, with the network and the file system that both use."""
    return {**external_networks.sharing(existing=existing), "name": name}


def settings(name: str, **existing: Any) -> Settings:
    """The same as settings."""
    return parse_settings(configuration(name, **existing), name, rehearsal=True)


@cache
def recorded(name: str) -> Recording:
    """One of the two stacks."""
    return record_stack(configuration(name), stack=name)


def shared() -> Description:
    """Network and file system as the first of the two needs them."""
    return assumed(asked_of(settings(ONE)))


@cache
def neighbours(name: str) -> dict[str, dict[str, Entry]]:
    """Everything that a cluster which is up has in the account, as AWS describes it: the network that it uses included."""
    state = AccountState()
    put_existing(state, shared())
    engine = Engine(World(state), State())
    assert engine.up(recorded(name)).ended_well
    inventory = Inventory(engine.world, REGION)
    return {kind: entries for kind in KINDS if (entries := inventory.entries(kind))}


def beside(name: str) -> AccountState:
    """An account in which a cluster is up."""
    return AccountState(others=copy.deepcopy(neighbours(name)))


@pytest.mark.parametrize(("name", "other"), [(ONE, OTHER), (OTHER, ONE)])
def test_two_clusters_come_up_and_go_beside_each_other(name: str, other: str):
    """One is up; the other is brought up, killed half-way down, swept without a state, and nothing of the first has changed."""
    story = Story(recorded(name), name, REGION, Engine(World(beside(other)), State()), shared())
    before = copy.deepcopy(story.world.state.others)
    assert before["cluster"].keys() == {other}
    assert story.engine.up(recorded(name)).ended_well
    drawn = random.Random(name)
    story.engine.destroy(kill=Kill(drawn.choice(recorded(name).resources()).urn, "delete", drawn.choice(MOMENTS)))
    assert (story.sweep(), story.left()) == ([], [])
    assert story.world.state.others == before


def test_both_mount_the_one_file_system_and_neither_makes_any():
    """Each cluster has a volume and a claim of its own for it; a destroy of one leaves the file system and the other's volume."""
    for name in (ONE, OTHER):
        assert recorded(name).of_type("aws:fsx/lustreFileSystem:LustreFileSystem") == []
        (volume,) = recorded(name).of_type("kubernetes:core/v1:PersistentVolume")
        assert volume.inputs["spec"]["csi"]["volumeHandle"] == external_networks.FILE_SYSTEM
        assert volume.inputs["spec"]["csi"]["volumeAttributes"] == {
            "dnsname": f"{external_networks.FILE_SYSTEM}.fsx.{REGION}.amazonaws.com", "mountname": "abcdefgh",
        }  # fmt: skip
        assert volume.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    (there,) = neighbours(ONE)["fsx"].values()
    assert (there["FileSystemId"], there["Lifecycle"], there.get("Tags")) == (external_networks.FILE_SYSTEM, "AVAILABLE", None)


def names(recording: Recording) -> set[tuple[str, str]]:
    """Type and name, or place, of everything that a stack makes in the account; what is a part of its own cluster has the cluster's name."""
    made = (item for item in recording.resources() if item.type.startswith("aws:"))
    return {(item.type, found) for item in made if (found := identity(item)) is not None}


def test_no_name_is_taken_twice():
    """Roles, log groups, launch templates, aliases, security groups, queues: of all add-ons."""
    section = external_networks.network()
    stacks = [record_stack({**everything(), "network": section, "name": name}, stack=name) for name in (ONE, OTHER)]
    assert names(stacks[0]) & names(stacks[1]) == set()
    assert len(names(stacks[0])) > 100


def test_addresses_that_one_cluster_has_are_not_the_others():
    """EC2 counts what is free; the second cluster is judged by that."""
    second = asked_of_network(settings(OTHER))
    assert second is not None
    state = beside(ONE)
    found = described_network(Cloud(world=World(state)).api, second.vpc_id)
    assert found is not None
    assert judge.problems(found, second) == []
    for which, count in second.addresses.items():
        state.others["subnet"][which]["AvailableIpAddressCount"] = count - 1
    taken = described_network(Cloud(world=World(state)).api, second.vpc_id)
    assert taken is not None
    wrong = [problem.wrong for problem in judge.problems(taken, second)]
    assert len(wrong) == len(second.addresses)
    assert all("where the stack can grow to take" in text for text in wrong)


def test_tags_of_subnets_are_one_stacks():
    """The second asks for what the first has put on: it is refused, since its destroy would take the first one's tags away."""
    first, second = (asked_of_network(settings(name, tagSubnets=True)) for name in (ONE, OTHER))
    assert first is not None
    assert second is not None
    state = AccountState()
    put_network(state, assumed_network(first))
    engine = Engine(World(state), State())
    assert engine.up(record_stack(configuration(ONE, tagSubnets=True), stack=ONE)).ended_well
    found = described_network(Cloud(world=engine.world).api, second.vpc_id)
    assert found is not None
    paths = {problem.path for problem in judge.problems(found, second)}
    assert paths == {"network.existing.tagSubnets"}
