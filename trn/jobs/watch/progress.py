"""How far a training is, from the lines that its workers write. Pure; times are seconds since 1970, by the nodes' clocks."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, Literal, TypeGuard

from facts.catalogue import InstanceType
from facts.document import Document
from training.entry.figures import history
from training.metrics_line import MOST, Event, Step, parse

MOST_NODES, MOST_FLOPS = 100_000, 1e30
"""Of a job, and of one sample: a line that says more was not written by a training."""
RECENT = 20
"""Steps over which throughput and the time of a step are taken."""


@dataclass(frozen=True)
class Hardware:
    """What a job holds."""

    chip_count: int
    peak_tflops: float | None
    """BF16, of one chip."""
    usd_per_hour: float | None
    """Of all its nodes."""


def hardware(instance: InstanceType, node_count: int, chips_of_node: int | None = None) -> Hardware:
    """Of so many nodes of a type, or of a part of each; at list prices, and those of a capacity block where there is no other."""
    chips = instance.chip_count if chips_of_node is None else chips_of_node
    price = instance.price_usd_per_hour if instance.price_usd_per_hour is not None else instance.block_price_usd_per_hour
    hourly = None if price is None else price * node_count * chips / instance.chip_count
    return Hardware(chips * node_count, instance.chip.peak_bf16_tflops if instance.chip else None, hourly)


class WatchReport(Document, frozen=True):
    """How far a training is: `trn watch`. What the log does not say is null."""

    schema_: Literal["trn-watch"] = "trn-watch"
    step: int | None
    steps: int | None
    """Of the whole training."""
    loss: float | None
    samples_per_second: float | None
    peak_share: float | None
    """Of the hardware's peak."""
    goodput_share: float | None
    """Of the time since the first line, that steps which count have taken."""
    eta_s: float | None
    usd: float | None
    """List price of the nodes from the first line to the newest."""
    starts: int
    steps_done_again: int
    """After restarts, since the last checkpoint was older than the last step."""
    restarts_s: float
    """From the last step before each restart to the first new one after it."""
    finished: bool


@dataclass(frozen=True)
class Earlier:
    """What starts came to whose pods, and logs, are gone: the first node says it at its own start (training/entry/figures.py)."""

    said: float
    """When it was said."""
    starts: int
    began: float
    until: float
    step: int
    """The highest."""
    steps_done: int
    step_s: float | None
    lost: int
    restart_s: float


@dataclass(frozen=True)
class Progress:
    """What a log says."""

    steps: tuple[Step, ...] = ()
    """One for each number, the newest where a step was done again; in order."""
    events: tuple[Event, ...] = ()
    intervals: tuple[float, ...] = ()
    """Seconds from each step to the next one of the same start."""
    starts: int = 0
    lost: int = 0
    """Steps that were done again after a restart."""
    restart_s: float = 0.0
    """What restarts have cost: from the last step before to the first new one."""
    earlier: Earlier | None = None

    @property
    def last(self) -> Step | None:
        """The newest step."""
        return self.steps[-1] if self.steps else None

    @cached_property
    def began(self) -> float | None:
        """Time of the first line, also of a start whose log is gone."""
        earlier = () if self.earlier is None else (self.earlier.began,)
        return min((*(item.time for item in (*self.steps, *self.events)), *earlier), default=None)

    @cached_property
    def until(self) -> float | None:
        """Time of the newest line."""
        return max((item.time for item in (*self.steps, *self.events)), default=None)

    @property
    def is_finished(self) -> bool:
        """Whether a worker has said that it did the last step."""
        return any(event.event == "finished" for event in self.events)

    def told(self, key: str) -> Any:
        """What the newest line with a key says under it, such as `steps` or `flops_per_sample`; None where no line has it."""
        lines = sorted((*self.steps, *self.events), key=lambda item: item.time, reverse=True)
        return next((item.more[key] for item in lines if key in item.more), None)

    @property
    def total(self) -> int | None:
        """Steps of the whole training."""
        total = self.told("steps")
        return total if isinstance(total, int) and 0 < total <= MOST else None

    @property
    def node_count(self) -> int:
        """Nodes of the job, as the entry script says; 1 where it does not."""
        nodes = self.told("nodes")
        return nodes if isinstance(nodes, int) and 0 < nodes <= MOST_NODES else 1

    @property
    def samples_per_s(self) -> float | None:
        """Median of the newest steps."""
        rates = [step.samples_per_s for step in self.steps[-RECENT:] if step.samples_per_s is not None]
        return median(rates) if rates else None

    @property
    def step_s(self) -> float | None:
        """Seconds of a step: median of the newest."""
        return median(self.intervals[-RECENT:]) if self.intervals else None

    @property
    def goodput(self) -> float | None:
        """Steps that count x time of a step, as a share of the time since the first line: compiling, restarts and steps done again are lost."""
        earlier = self.earlier
        step_s = median(self.intervals) if self.intervals else earlier.step_s if earlier is not None else None
        if step_s is None or self.began is None or self.until is None or self.until <= self.began:
            return None
        new = sum(earlier is None or step.step > earlier.step for step in self.steps)
        done = new + (earlier.steps_done if earlier is not None else 0)
        return min(1.0, done * step_s / (self.until - self.began))

    @property
    def eta_s(self) -> float | None:
        """Seconds from the newest step to the last."""
        if self.is_finished or self.total is None or self.last is None or self.step_s is None:
            return None
        return max(0, self.total - self.last.step) * self.step_s

    def peak_share(self, on: Hardware | None) -> float | None:
        """Share of the hardware's peak; None where the recipe does not say its FLOPs per sample, or the hardware is not known."""
        flops, rate = self.told("flops_per_sample"), self.samples_per_s
        if on is None or on.peak_tflops is None or rate is None or isinstance(flops, bool) or not isinstance(flops, int | float):
            return None
        if not 0 < flops < MOST_FLOPS:
            return None
        return rate * flops / (on.chip_count * on.peak_tflops * 1e12)

    def cost_usd(self, on: Hardware | None) -> float | None:
        """List price of the nodes from the first line to the newest."""
        if on is None or on.usd_per_hour is None or self.began is None or self.until is None:
            return None
        return on.usd_per_hour * (self.until - self.began) / 3600

    def report(self, on: Hardware | None) -> WatchReport:
        """For `--json`. A loss that is no number is null."""
        loss = self.last.loss if self.last is not None else None
        return WatchReport(
            step=self.last.step if self.last is not None else None,
            steps=self.total,
            loss=loss if loss is not None and math.isfinite(loss) else None,
            samples_per_second=self.samples_per_s,
            peak_share=self.peak_share(on),
            goodput_share=self.goodput,
            eta_s=self.eta_s,
            usd=self.cost_usd(on),
            starts=self.starts,
            steps_done_again=self.lost,
            restarts_s=self.restart_s,
            finished=self.is_finished,
        )


