"""Lengths and sizes in which EC2 sells capacity blocks."""

from datetime import timedelta

WINDOW = timedelta(weeks=8)
"""How far ahead a block may start (EC2 user guide, capacity blocks, 2026-10)."""
DAY_H, WEEK_H, DAYS_H_MAX, WEEKS_H_MAX = 24, 168, 14 * 24, 182 * 24
"""Whole days up to 14, whole weeks up to 26 (EC2 API, DescribeCapacityBlockOfferings, CapacityDurationHours; botocore 1.44.5)."""
COUNTS = (1, 2, 4, 8, 16, 32, 64)
"""Instances of one block (EC2 user guide, capacity blocks, 2026-10)."""
PAYMENT_H = 12
"""Within which a block must be paid; after them EC2 releases it (EC2 API, CapacityReservationState `payment-failed`)."""


def is_sold(hours: int) -> bool:
    """Whether a block of exactly this length is sold."""
    in_days = 0 < hours <= DAYS_H_MAX and hours % DAY_H == 0
    return in_days or (0 < hours <= WEEKS_H_MAX and hours % WEEK_H == 0)


def sold_hours(hours: int) -> int | None:
    """The shortest block that lasts so many hours; None where none is that long."""
    step = DAY_H if hours <= DAYS_H_MAX else WEEK_H
    rounded = -(-max(1, hours) // step) * step
    return rounded if rounded <= WEEKS_H_MAX else None


def sold_count(count: int) -> int | None:
    """The smallest block with so many instances; None where none has that many."""
    return next((size for size in COUNTS if size >= count), None)
