"""Killed anywhere, then swept through boto3 in the same account: what is left is nothing of ours, and all of a neighbour's."""

import copy
import random

import pytest

from operations.aws.api import BotoApi
from operations.aws.network import cluster_vpcs
from operations.belonging import Owner
from operations.cluster.sweep.run import Sweep
from simulator.account.world import World
from simulator.doors.wire import door
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from tests.operations.aws.cloud import ACCOUNT, Cloud, Entry
from tests.operations.aws.leftovers import leave_control_plane, leave_everything
from tests.simulator.account.standing import recording, standing

CLUSTER = "trainium-dev"
SAMPLES = 6


def neighbours() -> dict[str, dict[str, Entry]]:
    """Everything of a cluster whose name begins like ours, and of one that ours is a part of."""
    cloud = Cloud()
    for number, name in enumerate((f"{CLUSTER}-2", f"my-{CLUSTER}")):
        leave_everything(cloud, name, f"n{number}")
    leave_control_plane(cloud, f"{CLUSTER}-2", "n0")
    return cloud.world.state.others


def swept(world: World) -> list[str]:
    """What a sweep could not delete."""
    api = BotoApi("us-west-2", door.session(world))
    owner = Owner(CLUSTER, ACCOUNT, "us-west-2", "organization/trn/test", frozenset(cluster_vpcs(api, CLUSTER)))
    sweep = Sweep(api, owner, pause=lambda _: None, tell=lambda _: None)
    return [f"{found.kind} {found.id}: {why}" for found, why in sweep.run(sweep.plan()).left]


def left(world: World) -> list[str]:
    """What is left of the stack in AWS."""
    found = (f"{item.registration.type} {item.registration.id}" for item in world.state)
    kept = [what for what in found if not what.startswith("kubernetes:")]
    return sorted([*kept, *(stray.what for stray in world.state.strays.values())])


def drawn_kill(seed: int) -> Kill:
    """A moment of `up` or of `destroy`."""
    drawn = random.Random(seed)
    urn = drawn.choice([item.urn for item in recording().resources()])
    return Kill(urn, drawn.choice(("create", "delete")), drawn.choice((0.0, 0.5, 1.0)))


def killed(kill: Kill) -> World:
    """The account after a run that died."""
    engine = Engine(World(), State())
    if kill.operation == "create":
        engine.up(recording(), kill=kill)
    else:
        engine.up(recording())
        engine.destroy(kill=kill)
    return engine.world


@pytest.mark.parametrize("seed", range(SAMPLES))
def test_a_sweep_after_any_kill_empties_the_account_of_ours_alone(seed: int):
    """The state is lost: nothing but the sweep knows what is left."""
    world = killed(drawn_kill(seed))
    world.state.others = neighbours()
    before = copy.deepcopy(world.state.others)
    assert swept(world) == []
    assert left(world) == []
    assert world.state.others == before


def test_a_sweep_of_a_whole_cluster_empties_the_account():
    """Of everything that the shipped stack made and that a sweep looks for."""
    world = standing()
    assert swept(world) == []
    assert left(world) == []