def read(lines: Iterable[str]) -> Progress:
    """What the lines of one or several pods say. Steps are those of the lowest rank: every node's first worker writes the same.

    Starts before the newest history are counted by it alone, whether their lines were seen or not; of their steps it has some.
    """
    found = sorted((item for item in map(parse, lines) if item is not None), key=lambda item: item.time)
    rank = min((item.rank for item in found if isinstance(item, Step)), default=0)
    events = tuple(item for item in found if isinstance(item, Event))
    earlier, points = next((told for event in reversed(events) if (told := _history(event, rank)) is not None), (None, ()))
    newest, before, intervals = {point.step: point for point in points}, None, list[float]()
    counted = list[dict[str, Any]]()
    for item in found:
        is_new = earlier is None or item.time >= earlier.said
        if isinstance(item, Event):
            if item.event == "started" and item.rank == rank:
                before = None
                if is_new:
                    counted.append({"trn": "event", "event": "started", "time": item.time})
        elif item.rank == rank:
            if before is not None and item.step == before.step + 1:
                intervals.append(item.time - before.time)
            newest[item.step] = before = item
            if is_new:
                counted.append({"trn": "step", "step": item.step, "time": item.time, "loss": item.loss})
    steps = tuple(newest[number] for number in sorted(newest))
    starts, lost, restart_s = _counts(counted, earlier)
    return Progress(steps, events, tuple(intervals), max(starts, 1 if steps else 0), lost, restart_s, earlier)


def _counts(lines: list[dict[str, Any]], earlier: Earlier | None) -> tuple[int, int, float]:
    """Starts, steps done again, and what restarts cost in seconds."""
    now = history(lines)
    starts = sum(line["trn"] == "event" for line in lines)
    lost, restart_s = (now["lost"], now["restart_s"]) if now is not None else (0, 0.0)
    if earlier is None:
        return starts, lost, restart_s
    lost += earlier.lost + len({line["step"] for line in lines if line["trn"] == "step" and line["step"] <= earlier.step})
    new = next((line for line in lines if line["trn"] == "step" and line["step"] > earlier.step), None)
    gap = max(0.0, new["time"] - earlier.until - (earlier.step_s or 0.0)) if new is not None else 0.0
    return starts + earlier.starts, lost, restart_s + earlier.restart_s + gap


def _history(event: Event, rank: int) -> tuple[Earlier, tuple[Step, ...]] | None:
    """What an event says of earlier starts, with the steps that it names; None for any other event, and for one that is not whole."""
    if event.event != "history" or event.step is None:
        return None
    said = {name: event.more.get(name) for name in ("starts", "began", "until", "steps_done", "lost", "restart_s")}
    values = {name: value for name, value in said.items() if _is_amount(value)}
    if len(values) < len(said):
        return None
    step_s, points = event.more.get("step_s"), event.more.get("points")
    lines = (
        json.dumps({"trn": "step", "step": point[0], "time": point[1], "rank": rank, "loss": point[2], "samples_per_s": point[3]})
        for point in (points if isinstance(points, list) else ())
        if isinstance(point, list) and len(point) == 4
    )
    steps = tuple(step for step in map(parse, lines) if isinstance(step, Step))
    starts, done, lost = (int(values[name]) for name in ("starts", "steps_done", "lost"))
    began, until, restart_s = (float(values[name]) for name in ("began", "until", "restart_s"))
    return Earlier(
        said=event.time,
        step=event.step,
        step_s=float(step_s) if _is_amount(step_s) else None,
        starts=starts,
        steps_done=done,
        lost=lost,
        began=began,
        until=until,
        restart_s=restart_s,
    ), steps


def _is_amount(value: Any) -> TypeGuard[int | float]:
    """Whether a value of a line is a number that a training can have."""
    return type(value) in (int, float) and 0 <= value <= MOST
