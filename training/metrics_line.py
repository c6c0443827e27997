"""The lines by which a worker says how far it is, and how they are read back.

One JSON object on one line of standard output, marked by its first key, so that it is found among anything else that a job prints:

    {"trn": "step", "step": 12, "time": 1795344156.739, "rank": 0, "loss": 6.91, "samples_per_s": 812.3}
    {"trn": "event", "event": "saved", "time": 1795344157.002, "rank": 0, "step": 12}

The first worker of each node writes its steps; the loss is the mean over all workers and the rate that of the whole job, so that
any one node's log tells the story, and rank 0's is the one to show. The entry script writes events of its own, with `node` in place of
`rank`. Recipes write them by training/entry/progress_lines.py.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MARK = '{"trn":'
"""Beginning of each such line; torchrun and Volcano's logs may put words before it."""
MOST, MOST_LOSS, LATEST = 10**12, 1e100, 1e11
"""Largest step, rank or rate; largest finite loss; latest time, in the year 5138. A line beyond them was not written by a training."""
EVENTS = frozenset(
    {
        "starting",
        "started",
        "resumed",
        "saved",
        "stopping",
        "stopped",
        "measured",
        "finished",
        "hung",
        "peer-lost",
        "previous",
        "history",
        "lost",
        "ended",
    }
)
"""`starting`, `stopping`, `hung`, `peer-lost`, `previous`, `history`, `lost` and `ended` are the entry script's, the others the workers'. `stopped`: after a checkpoint, on request; `measured`: a figure that is
no step of a training, such as a bandwidth."""


@dataclass(frozen=True)
class Step:
    """One optimizer step."""

    step: int
    """Counted from 1, over all starts of the job."""
    time: float
    """Seconds since 1970, when it was done."""
    rank: int
    loss: float
    """Mean over all workers; NaN where training has diverged."""
    samples_per_s: float | None = None
    """Of the whole job, over the time of this step; None where it was not measured, as in the step that compiles."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else the recipe says, such as the learning rate."""


@dataclass(frozen=True)
class Event:
    """Something else that happened."""

    event: str
    time: float
    rank: int | None = None
    """Worker; None for a line of the entry script."""
    step: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Such as `node`, `code`, `path` of a checkpoint and `seconds` that it took."""


def parse(line: str) -> Step | Event | None:
    """What a line of a log says; None for any line that is not of this form, or is cut off."""
    at = line.find(MARK)
    if at < 0:
        return None
    try:
        said = json.loads(line[at:])
    except (ValueError, RecursionError):
        return None
    kind = said.pop("trn")
    try:
        if kind == "step":
            rate = said.pop("samples_per_s", None)
            return Step(
                step=_count(said.pop("step")),
                time=_within(said.pop("time"), LATEST),
                rank=_count(said.pop("rank")),
                loss=_loss(said.pop("loss")),
                samples_per_s=None if rate is None else _within(rate, MOST),
                more=said,
            )
        if kind == "event" and said["event"] in EVENTS:
            name, time = said.pop("event"), _within(said.pop("time"), LATEST)
            rank, step = said.pop("rank", None), said.pop("step", None)
            return Event(name, time, None if rank is None else _count(rank), None if step is None else _count(step), said)
    except (KeyError, TypeError, ValueError):
        return None
    return None


def _count(value: Any) -> int:
    """A whole number from 0 to MOST; raises ValueError for anything else, also for true."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError("no count")
    return value


def _within(value: Any, most: float) -> float:
    """A number from 0 to `most`; raises ValueError for anything else, also for NaN, and for a number in quotes."""
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise ValueError("no such number")
    return float(value)


def _loss(value: Any) -> float:
    """Any number; one too large to be drawn or added is infinite."""
    if type(value) not in (int, float):
        raise ValueError("no number")
    if abs(value) > MOST_LOSS:
        return math.inf if value > 0 else -math.inf
    return float(value)
