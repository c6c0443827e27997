"""Killed runs come back, random trouble ends well; and both would notice a program in which they do not."""

from collections import Counter
from dataclasses import replace

import pytest

from simulator.account import kinds
from simulator.account.conflicts import identity
from simulator.account.faults import FAULTS, Faults
from simulator.account.world import World
from simulator.engine import chaos, crash
from simulator.engine.clock import Step
from simulator.engine.lifecycle import Run
from simulator.engine.recovery import recover
from simulator.engine.run import Engine, Kill
from simulator.engine.state import State
from simulator.faults_syntax import parse_fault
from simulator.recording import Recording
from tests.sharing import further_seeds, mostly_long
from tests.simulator.account.standing import TRAIN, only, recording
from tests.stacks.test_addons import ALTERNATIVES
from tests.stacks.test_addons import recorded as everything
from tests.support import record_stack
from trn.rehearsal.random_configurations import random_configuration

CHUNKS = 6


def changed(resource_type: str, **inputs: object) -> Recording:
    """The shipped stack with some inputs of all resources of a type changed."""
    made = recording()
    registrations = {
        urn: replace(item, inputs={**item.inputs, **inputs}) if item.type == resource_type else item
        for urn, item in made.registrations.items()
    }
    return Recording(made.project, made.stack, registrations)


