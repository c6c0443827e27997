"""The few lines a rehearsal ends with."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from facts.prices import HOURS_PER_MONTH
from simulator.report.schema import Cost, CostPoint, Destroy, PathStep, Report, StepTimes, Up
from simulator.report.words import duration, plural, short_type
from trn.cli.lines import Line, print_lines

MOST_LEFT_SHOWN = 5


def print_summary(console: Console, report: Report, written: Sequence[Path]) -> None:
    """Print what a person wants to know first: ready when, why so long, what it costs, what went wrong, what stays.

    On a terminal long lines are wrapped below themselves; in a pipe each line stays one line.
    """
    console.print(Text(f"\nstack {report.stack}, seed {report.seed}: a simulated cloud, no account was touched", style="dim"))
    print_lines(console, [*_lines(report), ("wrote", Text(", ".join(str(path) for path in written)))])


def _lines(report: Report) -> Iterator[Line]:
    for index, said in enumerate(report.scenario):
        yield "scenario" if index == 0 else "", Text(said)
    for index, up in enumerate([report.up, *report.reruns]):
        yield from _up(up, "ready" if index == 0 else "again")
    last = [report.up, *report.reruns][-1]
    if last.ended == "well":
        yield "because", Text(_path(last.critical_path))
    yield "made", Text(plural(report.program.resources, "resource"))
    for problem in report.problems:
        yield from _trouble(f"{problem.name}: {problem.error}", problem.cause, problem.fix)
    for incident in report.incidents:
        back = f"{duration(incident.seconds)} until all nodes are back" if incident.seconds is not None else "the node does not come back"
        yield "nodes", Text(f"{incident.what}; {back}; {incident.job}", style="yellow")
    yield "cost", Text(_cost(report.cost), style="yellow" if report.cost.without else "")
    for index, destroy in enumerate([report.destroy, *report.destroy_reruns]):
        yield from _destroy(destroy, "destroy" if index == 0 else "again")
    yield "left", _leftovers(report)
    for notice in report.notices:
        yield "note", Text(notice, style="yellow")


def _up(up: Up, label: str) -> Iterator[Line]:
    if up.before:
        yield "then", Text("; ".join(up.before))
    if up.ended == "well":
        yield label, Text(duration(up.seconds), style="bold green") + Text(_against_bound(up))
        yield from _retried(up.resources)
        return
    what = "killed" if up.ended == "killed" else "stopped"
    yield label, Text(f"not ready: up {what} after {duration(up.seconds)}", style="bold red") + Text(f", {_bill(up.cost)}")
    yield from _refusals(up.resources)
    yield "undone", Text(f"{plural(len(up.not_started), 'resource')} not begun")


def _destroy(destroy: Destroy, label: str) -> Iterator[Line]:
    if destroy.before:
        yield "then", Text("; ".join(destroy.before))
    if destroy.ended == "well":
        yield label, Text(f"{duration(destroy.seconds)}{_against_bound(destroy)}")
        return
    what = "killed" if destroy.ended == "killed" else "stopped"
    yield label, Text(f"{what} after {duration(destroy.seconds)}", style="bold red") + Text(f", {_bill(destroy.cost)}")
    yield from _refusals(destroy.order)


def _against_bound(run: Up | Destroy) -> str:
    """What a run took above the shortest time; of an up that time is from nothing, and another one has less to do."""
    if not run.lower_bound_seconds or (isinstance(run, Up) and run.before):
        return "  virtual"
    above = 100 * (run.seconds / run.lower_bound_seconds - 1)
    return f"  virtual, {above:.1f} % above the lower bound of {duration(run.lower_bound_seconds)}"


def _retried(steps: Sequence[StepTimes]) -> Iterator[Line]:
    tried = [f"{short_type(step.type)} {step.name} ({step.attempts} tries)" for step in steps if step.attempts > 1 and step.error is None]
    if tried:
        yield "retried", Text(", ".join(tried), style="yellow")


def _refusals(steps: Sequence[StepTimes]) -> Iterator[Line]:
    for step in steps:
        if step.error is not None:
            tries = f", {step.attempts} tries in {duration(step.end - step.start)}" if step.attempts > 1 else ""
            yield from _trouble(f"{short_type(step.type)} {step.name}: {step.error}{tries}", step.cause or "", step.fix or "")


def _trouble(what: str, cause: str, fix: str) -> Iterator[Line]:
    yield "refused", Text(what, style="bold red")
    yield "cause", Text(cause)
    yield "fix", Text(fix, style="green")


def _bill(points: Sequence[CostPoint]) -> str:
    last = points[-1]
    return f"{last.usd_per_hour:.2f} USD an hour is running, {last.usd:.2f} spent since the run began"


def _path(steps: Sequence[PathStep]) -> str:
    """The links of the critical path that take five seconds or more, waits for a free slot included."""
    return " > ".join(
        f"{'-' if step.operation == 'delete' else ''}{short_type(step.type)} {step.name} {duration(step.end - step.start)}{_waited(step)}"
        for step in steps
        if step.end - step.start + step.slot_wait_seconds >= 5
    )


def _waited(step: PathStep) -> str:
    return f" (after waiting {duration(step.slot_wait_seconds)} for a free slot)" if step.slot_wait_seconds >= 5 else ""


def _cost(cost: Cost) -> str:
    month = "" if cost.idle.without else f" ({cost.idle.usd_per_hour * HOURS_PER_MONTH:.0f} USD a month)"
    return f"{cost.words()} with Neuron groups at zero{month}"


def _leftovers(report: Report) -> Text:
    """What is left, highest price first."""
    left = [report.destroy, *report.destroy_reruns][-1].leftovers
    if not left:
        return Text("nothing", style="bold green")
    price = {line.urn: line.usd_per_hour or 0.0 for line in report.cost.items}
    by_price = sorted(left, key=lambda leftover: (-price.get(leftover.urn, 0.0), leftover.urn))
    more = f"; and {len(left) - MOST_LEFT_SHOWN} more, all in report.json" if len(left) > MOST_LEFT_SHOWN else ""
    return Text("; ".join(leftover.what for leftover in by_price[:MOST_LEFT_SHOWN]) + more, style="bold red")
