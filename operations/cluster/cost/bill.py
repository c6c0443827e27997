"""What a stack costs: by the hour, the day and the run, running and idle, item by item, each price with its origin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from facts.catalogue import SOURCES, instance_type
from facts.prices import PRICED_REGIONS, PRICES, hourly
from operations.aws.pricing import LivePrice
from operations.program import rehearse_stack
from operations.stack_file import StackFile
from simulator.costs import CostItem, items

HOURS_PER_DAY = 24


@dataclass(frozen=True)
class Line:
    """One line of the bill."""

    name: str
    what: str
    price: str
    """Entry of the price table, or instance type."""
    running_usd_per_hour: float | None
    """None where no list price exists."""
    idle_usd_per_hour: float | None
    source: str
    """Where the price is from, with its date."""
    verified: bool
    """False where the price was not found on a page."""


@dataclass(frozen=True)
class Bill:
    """What one stack costs. Nothing that bills by use is in it: data through NAT gateways, log ingestion, requests."""

    stack: str
    region: str
    lines: tuple[Line, ...]
    around_a_run_h: float
    """Hours of a rehearsed up and destroy together."""

    @property
    def running_usd_per_hour(self) -> float:
        """With all groups at their size."""
        return round(sum(line.running_usd_per_hour or 0 for line in self.lines), 4)

    @property
    def idle_usd_per_hour(self) -> float:
        """With the Neuron groups at zero and everything else left."""
        return round(sum(line.idle_usd_per_hour or 0 for line in self.lines), 4)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of lines that have no list price and are missing from the sums."""
        return tuple(sorted({line.name for line in self.lines if line.running_usd_per_hour is None}))

    def run_usd(self, hours: float) -> tuple[float, float]:
        """USD of `hours` of training, and at most of the up and destroy around it: as if all nodes ran all that time."""
        return round(self.running_usd_per_hour * hours, 2), round(self.running_usd_per_hour * self.around_a_run_h, 2)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be known to read the figures."""
        said = []
        if self.region not in PRICED_REGIONS and any(not line.source.startswith("Pricing API") for line in self.lines):
            said.append(f"the table holds prices of {', '.join(PRICED_REGIONS)}; in {self.region} others hold: --live asks for them")
        if self.unpriced:
            said.append(f"no list price, not in the sums: {', '.join(self.unpriced)}")
        doubtful = sorted({line.price for line in self.lines if not line.verified and line.running_usd_per_hour})
        if doubtful:
            said.append(f"not found on a price page, do not rely on: {', '.join(doubtful)}")
        return tuple(said)


def bill_of(stack_file: StackFile) -> Bill:
    """The bill of one stack file, with the prices of the table; rehearses the stack for its items and its times.

    Raises ConfigurationError, or what the program raises.
    """
    rehearsal = rehearse_stack(stack_file)
    seconds = rehearsal.report.up.seconds + rehearsal.report.destroy.seconds
    lines = tuple(_line(item) for item in items(rehearsal.recording) if item.usd_per_hour != 0)
    return Bill(stack_file.stack, str(stack_file.configuration["region"]), lines, round(seconds / 3600, 3))


def _line(item: CostItem) -> Line:
    price = PRICES.get(item.price)
    source = price.source if price else SOURCES["price_usd_per_hour"]
    return Line(item.name, item.what, item.price, item.usd_per_hour, item.idle_usd_per_hour, source, item.verified)


def repriced(bill: Bill, live: Mapping[str, LivePrice | None]) -> Bill:
    """The bill with live prices where there are any; the other lines keep the table's and say so by their source."""
    return replace(bill, lines=tuple(_repriced(line, live.get(line.price)) for line in bill.lines))


def _repriced(line: Line, price: LivePrice | None) -> Line:
    listed = _listed_usd_per_hour(line.price)
    if price is None or not listed or line.running_usd_per_hour is None or "capacity block" in line.what:
        return line
    factor = price.usd_per_hour / listed
    running, idle = line.running_usd_per_hour * factor, (line.idle_usd_per_hour or 0) * factor
    return replace(line, running_usd_per_hour=round(running, 6), idle_usd_per_hour=round(idle, 6), source=price.source, verified=True)


def _listed_usd_per_hour(price: str) -> float | None:
    return hourly(price) if price in PRICES else instance_type(price).price_usd_per_hour


@dataclass(frozen=True)
class Difference:
    """One item of two bills, matched by name and kind of price."""

    name: str
    price: str
    before_usd_per_hour: float
    after_usd_per_hour: float


def differences(before: Bill, after: Bill) -> list[Difference]:
    """Items whose running price differs, the largest change first."""
    sums = [_by_item(before.lines), _by_item(after.lines)]
    found = [Difference(*key, round(sums[0].get(key, 0), 6), round(sums[1].get(key, 0), 6)) for key in sorted({*sums[0], *sums[1]})]
    changed = [item for item in found if item.before_usd_per_hour != item.after_usd_per_hour]
    return sorted(changed, key=lambda item: (-abs(item.after_usd_per_hour - item.before_usd_per_hour), item.name, item.price))


def _by_item(lines: Sequence[Line]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for line in lines:
        found[line.name, line.price] = found.get((line.name, line.price), 0) + (line.running_usd_per_hour or 0)
    return found
