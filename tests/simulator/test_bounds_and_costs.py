"""The lower bound and the bill."""

from dataclasses import replace

import pytest

from facts.neuron_releases import AMI_RELEASES
from simulator import bounds, costs
from simulator.account import kinds
from simulator.account.world import World
from simulator.cost_figures import Figures
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


def bill(**changes: object) -> tuple[Figures, dict[str, float | None]]:
    """The three figures, and the lines, of a changed dev stack."""
    lines = costs.items(record_stack(merged(dev_configuration(), **changes)))
    return costs.figures(lines), {line.what: line.now.usd_per_hour for line in lines}


def idle(**changes: object) -> float:
    """USD an hour of a changed dev stack at rest."""
    return bill(**changes)[0].idle.usd_per_hour


VOLUME = 100 * 0.08 / 730


def test_the_dev_stack_costs_what_its_parts_cost():
    """43.00 for the nodes; the rest by the list: control plane, NAT, address, core nodes, volumes, Lustre, key.

    At full size the Cluster Autoscaler has made six more core nodes; the Neuron groups are not its to size.
    """
    figures, lines = bill()
    expected_idle = 0.10 + 0.045 + 0.005 + 2 * 0.192 + 2 * VOLUME + 1200 * 0.145 / 730 + 1 / 730
    assert figures.idle.usd_per_hour == pytest.approx(expected_idle, abs=0.0001)
    assert figures.now.usd_per_hour == pytest.approx(expected_idle + 43.00 + 2 * VOLUME, abs=0.0001)
    assert figures.full_size.usd_per_hour == pytest.approx(figures.now.usd_per_hour + 6 * (0.192 + VOLUME), abs=0.0001)
    assert lines["2 x trn1.32xlarge"] == 43.0
    assert figures.words() == "43.82 USD an hour now, 45.04 at full size, 0.80 idle"


def test_idle_keeps_the_core_volumes_and_none_of_the_neuron_nodes():
    """A group at zero has no volumes; the core group stays."""
    assert idle(coreNodes={"rootVolumeGib": 200}) - idle() == pytest.approx(2 * VOLUME, abs=0.0002)
    assert idle(nodeGroups={"trn1-32xl": {"rootVolumeGib": 400}}) == idle()


def test_extended_support_shows_its_price():
    """Six times as much for the same control plane."""
    assert bill(controlPlane={"supportType": "EXTENDED"})[1]["EKS control plane"] == 0.60


def test_a_gateway_per_zone_is_billed_per_zone():
    """With its address."""
    assert idle(network={"nat": "per-zone"}) - idle() == pytest.approx(0.05)


def group(**keys: object) -> dict[str, object]:
    """The dev stack's groups with one more, of one node."""
    return {"nodeGroups": {"big": {"instanceType": "trn2.48xlarge", "size": 1, "releaseVersion": AMI_RELEASES["1.35"], **keys}}}


RESERVATION = "cr-0123456789abcdef0"


def test_a_type_without_a_price_is_not_billed_at_zero():
    """A missing price in the sum would read as free: the figure names what it lacks."""
    figures, lines = bill(**group())
    assert lines["1 x trn2.48xlarge"] is None
    assert figures.now.words() == "43.83 + 1 x trn2.48xlarge of unknown price"
    assert figures.idle.without == ()


def test_a_spot_group_has_no_price():
    """A spot price moves by the hour: a sum with the on-demand price would be wrong by a factor of ten."""
    figures, lines = bill(nodeGroups={"trn1-32xl": {"capacityType": "SPOT"}})
    assert lines["2 x trn1.32xlarge (spot)"] is None
    assert figures.now.usd_per_hour < 1
    assert figures.now.without == ("2 x trn1.32xlarge (spot)",)


def test_a_capacity_block_costs_the_same_idle():
    """It is paid in advance."""
    figures, lines = bill(**group(capacityType="CAPACITY_BLOCK", capacityReservationId=RESERVATION))
    assert lines["1 x trn2.48xlarge (capacity block, paid in advance)"] == 35.76
    assert figures.idle.usd_per_hour > 35.76


def test_a_block_with_times_is_paid_before_its_start_too():
    """Its group is made empty; the block costs what it costs."""
    times = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
    keys = {"capacityType": "CAPACITY_BLOCK", "capacityReservationId": RESERVATION, "capacityBlock": times}
    figures, lines = bill(**group(**keys))
    assert lines["1 x trn2.48xlarge (capacity block, paid in advance)"] == 35.76
    assert figures.idle.usd_per_hour > 35.76


def test_a_schedule_sets_its_size_and_no_more():
    """Most nodes are for `trn scale`: nothing grows the group to them by itself."""
    night = {"size": 1, "maxSize": 8, "schedule": {"downAt": "0 20 * * *", "upAt": "0 7 * * *"}}
    figures, lines = bill(coreNodes={"autoscaled": False}, nodeGroups={"trn1-32xl": night})
    assert lines["1 x trn1.32xlarge"] == pytest.approx(21.5, abs=0.01)
    assert figures.full_size == figures.now