@pytest.mark.parametrize("chunk", mostly_long(range(CHUNKS), of_default=(0, 3)))
def test_the_shipped_stack_survives_a_kill_at_every_resource(chunk: int):
    """Made or deleted, at the beginning, half-way and at the end: nothing is made twice, and nothing is left."""
    # Each operation on each resource at one of its three moments; `make bench` kills at all of them.
    cases = [case for number, case in enumerate(crash.cases(recording())) if (number // 3 + number) % 3 == 0][chunk::CHUNKS]
    assert crash.run_cases(recording(), cases, seed=0) == []


def test_the_matrix_covers_every_resource_and_both_operations():
    """A resource without a case would be the one that leaks."""
    cases = crash.cases(recording())
    assert {(case.urn, case.operation) for case in cases} == {
        (item.urn, operation) for item in recording().resources() for operation in ("create", "delete")
    }


@pytest.mark.parametrize("resource_type", [kinds.VPC, kinds.KEY, kinds.ADDRESS, kinds.FILE_SYSTEM])
def test_what_cannot_be_found_again_fails_the_matrix(resource_type: str):
    """Without its Name tag a half-made object is a silent leak: a second one is made beside it."""
    broken = changed(resource_type, tags={})
    (victim, *_) = broken.of_type(resource_type)
    (failure,) = crash.run_cases(broken, [crash.Case(victim.urn, "create", 0.5)], seed=0)
    assert any(why.startswith("made twice") for why in failure.why)


def test_a_deletion_whose_request_was_never_sent_leaves_the_object_as_it_was():
    """AWS would show it as ready, not as being deleted."""
    engine = Engine(World(), State())
    engine.up(recording())
    assert engine.destroy(kill=Kill(only(kinds.NODE_GROUP, TRAIN).urn, "delete", 0)).killed
    assert [item.status for item in engine.world.state.existing(kinds.NODE_GROUP) if item.registration.name == TRAIN] == ["ready"]


def test_a_kill_that_never_comes_is_no_success():
    """A case about a resource that the stack does not have proves nothing."""
    (failure,) = crash.run_cases(recording(), [crash.Case("urn:of:nothing", "create", 0.5)], seed=0)
    assert "never" in failure.why[0]


@pytest.mark.parametrize("number", [*mostly_long(range(1000, 1005), of_default=(0, 1)), *further_seeds(6)])
def test_random_trouble_on_random_clusters_ends_well(number: int):
    """`trn rehearse chaos` runs more of them; the seed in the message replays one."""
    made = record_stack(random_configuration(number))
    outcomes = [chaos.run(made, seed) for seed in range(number * 8, number * 8 + 8)]
    assert [outcome for outcome in outcomes if not outcome.ended_well] == []


def test_chaos_draws_every_fault():
    """One that is never drawn is never met."""
    drawn = {fault.name for seed in range(400) for fault in chaos.drawn_faults(recording(), seed)}
    assert drawn == set(FAULTS)


def test_the_same_seed_gives_the_same_chaos():
    """A failure that cannot be replayed cannot be fixed."""
    assert chaos.run(recording(), 7) == chaos.run(recording(), 7)


def test_chaos_notices_an_error_that_does_not_help():
    """A refusal without a fix leaves its reader alone with a cluster that costs money."""
    engine = Engine(World(faults=Faults.of([parse_fault("no-capacity@trn1-32xl")])), State())
    phase = engine.up(recording())
    (step,) = phase.errors
    assert step.refusal is not None
    mute = replace(phase, steps={step.urn: replace(step, refusal=replace(step.refusal, fix=""))})
    assert chaos.unhelpful([Run(phase)]) == []
    assert [step.urn in why for why in chaos.unhelpful([Run(mute)])] == [True]


def test_chaos_notices_what_is_left():
    """A run must not end with a VPC that cannot be deleted."""
    held = {
        urn: replace(item, options={**item.options, "protect": True}) if item.type == kinds.VPC else item
        for urn, item in recording().registrations.items()
    }
    outcome = chaos.run(Recording("trn", "test", held), 3)
    assert any("aws:ec2/vpc:Vpc" in what for what in outcome.leftovers)
    assert not outcome.ended_well


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_everything_that_can_be_made_can_be_found_again(alternative: str):
    """Each resource of any add-on has what tells it apart from all others of its type."""
    known = Counter((item.type, identity(item)) for item in everything(alternative).resources())
    assert [key for key, count in known.items() if count > 1 or key[1] is None] == []


def killed(kill: Kill) -> tuple[Engine, Step]:
    """An account after a run that was killed, and the operation under way."""
    engine = Engine(World(), State())
    run = engine.up(recording(), kill=kill)
    assert run.killed
    return engine, run.steps[kill.urn]


def test_a_kill_is_half_way_unless_it_says_when():
    """By then its request has left, and nothing of it is in the state but that it was under way."""
    vpc = only(kinds.VPC)
    whole = Engine(World(), State()).up(recording()).steps[vpc.urn]
    engine, step = killed(Kill(vpc.urn, "create"))
    assert step.cut
    assert step.end - step.start == pytest.approx((whole.end - whole.start) / 2, abs=0.1)
    (pending,) = [item for item in engine.state.pending if item.registration.urn == vpc.urn]
    assert pending.remaining_s == pytest.approx((whole.end - whole.start) / 2, abs=0.1)
    assert vpc.urn not in engine.state.held


def test_the_latest_kill_is_just_before_the_end():
    """AWS has done it, and the state does not say so: a tick later it would, and half a second earlier AWS would still be at it."""
    vpc = only(kinds.VPC)
    whole = Engine(World(), State()).up(recording()).steps[vpc.urn]
    engine, step = killed(Kill(vpc.urn, "create", at=1))
    assert step.cut
    assert whole.end - step.end <= 0.1
    (pending,) = [item for item in engine.state.pending if item.registration.urn == vpc.urn]
    assert pending.remaining_s <= 0.1
    assert vpc.urn not in engine.state.held


def test_what_was_deleted_to_make_room_waits_for_its_successor():
    """The next run makes it; it must not take the old one for it."""
    engine = Engine(World(), State())
    assert engine.up(recording()).ended_well
    train = only(kinds.NODE_GROUP, TRAIN)
    other = changed(kinds.NODE_GROUP, nodeRoleArn="arn:aws:iam::123456789012:role/other")
    assert engine.up(other, kill=Kill(train.urn, "create", at=0)).killed
    assert engine.state.held[train.urn].pending_replacement
    assert engine.world.state.of(train) is None
    recover(engine.state, engine.world)
    assert engine.up(other).ended_well
    assert not engine.state.held[train.urn].pending_replacement
    assert engine.state.held[train.urn].registration.inputs["nodeRoleArn"].endswith("other")
