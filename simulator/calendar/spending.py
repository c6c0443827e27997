"""What the days cost, hour by hour, and when a budget's messages come: billing data is late, and so are they.

Source: facts/budgets.py, for the delays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from facts.budgets import BILLING_DELAY_HOURS, UPDATE_HOURS
from simulator.calendar.run import Days, Stay

STEP = timedelta(minutes=15)


@dataclass(frozen=True)
class Alarm:
    """A budget, as far as the days can show it. A forecast takes weeks of costs, and is left out."""

    limit_usd: float
    """Of a month, which is taken to begin with the days."""
    percents: Sequence[int]


@dataclass(frozen=True)
class Crossing:
    """One part of the limit that the costs pass."""

    percent: int
    passed: datetime
    told: datetime
    """When the message has come at the latest."""
    usd_then: float
    """What the month has cost by then."""


def usd_until(days: Days, moment: datetime, always_usd_per_hour: float) -> float:
    """Costs from the first moment on: nodes that ran, and what bills at all times. Blocks are paid when they are bought, and left out."""
    total = always_usd_per_hour * _hours(days.start, moment)
    return total + sum(_usd(stay, moment) for stay in days.stays.values() if stay.place.block is None)


def _usd(stay: Stay, moment: datetime) -> float:
    price = stay.place.usd_per_hour or 0.0
    return price * sum(nodes * _hours(first, min(last, moment)) for first, last, nodes in stay.spans if first < moment)


def _hours(first: datetime, last: datetime) -> float:
    return max(0.0, (last - first).total_seconds() / 3600)


def crossings(days: Days, alarm: Alarm, always_usd_per_hour: float) -> Iterator[Crossing]:
    """Parts of the limit that the days pass, in the order of time."""
    latest = timedelta(hours=BILLING_DELAY_HOURS + UPDATE_HOURS[1])
    waiting, moment = sorted(set(alarm.percents)), days.start
    while waiting and moment <= days.end:
        while waiting and usd_until(days, moment, always_usd_per_hour) > alarm.limit_usd * waiting[0] / 100:
            told = moment + latest
            yield Crossing(waiting.pop(0), moment, told, usd_until(days, min(told, days.end), always_usd_per_hour))
        moment += STEP
