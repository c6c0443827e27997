"""What `trn watch` shows: figures, a line for each step, and curves in a terminal."""

import math
from collections.abc import Sequence
from datetime import timedelta

from rich.console import Group
from rich.text import Text

from training.metrics_line import Step
from trn.jobs.watch.progress import Hardware, Progress

FORMULA = "samples per second x FLOPs per sample / (chips x peak BF16 FLOPS of a chip)"
"""Share of the peak. A recipe gives its FLOPs per sample with its first line, as `flops_per_sample`."""
LEVELS = " ▁▂▃▄▅▆▇█"
WIDTH, HEIGHT = 72, 6
"""Of a curve, in signs."""
LABEL_WIDTH = 13
"""Columns before a curve."""
LONGEST_S = 100 * 365 * 86400


def figures(progress: Progress, on: Hardware | None) -> list[tuple[str, str]]:
    """Name and value of everything that is known, and what is missing where something is not."""
    last, share, cost = progress.last, progress.peak_share(on), progress.cost_usd(on)
    of = f" of {progress.total:,}" if progress.total is not None else ""
    rate, goodput, eta = progress.samples_per_s, progress.goodput, progress.eta_s
    no_share = "not known: the log says no `flops_per_sample`"
    if on is None:
        no_share = "not known: name the hardware with --instance"
    elif on.peak_tflops is None:
        no_share = "not known: no peak of its chip is published"
    return [
        ("step", f"{last.step:,}{of}" if last is not None else "none yet"),
        ("loss", f"{last.loss:.4f}" if last is not None else "none yet"),
        ("throughput", f"{rate:,.1f} samples/s" if rate is not None else "not measured yet"),
        ("share of peak", f"{share:.1%} ({FORMULA})" if share is not None else no_share),
        ("goodput", f"{goodput:.1%} (steps x time of a step / time since the first line)" if goodput is not None else "not known yet"),
        (
            "time left",
            duration(eta)
            if eta is not None
            else ("none: it has finished" if progress.is_finished else "not known: the log says no `steps`"),
        ),
        ("cost so far", f"{cost:,.2f} USD" if cost is not None else "not known"),
        ("starts", starts(progress)),
    ]


def starts(progress: Progress) -> str:
    """How often it started, and what the restarts cost."""
    if progress.starts < 2:
        return str(progress.starts)
    return f"{progress.starts} (restarts took {duration(progress.restart_s)}, {progress.lost:,} steps were done again)"


def duration(seconds: float) -> str:
    """`2 days, 3:04:05`. What would take more than a life is not counted."""
    if seconds > LONGEST_S:
        return "more than 100 years"
    return str(timedelta(seconds=round(seconds)))


def step_line(step: Step, progress: Progress) -> str:
    """One step, for a pipe."""
    of = f"/{progress.total}" if progress.total is not None else ""
    rate = f" {step.samples_per_s:,.1f} samples/s" if step.samples_per_s is not None else ""
    return f"step {step.step}{of} loss {step.loss:.4f}{rate}"


def curve(values: Sequence[float], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """A curve in block signs, top line first; values that are no numbers are left out. Empty for fewer than two."""
    finite = [value for value in values if math.isfinite(value)]
    if len(finite) < 2:
        return []
    columns = [finite[min(len(finite) - 1, round(at * (len(finite) - 1) / (width - 1)))] for at in range(min(width, len(finite)))]
    if len(finite) < width:
        columns = finite
    low, high = min(finite), max(finite)
    span, parts = (high - low) or 1.0, len(LEVELS) - 1
    # The lowest value still has a sign: a column without one looks as if nothing was measured.
    eighths = [1 + round((value - low) / span * (height * parts - 1)) for value in columns]
    rows = ["".join(LEVELS[max(0, min(parts, eighth - row * parts))] for eighth in eighths) for row in reversed(range(height))]
    labels = [f"{high:,.2f}", *[""] * (height - 2), f"{low:,.2f}"]
    return [f"{label:>12} {row}" for label, row in zip(labels, rows, strict=True)]


def shown(name: str, progress: Progress, on: Hardware | None, columns: int = LABEL_WIDTH + WIDTH) -> Group:
    """The live view. `columns`: of the terminal; a curve that is wrapped cannot be read."""
    width = max(2, min(WIDTH, columns - LABEL_WIDTH))
    lines = [Text(name, style="bold")]
    lines += [Text(f"{key:>14}  {value}") for key, value in figures(progress, on)]
    for title, values in (("loss", losses(progress)), ("samples/s", rates(progress))):
        if drawn := curve([value for _, value in values], width):
            lines += [Text(f"\n{title}", style="bold"), *map(Text, drawn)]
    return Group(*lines)


def losses(progress: Progress) -> list[tuple[int, float]]:
    """Step and loss."""
    return [(step.step, step.loss) for step in progress.steps]


def rates(progress: Progress) -> list[tuple[int, float]]:
    """Step and samples per second, of steps that were measured."""
    return [(step.step, step.samples_per_s) for step in progress.steps if step.samples_per_s is not None]
