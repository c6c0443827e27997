"""Killed anywhere, recovered, killed again, destroyed, swept, in one account: what is left is nothing of ours, and all of a neighbour's."""

import copy
import random

import pytest

from simulator.account import kinds
from simulator.engine.run import Kill
from tests.sharing import further_seeds, mostly_long
from tests.simulator.account.standing import only, recording
from tests.support import record_stack
from tests.trn.ending.story import Story, drawn_kill, move_in, told
from trn.rehearsal.random_configurations import random_configuration

CLUSTER, REGION = "trainium-dev", "us-west-2"
SAMPLES, STACKS = 8, (3, 7)


@pytest.mark.parametrize("seed", [*mostly_long(range(SAMPLES), of_default=(0, 1)), *further_seeds(4)])
def test_the_shipped_stack_leaves_nothing_wherever_it_is_killed(seed: int):
    """The state is lost at the end: nothing but the sweep knows what is left. `make bench` runs every kill point."""
    drawn = random.Random(seed)
    kill = drawn_kill(drawn, recording(), "delete" if seed % 4 == 3 else "create")
    assert told(Story(recording(), CLUSTER, REGION), kill, seed) == []


@pytest.mark.parametrize("number", STACKS)
def test_a_random_stack_leaves_nothing_wherever_it_is_killed(number: int):
    """Other regions, networks, groups and add-ons, under a name of its own."""
    configuration = random_configuration(number)
    stack = record_stack(configuration)
    story = Story(stack, configuration["name"], configuration["region"])
    assert told(story, drawn_kill(random.Random(number), stack, "create"), number) == []


def test_a_sweep_of_a_whole_cluster_empties_the_account():
    """Of everything that the shipped stack made; nothing was destroyed before."""
    story = Story(recording(), CLUSTER, REGION)
    story.engine.up(recording())
    assert (story.sweep(), story.left()) == ([], [])


def test_what_others_have_in_our_network_stays_and_holds_only_its_place(monkeypatch: pytest.MonkeyPatch):
    """Recovery imports none of it, the sweep deletes none of it; once its owners took it away, the next sweep takes the rest."""
    story = Story(recording(), CLUSTER, REGION)
    engine, state = story.engine, story.world.state
    assert engine.up(recording(), kill=Kill(only(kinds.CLUSTER).urn, "create")).killed
    move_in(story)
    theirs = copy.deepcopy(state.others)
    assert {item.pending.type for item in story.recover().imports} >= {kinds.CLUSTER, kinds.FILE_SYSTEM}
    engine.destroy(kill=Kill(only(kinds.CLUSTER).urn, "delete"))
    # What is held stays held, however long the sweep waits.
    monkeypatch.setattr("trn.ending.sweep.change.ROUNDS", 12)
    held = {found.kind for found, _ in story.sweep()}
    assert held == {"VPC", "subnet", "internet gateway"}
    # The lock was given back.
    assert {kind: found for kind, found in state.others.items() if found} == theirs
    state.others.clear()
    assert (story.sweep(), story.left()) == ([], [])
