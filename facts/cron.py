"""Cron expressions with five fields, as users write them, as EventBridge Scheduler takes them, and as moments.

A subset on which both readers agree: numbers, names, `*`, lists, ranges and steps. Weekdays by name only, since Sunday is 0 in cron
and 1 in EventBridge (EventBridge Scheduler user guide, schedule-types, November 2026).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from facts.text_formats import Form

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_ITEM = r"(\*|[0-9A-Z]+(-[0-9A-Z]+)?)(/[0-9]+)?"
_FIELD = rf"{_ITEM}(,{_ITEM})*"


@dataclass(frozen=True)
class _Range:
    """What one field may hold."""

    first: int
    last: int
    names: tuple[str, ...] = ()
    """Names of the numbers from `first` on."""
    only_names: bool = False

    def number(self, text: str) -> int:
        """The number that a text stands for. Raises ValueError."""
        if text in self.names:
            return self.first + self.names.index(text)
        if self.only_names or not text.isdigit() or not self.first <= int(text) <= self.last:
            raise ValueError(text)
        return int(text)


_RANGES = (_Range(0, 59), _Range(0, 23), _Range(1, 31), _Range(1, 12, MONTHS), _Range(0, 6, WEEKDAYS, only_names=True))


@dataclass(frozen=True)
class Cron:
    """An expression that has been read: the numbers that each field allows."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Monday is 0."""

    def on(self, day: datetime) -> bool:
        """Whether it fires on a day at all."""
        return day.day in self.days and day.month in self.months and day.weekday() in self.weekdays


def read(text: str) -> Cron:
    """The expression as numbers. Raises ValueError for one that is not of the form `CRON`."""
    fields = text.split(" ")
    if len(fields) != len(_RANGES):
        raise ValueError(text)
    return Cron(*(_numbers(field, bounds) for field, bounds in zip(fields, _RANGES, strict=True)))


def _numbers(field: str, bounds: _Range) -> frozenset[int]:
    found: set[int] = set()
    for item in field.split(","):
        span, _, step = item.partition("/")
        first, _, last = span.partition("-")
        start = bounds.first if span == "*" else bounds.number(first)
        # `3/10` is from 3 on in EventBridge.
        end = bounds.last if span == "*" or (step and not last) else bounds.number(last or first)
        numbers = range(start, end + 1, int(step) if step else 1)
        if not numbers:
            raise ValueError(item)
        found |= set(numbers)
    return frozenset(found)


def _is_cron(text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    _, _, day, _, weekday = text.split(" ")
    found = read(text)
    # EventBridge takes one of the two kinds of day, and `?` for the other. On February 30 nothing ever fires.
    return "*" in (day, weekday) and any(date.month in found.months and date.day in found.days for date in _leap_year())


CRON = Form(
    "cron expression with five fields",
    rf"{_FIELD}( {_FIELD}){{4}}",
    "minute, hour, day of the month, month and weekday, such as `0 20 * * MON-FRI`; weekdays by name, and not both kinds of day",
    "`0 20 * * MON-FRI` is 20:00 from Monday to Friday, `0 8 1 * *` is 8:00 on the first of each month",
    100,
    _is_cron,
)


def eventbridge(text: str) -> str:
    """The expression as EventBridge Scheduler takes it: six fields, `?` for the day that is not named, any year."""
    minute, hour, day, month, weekday = text.split(" ")
    if weekday == "*":
        weekday = "?"
    else:
        day = "?"
    return f"cron({minute} {hour} {day} {month} {weekday} *)"


def from_eventbridge(expression: str) -> str:
    """The expression that `eventbridge` was given."""
    minute, hour, day, month, weekday, _ = expression.removeprefix("cron(").removesuffix(")").replace("?", "*").split(" ")
    return f"{minute} {hour} {day} {month} {weekday}"


def moments(text: str, time_zone: str, start: datetime, end: datetime) -> Iterator[datetime]:
    """When it fires from `start` on and before `end`, in the order of time, in the zone itself.

    An hour that daylight saving leaves out does not fire, and one that it repeats fires once (EventBridge Scheduler user guide,
    schedule-types, daylight savings time).
    """
    cron, zone = read(text), ZoneInfo(time_zone)
    day = start.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    while day.replace(tzinfo=zone) < end:
        if cron.on(day):
            for hour in sorted(cron.hours):
                for minute in sorted(cron.minutes):
                    moment = day.replace(hour=hour, minute=minute, tzinfo=zone)
                    if start <= moment < end and _exists(moment):
                        yield moment
        day += timedelta(days=1)


def coincide(first: str, second: str) -> bool:
    """Whether two expressions of one time zone ever fire at one moment."""
    one, other = read(first), read(second)
    if not (one.minutes & other.minutes and one.hours & other.hours and one.weekdays & other.weekdays):
        return False
    # Each date, February 29 included, falls on each day of the week in some year.
    months, numbers = one.months & other.months, one.days & other.days
    return any(day.month in months and day.day in numbers for day in _leap_year())


def _leap_year() -> Iterator[datetime]:
    """Every date that there is."""
    return (datetime(2028, 1, 1) + timedelta(days=number) for number in range(366))


def _exists(moment: datetime) -> bool:
    """Whether a clock of the zone ever shows it."""
    shown = moment.astimezone(ZoneInfo("UTC")).astimezone(moment.tzinfo)
    return shown.replace(tzinfo=None) == moment.replace(tzinfo=None)
