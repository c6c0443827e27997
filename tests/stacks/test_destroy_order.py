"""Destroy takes everything away in an order that AWS and Kubernetes accept, for any configuration."""

from dataclasses import replace

import pytest

from simulator.account.judge import findings
from simulator.account.world import World
from simulator.engine.schedule import run_destroy, run_up
from simulator.recording import Recording, Registration
from stacks.config import parse_settings
from tests.sharing import further_seeds, mostly_long
from tests.stacks import edges
from tests.stacks.order_laws import LAWS, violations
from tests.support import dev_configuration, record_stack
from trn.rehearsal.random_configurations import random_configuration

CHUNKS, PER_CHUNK = 8, 3


def broken_laws(recording: Recording, seed: int) -> list[str]:
    """What goes wrong when the recording is made and destroyed: broken laws, refusals, what cannot be used, leftovers."""
    world = World()
    up = run_up(recording, world, seed=seed)
    unusable = [f"unusable: {item.name}: {refusal}" for item, _, refusal in findings(world.state)]
    destroy = run_destroy(recording, world, seed=seed)
    left = [f"left behind: {what}" for _, what in world.state.leftovers()]
    refused = [f"refused: {step.urn}: {step.error}" for step in (*up.errors, *destroy.errors)]
    return violations(recording, destroy) + refused + unusable + left


@pytest.mark.parametrize("seed", mostly_long(range(5)))
def test_the_dev_stack_goes_in_order_and_leaves_nothing(seed: int):
    """The shipped cluster, with five draws of all latencies."""
    assert broken_laws(record_stack(dev_configuration()), seed) == []


@pytest.mark.parametrize("chunk", [*mostly_long(range(CHUNKS), of_default=(0, 5)), *further_seeds(2)])
def test_any_valid_configuration_goes_in_order_and_leaves_nothing(chunk: int):
    """Random configurations, of which `trn rehearse chaos` runs more; the number in the message replays one."""
    broken = {}
    for number in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        configuration = random_configuration(number)
        settings = parse_settings(configuration, "test", rehearsal=False)
        problems = broken_laws(record_stack(configuration), seed=number)
        if number % PER_CHUNK == 0:
            # One of each chunk: it is the same program.
            problems += edges.problems(record_stack(configuration), settings.model_dump(by_alias=True))
        if problems:
            broken[number] = problems
    assert broken == {}


@pytest.mark.parametrize("law", LAWS)
def test_every_law_is_about_something_in_the_stack(law: str):
    """A law whose kinds never occur would hold whatever the program did."""
    recordings = [record_stack(dev_configuration())]
    if law == "launch templates before placement groups":
        changed = dev_configuration()
        changed["nodeGroups"]["trn1-32xl"]["placementGroup"] = True
        recordings = [record_stack(changed)]
    first, second = LAWS[law]
    for recording in recordings:
        assert any(first(item) for item in recording.resources())
        assert any(second(item) for item in recording.resources())


def test_a_queue_without_its_dependency_on_volcano_breaks_the_law():
    """The laws are checked, not assumed: with the link gone they must say so."""
    recording = record_stack(dev_configuration())

    def unlinked(item: Registration) -> Registration:
        if not item.type.endswith(":Queue"):
            return item
        keep = frozenset(urn for urn in item.dependencies if "Release" not in urn)
        return replace(item, dependencies=keep)

    recording.registrations = {urn: unlinked(item) for urn, item in recording.registrations.items()}
    assert any(problem.startswith("queues before Volcano") for problem in broken_laws(recording, seed=0))
