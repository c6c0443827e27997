"""The bill as data, as a table with bars, or two bills side by side."""

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from facts.document import Document, Part
from simulator.cost_figures import Figures
from trn.before.cost.bill import HOURS_PER_DAY, Bill, Difference
from trn.cli.output import print_table

BAR_WIDTH = 20
LEAST_WIDTH = 72
"""Columns of a terminal that holds a table with its figures."""


class RunCost(Part, frozen=True):
    """What a training run costs."""

    training_seconds: float
    training_usd: float
    around_it_seconds: float
    """Of the up and destroy around it."""
    around_it_usd_at_most: float
    without: tuple[str, ...]
    """What runs too and has no known price."""


class BillLine(Part, frozen=True):
    """One line of the bill."""

    name: str
    what: str
    usd_per_hour: float | None
    """Now. Null, as in the other two, where no price is known."""
    full_size_what: str
    full_size_usd_per_hour: float | None
    idle_usd_per_hour: float | None
    source: str
    """Where the price is from, with its date."""
    verified: bool
    """False where the price was not found on a page."""


class BillPart(Figures, frozen=True):
    """What a stack costs."""

    stack: str
    region: str
    run: RunCost
    items: tuple[BillLine, ...]
    notes: tuple[str, ...]


class CostReport(BillPart, Document, frozen=True):
    """What `trn cost` says."""

    schema_: Literal["trn-cost"] = "trn-cost"


class CostComparison(Document, frozen=True):
    """What `trn cost --compare` says."""

    schema_: Literal["trn-cost-compare"] = "trn-cost-compare"
    before: BillPart
    after: BillPart
    differences: tuple[Difference, ...]


def bill_part(bill: Bill, hours: float) -> BillPart:
    """The bill for `--json`."""
    training, around = bill.run(hours)
    return BillPart(
        **dict(bill.figures),
        stack=bill.stack,
        region=bill.region,
        run=RunCost(
            training_seconds=hours * 3600,
            training_usd=round(training.usd_per_hour, 2),
            around_it_seconds=round(bill.around_a_run_h * 3600),
            around_it_usd_at_most=round(around.usd_per_hour, 2),
            without=training.without,
        ),
        items=tuple(
            BillLine(
                name=line.name,
                what=line.what,
                usd_per_hour=line.now.usd_per_hour,
                full_size_what=line.full_size.what,
                full_size_usd_per_hour=line.full_size.usd_per_hour,
                idle_usd_per_hour=line.idle.usd_per_hour,
                source=line.source,
                verified=line.verified,
            )
            for line in bill.lines
        ),
        notes=bill.notes,
    )


def print_bill(console: Console, bill: Bill, hours: float) -> None:
    """The three sums, items with bars, and where the prices are from."""
    figures = bill.figures
    _say(console, f"cost     {figures.words()}")
    most = max((line.full_size.usd_per_hour or 0 for line in bill.lines), default=0)
    table = _table(f"stack {bill.stack}, {bill.region}, USD", ("item", "what"), ("now/h", "full/h", "idle/h"))
    table.add_column("", no_wrap=True, min_width=BAR_WIDTH)
    for line in bill.lines:
        bar, amounts = _bar(line.full_size.usd_per_hour or 0, most), (line.now, line.full_size, line.idle)
        what = line.what if line.what == line.full_size.what else f"{line.what}; at full size {line.full_size.what}"
        table.add_row(Text(line.name), Text(what), *(_usd(amount.usd_per_hour) for amount in amounts), Text(bar))
    print_table(console, table, LEAST_WIDTH)
    for name, found, words in (
        ("now", figures.now, ""),
        ("full", figures.full_size, ", every autoscaled group and pool at its limit"),
        ("idle", figures.idle, ", Neuron groups at zero"),
    ):
        _say(console, f"{name:<8} {found.words(' an hour')}, {found.times(HOURS_PER_DAY).words(' a day')}{words}")
    training, around = bill.run(hours)
    run = f"{training.words()} for {hours:g} h of training, and at most {around.words()} for the up and destroy around it"
    _say(console, f"run      {run}")
    for source in sorted({line.source for line in bill.lines}):
        _say(console, f"source   {source}: {', '.join(sorted({line.price for line in bill.lines if line.source == source}))}")
    for note in bill.notes:
        _say(console, f"note     {note}")


def print_comparison(console: Console, before: Bill, after: Bill, changed: Sequence[Difference]) -> None:
    """What differs, largest first, and the sums of both."""
    heads = (f"{before.stack} now", f"{after.stack} now", f"{before.stack} full", f"{after.stack} full")
    table = _table("USD an hour, now and at full size", ("item", "price"), heads)
    for item in changed:
        now, full = (
            (item.before_usd_per_hour, item.after_usd_per_hour),
            (item.before_full_size_usd_per_hour, item.after_full_size_usd_per_hour),
        )
        table.add_row(Text(item.name), Text(item.price), *(_usd(usd) for usd in (*now, *full)))
    print_table(console, table, LEAST_WIDTH)
    for bill in (before, after):
        _say(console, f"{bill.stack:<8} {bill.figures.words()}")
    for name, first, second in (
        ("now", before.figures.now, after.figures.now),
        ("full", before.figures.full_size, after.figures.full_size),
        ("idle", before.figures.idle, after.figures.idle),
    ):
        _say(console, f"{name:<8} {second.usd_per_hour - first.usd_per_hour:+.2f} USD an hour")
    for note in dict.fromkeys((*before.notes, *after.notes)):
        _say(console, f"note     {note}")


def _table(title: str, texts: Sequence[str], figures: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in texts:
        table.add_column(name)
    for name in figures:
        table.add_column(name, justify="right")
    return table


def _bar(usd: float, most: float) -> str:
    """At least one block for each item with a price."""
    return "█" * max(1, round(BAR_WIDTH * usd / most)) if usd and most else ""


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _say(console: Console, line: str) -> None:
    console.print(Text(line.rstrip()), soft_wrap=True)
