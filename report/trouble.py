"""What went wrong, and what is being paid for meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from report.runs import Run
from simulator.report.schema import CostLine, Leftover, Report


class Bill(NamedTuple):
    """What the account pays for when a run has ended, highest price first."""

    usd_per_hour: float
    usd: float
    """Spent since the run began."""
    lines: Sequence[CostLine]


class Failure(NamedTuple):
    """A run that did not end well, or in which something was refused."""

    run: Run
    bill: Bill | None
    after: Run | None
    """The run that followed with its fix."""


@dataclass(frozen=True)
class Trouble:
    """All that went wrong."""

    failures: Sequence[Failure]
    left: Sequence[Leftover]
    """What is there after the last destroy."""
    left_usd_per_hour: float


def trouble_of(report: Report, runs: Sequence[Run]) -> Trouble | None:
    """None where nothing went wrong. `runs` are in the order in which they happened."""
    failures = [
        Failure(
            run, _bill(report, runs[: index + 1]), next((after for after in runs[index + 1 : index + 2] if after.phase == run.phase), None)
        )
        for index, run in enumerate(runs)
        if run.ended != "well" or any(step.error for step in run.steps)
    ]
    left = [report.destroy, *report.destroy_reruns][-1].leftovers
    if not (failures or report.problems or report.incidents or left):
        return None
    urns = {leftover.urn for leftover in left}
    return Trouble(failures, left, sum(line.usd_per_hour or 0.0 for line in report.cost.items if line.urn in urns))


def _bill(report: Report, runs: Sequence[Run]) -> Bill | None:
    """When the last of the runs has ended."""
    if not runs[-1].cost:
        return None
    last = runs[-1].cost[-1]
    lines = sorted(_standing(report, runs), key=lambda line: (-(line.usd_per_hour or 0.0), line.urn))
    return Bill(last.usd_per_hour, last.usd, lines)


def _standing(report: Report, runs: Sequence[Run]) -> list[CostLine]:
    """Lines of the bill for what is there after the runs."""
    certain: dict[str, bool] = {}
    for run in runs:
        for step in run.steps:
            if step.trouble in ("refused", "cut"):
                # A refused deletion leaves what was there; a refused creation may have left something too.
                certain.setdefault(step.urn, step.operation == "delete")
            elif step.operation == "delete":
                certain.pop(step.urn, None)
            else:
                certain[step.urn] = True
    priced = [line for line in report.cost.items if line.usd_per_hour and line.urn in certain]
    known = [line for line in priced if certain[line.urn]]
    rate = runs[-1].cost[-1].usd_per_hour
    return min((known, priced), key=lambda lines: abs(sum(line.usd_per_hour or 0.0 for line in lines) - rate))
