"""What a stack costs: by the hour, the day and the run, now, at full size and idle, item by item, each price with its origin."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from facts.catalogue import SOURCES, instance_type
from facts.prices import PRICED_REGIONS, PRICES, hourly
from simulator.cost_figures import Amount, Figure, Figures, figure
from simulator.costs import CostItem, items
from stacks.external import paid_by_others
from trn.aws.pricing import LivePrice
from trn.before.cost.week import week_notes, weekly_hours
from trn.engine.program import rehearse_stack, settings_of
from trn.engine.stack_file import StackFile

HOURS_PER_DAY = 24


@dataclass(frozen=True)
class Line:
    """One line of the bill."""

    name: str
    price: str
    """Entry of the price table, or instance type."""
    now: Amount
    full_size: Amount
    idle: Amount
    source: str
    """Where the price is from, with its date."""
    verified: bool
    """False where the price was not found on a page."""
    paid_in_advance: bool = False
    """Whether today's list price says nothing about it."""

    @property
    def what(self) -> str:
        """What there is now; what there may be where there is nothing now."""
        return self.now.what if self.now.usd_per_hour != 0 else self.full_size.what


@dataclass(frozen=True)
class Bill:
    """What one stack costs. Nothing that bills by use is in it: data through NAT gateways, log ingestion, requests."""

    stack: str
    region: str
    lines: tuple[Line, ...]
    around_a_run_h: float
    """Hours of a rehearsed up and destroy together."""
    existing: tuple[str, ...] = ()
    """What the stack uses and others pay for, by id or name."""
    weekly_hours: Mapping[str, float] = field(default_factory=dict)
    """Hours of a week in which a group with a schedule has nodes, by its name."""

    @property
    def figures(self) -> Figures:
        """The three sums."""
        return Figures(
            now=figure(line.now for line in self.lines),
            full_size=figure(line.full_size for line in self.lines),
            idle=figure(line.idle for line in self.lines),
        )

    def run(self, hours: float) -> tuple[Figure, Figure]:
        """USD of `hours` of training, and at most of the up and destroy around it: as if all nodes ran all that time."""
        now = self.figures.now
        return now.times(hours), now.times(self.around_a_run_h)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the figures."""
        said = []
        if self.region not in PRICED_REGIONS and any(not line.source.startswith("Pricing API") for line in self.lines):
            said.append(f"the table holds prices of {', '.join(PRICED_REGIONS)}; in {self.region} others hold: --live asks for them")
        if self.existing:
            said.append(f"not in the sums, since the stack uses and does not make it: {', '.join(self.existing)}")
        doubtful = sorted({line.price for line in self.lines if not line.verified and line.full_size.usd_per_hour})
        if doubtful:
            said.append(f"price not verified, do not rely on: {', '.join(doubtful)}")
        return (*said, *week_notes(self.weekly_hours, self.lines))


def bill_of(stack_file: StackFile) -> Bill:
    """The bill of one stack file, with the prices of the table; rehearses the stack for its items and its times.

    Raises ConfigurationError, or what the program raises.
    """
    rehearsal = rehearse_stack(stack_file)
    seconds = rehearsal.report.up.seconds + rehearsal.report.destroy.seconds
    lines = tuple(_line(item) for item in items(rehearsal.recording))
    settings = settings_of(stack_file)
    return Bill(
        stack_file.stack,
        str(stack_file.configuration["region"]),
        lines,
        round(seconds / 3600, 3),
        paid_by_others(settings),
        weekly_hours(settings),
    )


def _line(item: CostItem) -> Line:
    price, advance = PRICES.get(item.price), "capacity block" in item.full_size.what
    source = price.source if price else SOURCES["block_price_usd_per_hour" if advance else "price_usd_per_hour"]
    return Line(item.name, item.price, item.now, item.full_size, item.idle, source, item.verified, advance)


def repriced(bill: Bill, live: Mapping[str, LivePrice | None]) -> Bill:
    """The bill with live prices where there are any; the other lines keep the table's and say so by their source."""
    return replace(bill, lines=tuple(_repriced(line, live.get(line.price)) for line in bill.lines))


def _repriced(line: Line, price: LivePrice | None) -> Line:
    listed = _listed_usd_per_hour(line.price)
    if price is None or not listed or line.paid_in_advance:
        return line
    now, full_size, idle = (_scaled(amount, price.usd_per_hour / listed) for amount in (line.now, line.full_size, line.idle))
    return replace(line, now=now, full_size=full_size, idle=idle, source=price.source, verified=True)


def _scaled(amount: Amount, factor: float) -> Amount:
    return amount if amount.usd_per_hour is None else Amount(amount.what, round(amount.usd_per_hour * factor, 6))


def _listed_usd_per_hour(price: str) -> float | None:
    return hourly(price) if price in PRICES else instance_type(price).price_usd_per_hour


@dataclass(frozen=True)
class Difference:
    """One item of two bills, matched by name and kind of price."""

    name: str
    price: str
    before_usd_per_hour: float | None
    after_usd_per_hour: float | None
    """Now; None where a part of it has no known price."""
    before_full_size_usd_per_hour: float | None
    after_full_size_usd_per_hour: float | None

    @property
    def size(self) -> float:
        """The largest change in USD an hour; unknown prices come before all others."""
        pairs = (
            (self.before_usd_per_hour, self.after_usd_per_hour),
            (self.before_full_size_usd_per_hour, self.after_full_size_usd_per_hour),
        )
        return max(float("inf") if before is None or after is None else abs(after - before) for before, after in pairs if before != after)


def differences(before: Bill, after: Bill) -> list[Difference]:
    """Items whose price differs, now or at full size, the largest change first."""
    keys = sorted({(line.name, line.price) for line in (*before.lines, *after.lines)})
    found = [Difference(*key, *(_usd(bill, key, full=full) for full in (False, True) for bill in (before, after))) for key in keys]
    changed = [
        item
        for item in found
        if item.before_usd_per_hour != item.after_usd_per_hour or item.before_full_size_usd_per_hour != item.after_full_size_usd_per_hour
    ]
    return sorted(changed, key=lambda item: (-item.size, item.name, item.price))


def _usd(bill: Bill, key: tuple[str, str], *, full: bool) -> float | None:
    """What one item costs in a bill: 0 where it is not in it, None where a part of it has no known price."""
    amounts = [line.full_size if full else line.now for line in bill.lines if (line.name, line.price) == key]
    found = figure(amounts)
    return None if found.without else found.usd_per_hour
