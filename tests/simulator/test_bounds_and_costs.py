"""The lower bound and the bill."""

from dataclasses import replace

import pytest

from facts.neuron_releases import AMI_RELEASES
from simulator import bounds, costs
from simulator.account import kinds
from simulator.account.world import World
from simulator.engine.schedule import run_up
from tests.support import dev_configuration, merged, record_stack


def test_the_bound_does_not_look_at_recorded_dependencies():
    """Else a needless wait would raise the bound along with the time, and never be seen."""
    recording = record_stack(dev_configuration())
    before = bounds.lower_bound_s(recording, seed=0)
    recording.registrations = {
        urn: replace(item, dependencies=frozenset(), property_dependencies={}) for urn, item in recording.registrations.items()
    }
    assert bounds.lower_bound_s(recording, seed=0) == before


def test_a_needless_wait_is_seen_against_the_bound():
    """The file system behind the node groups costs minutes; three per cent must not hide it."""
    recording = record_stack(dev_configuration())
    (lustre,) = recording.of_type(kinds.FILE_SYSTEM)
    group = next(item for item in recording.of_type(kinds.NODE_GROUP) if item.name == "trn1-32xl")
    recording.registrations[lustre.urn] = replace(lustre, dependencies=lustre.dependencies | {group.urn})
    assert run_up(recording, World(), seed=0).seconds > 1.2 * bounds.lower_bound_s(recording, seed=0)


@pytest.mark.parametrize("seed", range(20))
def test_no_rehearsal_is_faster_than_the_bound(seed: int):
    """A bound that can be beaten is none."""
    recording = record_stack(dev_configuration())
    assert run_up(recording, World(), seed=seed, parallel=1000).seconds >= bounds.lower_bound_s(recording, seed)


@pytest.mark.parametrize(
    ("slow", "bound"),
    [
        (kinds.VPC, 1000 + 5),  # private subnet, control plane, node group, Volcano, queue
        (kinds.POD_BLOCK, 1 + 1000 + 4),  # VPC before; node subnet, node group, Volcano, queue
        (kinds.NAT_GATEWAY, 2 + 1000 + 3),  # VPC, public subnet before; node group, Volcano, queue
        (kinds.CLUSTER, 2 + 1000 + 3),
        (kinds.NODE_GROUP, 3 + 1000 + 2),
        (kinds.ADDON, 4 + 1000),  # VPC, subnet, control plane, core group before
        (kinds.RELEASE, 4 + 1000 + 1),
        ("kubernetes:scheduling.volcano.sh/v1beta1:Queue", 5 + 1000),
        (kinds.FILE_SYSTEM, 2 + 1000 + 2),  # volume and claim after
        (kinds.VOLUME, 3 + 1000 + 1),
        (kinds.CLAIM, 4 + 1000),
    ],
)
def test_the_bound_follows_the_chain_of_whatever_is_slow(slow: str, bound: float, monkeypatch: pytest.MonkeyPatch):
    """With one slow kind among seconds, the bound counts what must come before and after it, and nothing else."""
    recording = record_stack(dev_configuration())
    monkeypatch.setattr("simulator.latencies.seconds", lambda item, *_: 1000.0 if item.type == slow else 1.0)
    assert bounds.lower_bound_s(recording, seed=0) == bound


def bill(**changes: object) -> tuple[float, float, dict[str, float | None]]:
    """Running and idle USD per hour, and the lines, of a changed dev stack."""
    lines = costs.items(record_stack(merged(dev_configuration(), **changes)))
    return costs.total(lines, idle=False), costs.total(lines, idle=True), {line.what: line.usd_per_hour for line in lines}


def test_the_dev_stack_costs_what_its_parts_cost():
    """43.00 for the nodes; the rest by the list: control plane, NAT, address, core nodes, volumes, Lustre, key."""
    running, idle, lines = bill()
    volume = 100 * 0.08 / 730
    expected_idle = 0.10 + 0.045 + 0.005 + 2 * 0.192 + 2 * volume + 1200 * 0.145 / 730 + 1 / 730
    assert idle == pytest.approx(expected_idle, abs=0.0001)
    assert running == pytest.approx(expected_idle + 43.00 + 2 * volume, abs=0.0001)
    assert lines["2 x trn1.32xlarge"] == 43.0


def test_idle_keeps_the_core_volumes_and_none_of_the_neuron_nodes():
    """A group at zero has no volumes; the core group stays."""
    volume = 100 * 0.08 / 730
    larger = {"coreNodes": {"rootVolumeGib": 200}}
    assert bill(**larger)[1] - bill()[1] == pytest.approx(2 * volume, abs=0.0002)
    assert bill(nodeGroups={"trn1-32xl": {"rootVolumeGib": 400}})[1] == bill()[1]


def test_extended_support_shows_its_price():
    """Six times as much for the same control plane."""
    assert bill(controlPlane={"supportType": "EXTENDED"})[2]["EKS control plane"] == 0.60


def test_a_gateway_per_zone_is_billed_per_zone():
    """With its address."""
    assert bill(network={"nat": "per-zone"})[1] - bill()[1] == pytest.approx(0.05)


def test_a_type_without_a_price_is_not_billed_at_zero():
    """A missing price in the sum would read as free."""
    changes = {"nodeGroups": {"big": {"instanceType": "trn2.48xlarge", "size": 1, "releaseVersion": AMI_RELEASES["1.35"]}}}
    assert bill(**changes)[2]["1 x trn2.48xlarge"] is None


def test_a_spot_group_has_no_price():
    """A spot price moves by the hour: a sum with the on-demand price would be wrong by a factor of ten."""
    changes = {"nodeGroups": {"trn1-32xl": {"capacityType": "SPOT"}}}
    running, _, lines = bill(**changes)
    assert lines["2 x trn1.32xlarge (spot)"] is None
    assert running < 1


def test_a_capacity_block_costs_the_same_idle():
    """It is paid in advance."""
    block = {"instanceType": "trn2.48xlarge", "size": 1, "releaseVersion": AMI_RELEASES["1.35"], "capacityType": "CAPACITY_BLOCK"}
    _, idle, lines = bill(nodeGroups={"block": {**block, "capacityReservationId": "cr-0123456789abcdef0"}})
    assert lines["1 x trn2.48xlarge (capacity block, paid in advance)"] == 35.76
    assert idle > 35.76
