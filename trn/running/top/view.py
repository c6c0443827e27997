"""Rows of the view, and the table that shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.table import Table
from rich.text import Text

from facts.document import Document, Part
from trn.running.top.readings import Reading

GIB = 2**30
LEVELS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Row:
    """One node."""

    node: str
    instance_type: str
    pods: tuple[str, ...]
    """Pods that hold its devices, as `namespace/name`; of the job alone where one was named."""
    core_count: int
    chip_count: int
    device_memory_gib: int
    reading: Reading | None
    problem: str = ""
    """Why there is no reading."""

    @property
    def cores(self) -> tuple[float, ...]:
        """Busy share of every core; of one that no pod holds it is 0."""
        held = self.reading.cores if self.reading else {}
        return tuple(held.get(number, 0.0) for number in range(self.core_count))

    @property
    def part(self) -> "NodePart":
        """The same for `--json`."""
        reading = self.reading
        use = (
            None
            if reading is None
            else NodeUse(
                cores_in_use=len(reading.cores),
                core_count=self.core_count,
                utilization_share=sum(self.cores) / self.core_count,
                core_shares=self.cores,
                device_memory_bytes=reading.device_bytes,
                device_memory_total_bytes=self.device_memory_gib * GIB,
                execution_errors=reading.error_count,
                execution_errors_s=reading.error_span_s,
                uncorrected_memory_errors=reading.uncorrected_count,
                unread=reading.unread,
            )
        )
        return NodePart(node=self.node, instance_type=self.instance_type, pods=self.pods, problem=self.problem, use=use)


class NodeUse(Part, frozen=True):
    """What neuron-monitor says of a node."""

    cores_in_use: int
    core_count: int
    utilization_share: float
    """Of all its cores, from 0 to 1."""
    core_shares: tuple[float, ...]
    """Of each."""
    device_memory_bytes: int
    device_memory_total_bytes: int
    execution_errors: int
    execution_errors_s: float | None
    """Time that they are of; null for all since the processes began."""
    uncorrected_memory_errors: int
    unread: tuple[str, ...]
    """What neuron-monitor could not read; the figures lack it."""


class NodePart(Part, frozen=True):
    """One node."""

    node: str
    instance_type: str
    pods: tuple[str, ...]
    """Pods that hold its devices, as NAMESPACE/NAME."""
    problem: str
    """Why there is no reading."""
    use: NodeUse | None


class TopReport(Document, frozen=True):
    """What `trn top` shows."""

    schema_: Literal["trn-top"] = "trn-top"
    nodes: tuple[NodePart, ...]


def table(rows: Sequence[Row]) -> Table:
    """One line for each node."""
    view = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("node", "held by", "cores", "use", "by chip", "device memory", "errors"):
        # Only names of pods and errors may take several lines.
        view.add_column(column, no_wrap=column not in ("held by", "errors"), overflow="fold")
    for row in rows:
        name, holders = f"{row.node.partition('.')[0]}\n{row.instance_type}", "\n".join(pod.partition("/")[2] for pod in row.pods)
        view.add_row(Text(name), Text(holders or "no pod"), *_cells(row))
    return view


def _cells(row: Row) -> tuple[Text, ...]:
    reading = row.reading
    if reading is None:
        return (*[Text("")] * 4, Text(f"no answer: {row.problem}", style="bold red"))
    span = "since the start" if reading.error_span_s is None else f"in the last {reading.error_span_s:.0f} s"
    wrong = [f"not read: {text}" for text in reading.unread]
    wrong += [f"failed executions {span}: {reading.error_count}"] if reading.error_count else []
    wrong += [f"uncorrected memory errors: {reading.uncorrected_count}, replace the node"] if reading.uncorrected_count else []
    return (
        Text(f"{len(reading.cores)} of {row.core_count}"),
        Text(f"{sum(row.cores) / row.core_count:.0%}"),
        Text(bars(row.cores, row.chip_count)),
        Text(f"{reading.device_bytes / GIB:.0f} of {row.device_memory_gib} GiB"),
        Text(", ".join(wrong) or "none", style="bold red" if wrong else ""),
    )


def bars(cores: Sequence[float], chip_count: int) -> str:
    """A sign for each chip; one that is busy at all is never blank."""
    size = len(cores) // chip_count
    chips = [cores[start : start + size] for start in range(0, len(cores), size)]
    return "".join(_sign(sum(chip) / size) for chip in chips)


def _sign(share: float) -> str:
    top = len(LEVELS) - 1
    return LEVELS[min(top, max(1, round(share * top)))] if share > 0 else LEVELS[0]
