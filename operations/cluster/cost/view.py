"""The bill as data, as a table with bars, or two bills side by side."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from operations.cluster.cost.bill import HOURS_PER_DAY, Bill, Difference

BAR_WIDTH = 20


def as_data(bill: Bill, hours: float) -> dict[str, Any]:
    """The bill for `--json`: USD throughout."""
    training, around = bill.run_usd(hours)
    return {
        "stack": bill.stack,
        "region": bill.region,
        "runningUsdPerHour": bill.running_usd_per_hour,
        "runningUsdPerDay": round(bill.running_usd_per_hour * HOURS_PER_DAY, 2),
        "idleUsdPerHour": bill.idle_usd_per_hour,
        "idleUsdPerDay": round(bill.idle_usd_per_hour * HOURS_PER_DAY, 2),
        "run": {"hours": hours, "trainingUsd": training, "aroundItUsdAtMost": around, "aroundItHours": bill.around_a_run_h},
        "items": [
            {
                "name": line.name,
                "what": line.what,
                "runningUsdPerHour": line.running_usd_per_hour,
                "idleUsdPerHour": line.idle_usd_per_hour,
                "source": line.source,
                "verified": line.verified,
            }
            for line in bill.lines
        ],
        "notes": list(bill.notes),
    }


def print_bill(console: Console, bill: Bill, hours: float) -> None:
    """Items with bars, sums, and where the prices are from."""
    most = max((line.running_usd_per_hour or 0 for line in bill.lines), default=0)
    table = _table(f"stack {bill.stack}, {bill.region}, USD", ("item", "what"), ("running/h", "idle/h"))
    table.add_column("", no_wrap=True, min_width=BAR_WIDTH)
    for line in bill.lines:
        bar = _bar(line.running_usd_per_hour or 0, most)
        table.add_row(Text(line.name), Text(line.what), _usd(line.running_usd_per_hour), _usd(line.idle_usd_per_hour), Text(bar))
    console.print(table)
    training, around = bill.run_usd(hours)
    per_day = bill.running_usd_per_hour * HOURS_PER_DAY, bill.idle_usd_per_hour * HOURS_PER_DAY
    _say(console, f"running  {bill.running_usd_per_hour:.2f} an hour, {per_day[0]:.2f} a day")
    _say(console, f"idle     {bill.idle_usd_per_hour:.2f} an hour, {per_day[1]:.2f} a day, Neuron groups at zero")
    _say(console, f"run      {training:.2f} for {hours:g} h of training, and at most {around:.2f} for the up and destroy around it")
    for source in sorted({line.source for line in bill.lines}):
        _say(console, f"source   {source}: {', '.join(sorted({line.price for line in bill.lines if line.source == source}))}")
    for note in bill.notes:
        _say(console, f"note     {note}")


def print_comparison(console: Console, before: Bill, after: Bill, changed: Sequence[Difference]) -> None:
    """What differs, largest first, and both sums."""
    table = _table("running, USD an hour", ("item", "price"), (before.stack, after.stack, "difference"))
    for item in changed:
        difference = item.after_usd_per_hour - item.before_usd_per_hour
        figures = (_usd(item.before_usd_per_hour), _usd(item.after_usd_per_hour), f"{difference:+.3f}")
        table.add_row(Text(item.name), Text(item.price), *figures)
    sums = before.running_usd_per_hour, after.running_usd_per_hour
    table.add_row("all", "", _usd(sums[0]), _usd(sums[1]), f"{sums[1] - sums[0]:+.3f}")
    idle = before.idle_usd_per_hour, after.idle_usd_per_hour
    table.add_row("all, idle", "", _usd(idle[0]), _usd(idle[1]), f"{idle[1] - idle[0]:+.3f}")
    console.print(table)
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
    return "no price" if value is None else f"{value:.3f}"


def _say(console: Console, line: str) -> None:
    console.print(Text(line.rstrip()), soft_wrap=True)
