"""The shortest time in which a cluster can be gone."""

from dataclasses import replace

import pytest

from simulator.account import kinds
from simulator.account.world import World
from simulator.destroy_bound import destroy_bound
from simulator.engine.schedule import run_destroy, run_up
from stacks.config import parse_settings
from tests.stacks.samples import SAMPLES, configurations, recorded
from tests.support import dev_configuration, record_stack
from trn.engine.assumed_account import account_for


def test_the_bound_does_not_look_at_recorded_dependencies():
    """Else a level that is too deep would raise the bound along with the time, and never be seen."""
    recording = record_stack(dev_configuration())
    before = destroy_bound(recording, seed=0)
    recording.registrations = {
        urn: replace(item, dependencies=frozenset(), property_dependencies={}) for urn, item in recording.registrations.items()
    }
    assert destroy_bound(recording, seed=0) == before


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("seed", range(3))
def test_no_destroy_is_faster_than_the_bound(sample: str, seed: int):
    """A bound that can be beaten is none; one that is far below says nothing."""
    recording = recorded(sample)
    world = World(account_for(parse_settings(configurations()[sample], "test", rehearsal=True)))
    run_up(recording, world, seed=seed, parallel=1000)
    took, bound = run_destroy(recording, world, seed=seed, parallel=1000).seconds, destroy_bound(recording, seed).seconds
    assert bound <= took <= 3 * bound


@pytest.mark.parametrize(
    ("slow", "bound"),
    [
        (kinds.VPC, 4 + 1000),  # claim, volume, control plane, subnet before
        (kinds.SUBNET, 3 + 1000 + 1),
        (kinds.CLUSTER, 2 + 1000 + 2),
        (kinds.NODE_GROUP, 1000 + 3),
        (kinds.FILE_SYSTEM, 1000 + 2),  # subnet and VPC after; volume and claim hold only each other
        (kinds.NAT_GATEWAY, 1000 + 2),
        (kinds.ADDRESS, 1 + 1000),
        (kinds.ENDPOINT, 1000 + 1),
        (kinds.ROLE_ATTACHMENT, 1000 + 1),
        (kinds.VOLUME, 1 + 1000 + 3),  # claim before; control plane, subnet, VPC after
    ],
)
def test_the_bound_follows_the_chain_of_whatever_is_slow(slow: str, bound: float, monkeypatch: pytest.MonkeyPatch):
    """With one slow kind among seconds, the bound counts what must go before and after it, and nothing else."""
    recording = record_stack(dev_configuration())
    monkeypatch.setattr("simulator.latencies.seconds", lambda item, *_: 1000.0 if item.type == slow else 1.0)
    assert destroy_bound(recording, seed=0).seconds == bound


def test_the_chain_is_named_from_first_to_last():
    """What takes the time is what a reader wants to know."""
    recording = record_stack(dev_configuration())
    types = [recording.registrations[urn].type for urn in destroy_bound(recording, seed=0).chain]
    assert types[-4:] == [kinds.NODE_GROUP, kinds.CLUSTER, kinds.SUBNET, kinds.VPC]
