"""How far a training is, from the lines that its workers write. Pure; times are seconds since 1970, by the nodes' clocks."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, Literal

from facts.catalogue import InstanceType
from facts.document import Document
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
    finished: bool


@dataclass(frozen=True)
class Progress:
    """What a log says."""

    steps: tuple[Step, ...] = ()
    """One for each number, the newest where a step was done again; in order."""
    events: tuple[Event, ...] = ()
    intervals: tuple[float, ...] = ()
    """Seconds from each step to the next one of the same start."""
    starts: int = 0

    @property
    def last(self) -> Step | None:
        """The newest step."""
        return self.steps[-1] if self.steps else None

    @cached_property
    def began(self) -> float | None:
        """Time of the first line."""
        return min((item.time for item in (*self.steps, *self.events)), default=None)

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
        if not self.intervals or self.began is None or self.until is None or self.until <= self.began:
            return None
        return min(1.0, len(self.steps) * median(self.intervals) / (self.until - self.began))

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
            finished=self.is_finished,
        )


def read(lines: Iterable[str]) -> Progress:
    """What the lines of one or several pods say. Steps are those of the lowest rank: every node's first worker writes the same."""
    found = sorted((item for item in map(parse, lines) if item is not None), key=lambda item: item.time)
    rank = min((item.rank for item in found if isinstance(item, Step)), default=0)
    newest, before, intervals, starts = dict[int, Step](), None, list[float](), 0
    for item in found:
        if isinstance(item, Event):
            if item.event == "started" and item.rank == rank:
                starts, before = starts + 1, None
        elif item.rank == rank:
            if before is not None and item.step == before.step + 1:
                intervals.append(item.time - before.time)
            newest[item.step] = before = item
    steps = tuple(newest[number] for number in sorted(newest))
    return Progress(steps, tuple(item for item in found if isinstance(item, Event)), tuple(intervals), max(starts, 1 if steps else 0))