def test_a_block_without_a_price_is_in_the_headline():
    """Sixteen nodes that were paid in advance, shown as 0.97 USD an hour, would be the most expensive misreading of all."""
    keys = {"instanceType": "trn1.32xlarge", "size": 16, "capacityType": "CAPACITY_BLOCK", "capacityReservationId": RESERVATION}
    figures, _ = bill(nodeGroups={"trn1-32xl": {"size": 0, "maxSize": 1}, **group(**keys)["nodeGroups"]})  # type: ignore[dict-item]
    block = "16 x trn1.32xlarge (capacity block, paid in advance) of unknown price"
    assert figures.words() == f"0.97 USD an hour + {block} now, 2.19 + {block} at full size, 0.80 + {block} idle"


def pools(**pool: object) -> dict[str, object]:
    """The dev stack without Neuron nodes, with a pool of Karpenter in place of the Cluster Autoscaler."""
    return {
        "coreNodes": {"autoscaled": False},
        "nodeGroups": {"trn1-32xl": {"size": 0, "maxSize": 1}},
        "addons": {"clusterAutoscaler": {"enabled": False}, "karpenter": {"enabled": True, "neuronPools": {"pool": pool}}},
    }


def test_a_pool_that_grows_without_a_price_is_in_the_headline():
    """Four trn2.48xlarge that the first job starts are no 0.80 USD an hour."""
    figures, _ = bill(**pools(instanceType="trn2.48xlarge", maxNodes=4))
    assert figures.words() == ("0.80 USD an hour now, 0.84 + 4 x trn2.48xlarge (Karpenter) of unknown price at full size, 0.80 idle")


def test_a_pool_that_grows_costs_its_nodes_and_their_volumes_at_full_size():
    """And nothing before the first job."""
    figures, _ = bill(**pools(instanceType="trn1.32xlarge", maxNodes=4))
    assert figures.now == figures.idle
    assert figures.full_size.usd_per_hour - figures.now.usd_per_hour == pytest.approx(4 * (21.50 + VOLUME), abs=0.0002)


def test_a_static_pool_costs_the_same_always():
    """It keeps its nodes."""
    figures, _ = bill(**pools(instanceType="trn1.32xlarge", maxNodes=2, static=True))
    assert figures.now == figures.full_size == figures.idle
    assert figures.now.usd_per_hour > 43


@pytest.mark.parametrize(
    ("pool", "usd"),
    [
        ({"instanceType": "trn1.32xlarge", "capacityType": "RESERVED"}, 2 * 21.50),
        ({"instanceType": "trn2.48xlarge", "capacityType": "CAPACITY_BLOCK"}, 2 * 35.76),
    ],
)
def test_reserved_nodes_of_a_pool_are_paid_for_before_a_job_asks(pool: dict[str, object], usd: float):
    """A reservation bills whether its instances run or not."""
    figures, _ = bill(**pools(maxNodes=2, capacityReservationId=RESERVATION, **pool))
    assert figures.now.usd_per_hour == pytest.approx(usd + 0.80, abs=0.01)
    assert figures.idle.usd_per_hour == figures.now.usd_per_hour


def test_a_spot_pool_has_no_price():
    """At full size, where it has nodes."""
    figures, _ = bill(**pools(instanceType="trn1.32xlarge", maxNodes=2, capacityType="SPOT"))
    assert figures.full_size.without == ("2 x trn1.32xlarge (Karpenter, spot)",)
    assert figures.now.without == ()


def test_a_reserved_group_is_paid_for_at_zero_nodes():
    """An on-demand reservation goes on billing when the group is emptied; only its volumes are gone."""
    figures, _ = bill(nodeGroups={"trn1-32xl": {"capacityReservationId": RESERVATION}})
    assert figures.now.usd_per_hour - figures.idle.usd_per_hour == pytest.approx(2 * VOLUME, abs=0.0002)


def test_the_general_pool_is_named_at_full_size():
    """Its instances may be of any of many types: there is no one price."""
    changes = pools(instanceType="trn1.32xlarge", maxNodes=1)
    changes["addons"]["karpenter"]["generalPool"] = {"enabled": True}  # type: ignore[index]
    figures, _ = bill(**changes)
    assert figures.full_size.without == ("up to 64 vCPU of c, m and r instances (Karpenter)",)


def test_an_autoscaled_group_costs_its_limit_at_full_size():
    """From zero too: the line says what there may be."""
    figures, lines = bill(nodeGroups={"trn1-32xl": {"size": 0, "maxSize": 4, "autoscaled": True}})
    assert figures.full_size.usd_per_hour == pytest.approx(0.7956 + 6 * (0.192 + VOLUME) + 4 * (21.5 + VOLUME), abs=0.001)
    assert lines["4 x trn1.32xlarge"] == 0
