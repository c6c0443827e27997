"""EventBridge Scheduler over the wire: what recover and sweep ask it."""

from functools import cache

from simulator.account import kinds
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from tests.simulator.aws_endpoint.test_calls import CLUSTER, api_of
from tests.stacks.samples import recorded
from trn.aws.api import Call
from trn.aws.leftovers import KINDS
from trn.aws.places import look, place_of
from trn.aws.sighting import sightings
from trn.ending.recover.look import LOOKUPS

SAMPLE = "empty at night"


@cache
def _engine() -> Engine:
    engine = Engine(World(), State())
    assert engine.up(recorded(SAMPLE)).ended_well
    return engine


def _standing() -> World:
    return _engine().world.copy()


def test_recover_finds_each_schedule_and_their_group():
    """By its own inputs: exactly one sighting of each."""
    api = api_of(_standing())
    there = [item for item in recorded(SAMPLE).resources() if item.type in (kinds.SCHEDULE, kinds.SCHEDULE_GROUP)]
    seen = {item.name: list(sightings(api, LOOKUPS[item.type], CLUSTER, item.inputs)) for item in there}
    assert {name: len(found) for name, found in seen.items()} == {"schedules": 1, "schedules-more-down": 1, "schedules-more-up": 1}


def test_sweep_finds_the_group_first_and_its_schedules_go_with_it():
    """A schedule that is left would give a group new nodes in the middle of the sweep."""
    world = _standing()
    api = api_of(world)
    found = list(look(api, place_of(api, CLUSTER), KINDS))
    assert [item.id for item in found if item.kind == "schedule group"] == [CLUSTER]
    order = [item.kind for item in found]
    assert order.index("schedule group") < order.index("node group")
    api.call(Call("scheduler", "DeleteScheduleGroup"), Name=CLUSTER)
    assert not world.state.existing(kinds.SCHEDULE)
    assert not world.state.existing(kinds.SCHEDULE_GROUP)
