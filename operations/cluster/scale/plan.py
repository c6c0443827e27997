"""A changed size as data: the stack file with it, and what the stack then costs."""

from dataclasses import replace
from typing import Any

from operations.cluster.cost.view import figures_data
from operations.cluster.scale.occupants import Occupants
from operations.stack_file import StackFile
from simulator.costs import CostItem, figures

TIMES = ("capacityBlock", "schedule")


def resized(stack_file: StackFile, group: str, count: int) -> StackFile:
    """The stack file with another count, for its cost. Times are left out: with them a group's size is theirs, and never 0."""
    groups: dict[str, Any] = {**stack_file.pairs["trn:nodeGroups"]}
    entry = {**{key: value for key, value in groups[group].items() if key not in TIMES}, "size": count}
    limits = {"minSize": min(entry.get("minSize", 0), count), "maxSize": max(entry.get("maxSize", 1), count, 1)}
    return replace(stack_file, pairs={**stack_file.pairs, "trn:nodeGroups": {**groups, group: {**entry, **limits}}})


def as_data(group: str, wanted: dict[str, int], lines: list[CostItem], said: list[str], found: Occupants) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "group": group,
        "sizes": wanted,
        "problems": said,
        "jobs": [row.as_data() for row in found.jobs],
        "pods": list(found.pods),
        **figures_data(figures(lines)),
        "items": [
            {"name": line.name, "what": line.what, "usdPerHour": line.now.usd_per_hour} for line in lines if line.now.usd_per_hour != 0
        ],
    }
