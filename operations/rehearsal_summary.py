"""The few lines a rehearsal ends with."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.drawing.text import duration, short_type
from simulator.report import PathStep, Report

HOURS_PER_MONTH = 730


def print_summary(console: Console, report: Report, written: Sequence[Path]) -> None:
    """Print what a person wants to know first: ready when, why so long, what it costs, what stays.

    On a terminal long lines are wrapped below themselves; in a pipe each line stays one line.
    """
    console.print(Text(f"\nstack {report.stack}, seed {report.seed}: a simulated cloud, no account was touched", style="dim"))
    if not console.is_terminal:
        for label, text in _lines(report, written):
            console.print(f"{label:<8} {text.plain}", markup=False, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for label, text in _lines(report, written):
        table.add_row(label, text)
    console.print(table)


def _lines(report: Report, written: Sequence[Path]) -> list[tuple[str, Text]]:
    up, cost = report.up, report.cost
    above = 100 * (up.seconds / up.lower_bound_seconds - 1) if up.lower_bound_seconds else 0.0
    bound = f"  virtual, {above:.1f} % above the lower bound of {duration(up.lower_bound_seconds)}"
    made = report.program.resources - report.program.components
    lines = [
        ("ready", Text(duration(up.seconds), style="bold green") + Text(bound)),
        ("because", Text(_path(up.critical_path))),
        ("made", Text(f"{made} resources in {report.program.components} components")),
        ("cost", Text(_cost(cost.running_usd_per_hour, cost.idle_usd_per_hour))),
        ("destroy", Text(f"{duration(report.destroy.seconds)}  virtual")),
        ("left", _leftovers(report)),
    ]
    unpriced = sorted({line.name for line in cost.items if line.usd_per_hour is None})
    if unpriced:
        lines.append(("unpriced", Text(f"{', '.join(unpriced)}: AWS has no list price, not in the sum", style="yellow")))
    lines += [("refused", Text(f"{step.name}: {step.error}", style="bold red")) for step in report.destroy.order if step.error]
    lines += [("note", Text(notice, style="yellow")) for notice in report.notices]
    lines.append(("wrote", Text(", ".join(str(path) for path in written))))
    return lines


def _path(steps: Sequence[PathStep]) -> str:
    """The links of the critical path that take five seconds or more."""
    return " > ".join(
        f"{short_type(step.type)} {step.name} {duration(step.end - step.start)}" for step in steps if step.end - step.start >= 5
    )


def _cost(running: float, idle: float) -> str:
    return f"{running:.2f} USD an hour running, {idle:.2f} idle with Neuron groups at zero ({idle * HOURS_PER_MONTH:.0f} USD a month)"


def _leftovers(report: Report) -> Text:
    if not report.destroy.leftovers:
        return Text("nothing", style="bold green")
    return Text("; ".join(leftover.what for leftover in report.destroy.leftovers), style="bold red")
