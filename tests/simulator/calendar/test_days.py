"""Days of a cluster in the virtual clock: blocks and schedules, with groups and with Karpenter."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from facts.capacity_blocks import Window, window
from simulator.account.allowances import Allowances
from simulator.account.world import World
from simulator.calendar.plan import Firing, Place, Work, firings, sizes_before
from simulator.calendar.run import Days, run_days
from simulator.engine.plan import plan
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording
from tests.support import dev_configuration, merged, record_stack

FIRST, SECOND = window("2026-12-01T11:30:00Z", "2026-12-03T11:30:00Z"), window("2026-12-04T11:30:00Z", "2026-12-06T11:30:00Z")
IDS = ("cr-0123456789abcdef0", "cr-0123456789abcdef1")
NIGHT = {"downAt": "0 20 * * MON-FRI", "upAt": "0 7 * * MON-FRI", "timeZone": "Europe/Berlin"}
HOUR = timedelta(hours=1)


def _on_block(block_id: str, block: Window) -> dict[str, Any]:
    times = {"startsAt": block.starts.isoformat(), "endsAt": block.ends.isoformat()}
    kinds = {"instanceType": "trn1.32xlarge", "capacityType": "CAPACITY_BLOCK", "releaseVersion": "1.35.4-20260505"}
    return {**kinds, "size": 2, "capacityReservationId": block_id, "capacityBlock": times}


@cache
def _recording(name: str) -> Recording:
    groups = {
        "blocks": {"first": _on_block(IDS[0], FIRST), "second": _on_block(IDS[1], SECOND)},
        "nights": {"trn1-32xl": {"schedule": NIGHT}},
    }
    return record_stack(merged(dev_configuration(), nodeGroups=groups[name]))


@cache
def _engine(name: str) -> Engine:
    engine = Engine(World(), State())
    assert engine.up(_recording(name)).ended_well
    return engine


def _world(name: str, blocks: Mapping[str, Window] | None = None) -> World:
    world = _engine(name).world.copy()
    world.state.allowances = Allowances(blocks=blocks or {})
    return world


PLACES = (Place("first", 2, 9.5, FIRST), Place("second", 2, 9.5, SECOND))
START, END = FIRST.starts - HOUR, SECOND.ends + HOUR
BLOCKS: dict[str, Window] = dict(zip(IDS, (FIRST, SECOND), strict=True))


def blocks(work: Work, places: Sequence[Place] = PLACES, calls: Sequence[Firing] | None = None) -> Days:
    """Two blocks, a day apart, on two groups."""
    recorded = firings(_recording("blocks"), START, END) if calls is None else calls
    return run_days(_world("blocks", BLOCKS), places, recorded, work, START, END)


def said(days: Days, subject: str) -> list[str]:
    """What happened to one of them, with day and time."""
    return [f"{entry.moment:%d %H:%M} {entry.what}" for entry in days.entries if entry.subject == subject]


def test_a_group_goes_up_with_its_block_and_is_empty_before_its_end():
    """By the schedules that the program made, as the account takes them."""
    lines = said(blocks(Work(60)), "first")
    assert lines[0].startswith("01 11:30")
    assert [line[len("01 11:30 ") :] for line in lines] == [
        "a schedule sets it to 2", "2 nodes are ready", "a schedule sets it to 0: its nodes are drained", "its nodes are gone",
    ]  # fmt: skip
    assert lines[2].startswith("03 10:30")
    assert lines[3].startswith("03 10:35")


def test_the_job_saves_before_the_end_and_goes_on_in_the_second_block():
    """Nothing of it is lost, and it ends when it has done its work."""
    days = blocks(Work(60))
    lines = said(days, "job")
    assert lines[1].startswith("03 10:35 has saved its checkpoint: 46.")
    assert "starts on second again, from 46." in lines[2]
    assert lines[3].endswith("is done: 60 hours of work")
    assert (days.job.stops, days.job.lost_hours, days.job.done_hours) == (1, 0.0, 60)
    assert not any(entry.is_bad for entry in days.entries)


def test_a_checkpoint_that_takes_longer_than_there_is_time_loses_what_came_after_the_last_one():
    """Half an hour from the drain until EC2 terminates the nodes."""
    days = blocks(Work(60, grace=timedelta(minutes=31)))
    assert 0 < days.job.lost_hours < 0.5
    (bad,) = [entry for entry in days.entries if entry.is_bad and entry.subject == "job"]
    assert (bad.moment, bad.what[:40]) == (FIRST.terminates, "had 30 minutes for a checkpoint that tak")
    assert [entry.moment for entry in days.entries if "EC2 terminates 2 nodes" in entry.what] == [FIRST.terminates]
    assert not blocks(Work(60, grace=timedelta(minutes=30))).job.lost_hours


def test_without_schedules_eks_empties_the_group_forty_minutes_before_the_end():
    """Its own scheduled action, which leaves ten minutes for a checkpoint."""
    calls = [Firing(FIRST.starts, "first", 2)]
    lines = said(blocks(Work(60), calls=calls), "first")
    assert "03 10:50 EKS itself sets it to 0: its nodes are drained" in lines
    assert not blocks(Work(60, grace=timedelta(minutes=10)), calls=calls).job.lost_hours
    assert blocks(Work(60, grace=timedelta(minutes=11)), calls=calls).job.lost_hours


def test_a_group_that_goes_up_before_its_block_gets_no_instance():
    """And stays at the size it had, as the account says why."""
    days = blocks(Work(60), calls=[Firing(FIRST.starts - timedelta(minutes=1), "first", 2)])
    (bad,) = [entry for entry in days.entries if entry.is_bad]
    assert "InvalidCapacityReservationState.PendingActivation" in bad.what
    assert days.stays["first"].node_hours == 0


def test_a_group_that_goes_up_after_its_block_gets_no_instance():
    """EC2 takes instances from then on."""
    days = blocks(Work(60), calls=[Firing(FIRST.terminates, "first", 2)])
    assert "ReservationCapacityExceeded" in next(entry.what for entry in days.entries if entry.is_bad)


def test_nodes_that_still_drain_when_others_come_are_counted():
    """Two minutes after the group was emptied it is filled again: the hours before are paid all the same."""
    at = FIRST.starts + 10 * HOUR
    calls = [Firing(FIRST.starts, "first", 2), Firing(at, "first", 0), Firing(at + timedelta(minutes=2), "first", 2)]
    assert blocks(Work(60), calls=calls).stays["first"].node_hours > 2 * 47


def test_a_call_for_a_group_that_is_gone_does_nothing():
    """A schedule that outlived its group; the program deletes it first."""
    days = blocks(Work(60), calls=[Firing(FIRST.starts, "third", 2)])
    assert [entry.what.rpartition(" ")[2] for entry in days.entries if entry.is_bad] == ["ResourceNotFoundException"]


def test_karpenter_launches_at_the_start_and_drains_ten_minutes_before_ec2():
    """It needs no schedule: it finds the block by its id."""
    pools = (Place("pool", 2, 9.5, FIRST, is_pool=True), Place("next", 2, 9.5, SECOND, is_pool=True))
    days = blocks(Work(60, grace=timedelta(minutes=10)), places=pools, calls=[])
    lines = said(days, "pool")
    assert lines[0] == "01 11:30 Karpenter launches 2 for the waiting job"
    assert "03 10:50 Karpenter drains its nodes, 40 minutes before the end of the block" in lines
    assert said(days, "next")[0] == "04 11:30 Karpenter launches 2 for the waiting job"
    assert (days.job.done_hours, days.job.lost_hours) == (60, 0.0)


def test_with_karpenter_a_checkpoint_has_ten_minutes():
    """One that takes eleven is cut off."""
    pools = (Place("pool", 2, 9.5, FIRST, is_pool=True),)
    assert blocks(Work(60, grace=timedelta(minutes=11)), places=pools, calls=[]).job.lost_hours > 0


WEEK = datetime(2027, 1, 11, tzinfo=UTC), datetime(2027, 1, 18, tzinfo=UTC)


def nights(work: Work) -> Days:
    """A week of nights and a weekend without nodes."""
    recording = _recording("nights")
    before = sizes_before(recording, WEEK[0])
    return run_days(_world("nights"), (Place("trn1-32xl", 2, 21.5),), firings(recording, *WEEK), work, *WEEK, before=before)


def test_a_week_of_nights_has_the_hours_of_its_days():
    """13 hours on five days, of two nodes, in the time of Berlin; the group is empty when the week begins."""
    days = nights(Work(1))
    assert round(days.stays["trn1-32xl"].node_hours) == 5 * 13 * 2
    assert said(days, "trn1-32xl")[0] == "11 06:00 a schedule sets it to 2"


def test_a_job_goes_on_in_the_morning():
    """It saves in the evening, and loses the hours in which there are no nodes, and no others."""
    days = nights(Work(30))
    assert days.job.stops == 2
    assert days.job.lost_hours == 0
    assert f"{days.job.ended:%a %H}" == "Wed 10"


def test_the_same_seed_gives_the_same_days():
    """A rehearsal can be repeated."""
    assert nights(Work(30)).entries == nights(Work(30)).entries


def test_another_size_at_night_changes_the_schedules_alone():
    """They set the limits as well. A run of the program with a raised limit would send the size of its last run along: nodes at night."""
    after = record_stack(merged(dev_configuration(), nodeGroups={"trn1-32xl": {"schedule": NIGHT, "size": 4}}))
    changes = plan(_engine("nights").state, after, creations={}, seed=0)
    changed = {urn.rsplit("::", 1)[-1]: change.kind for urn, change in changes.items() if change.kind != "same"}
    assert changed == {"schedules-trn1-32xl-down": "update", "schedules-trn1-32xl-up": "update"}
