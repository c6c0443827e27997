"""When the instances of a capacity block can be used."""

from datetime import UTC, datetime, timedelta

from facts.capacity_blocks import ends_as_sold, window

BLOCK = window("2026-12-01T12:30:00+01:00", "2026-12-02T06:30:00-05:00")


def test_times_of_any_zone_become_those_of_utc():
    """The same block, whoever wrote it down where."""
    assert (BLOCK.starts, BLOCK.ends) == (datetime(2026, 12, 1, 11, 30, tzinfo=UTC), datetime(2026, 12, 2, 11, 30, tzinfo=UTC))
    assert BLOCK.length == timedelta(days=1)


def test_instances_run_from_the_start_until_half_an_hour_before_the_end():
    """EC2 begins to terminate them then (EC2 user guide, capacity-blocks-how)."""
    last = datetime(2026, 12, 2, 11, 0, tzinfo=UTC)
    assert BLOCK.terminates == last
    assert [BLOCK.holds(moment) for moment in (BLOCK.starts - timedelta(seconds=1), BLOCK.starts, last - timedelta(seconds=1), last)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_the_group_is_emptied_before_that():
    """As long before the end as its jobs need for a checkpoint."""
    assert BLOCK.emptied(timedelta(minutes=60)) == datetime(2026, 12, 2, 10, 30, tzinfo=UTC)


def test_all_blocks_end_at_one_time_of_day():
    """11:30 UTC, wherever they are (EC2 user guide, capacity-blocks-using)."""
    assert ends_as_sold(datetime.fromisoformat("2026-12-02T06:30:00-05:00"))
    assert not ends_as_sold(datetime(2026, 12, 2, 11, 0, tzinfo=UTC))
