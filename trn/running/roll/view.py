"""The ways to roll a group side by side: their figures from the stack file, as lines and as data."""

from collections.abc import Iterator, Sequence
from typing import Literal

from rich.text import Text

from facts.document import Document
from facts.resources.eks_nodes import NEURON_NODE_UPDATE
from simulator import costs, latencies
from simulator.account import kinds
from simulator.recording import Recording
from simulator.report.words import duration
from training.duration import seconds
from training.job import Checkpoints
from trn.cli.lines import Line
from trn.running.roll.choices import Choice, Setting, choices

GRACE_S = seconds(str(Checkpoints.model_fields["grace"].default))
"""What a job file gives its workers for a checkpoint unless it says otherwise."""


class RollComparison(Document, frozen=True):
    """The ways to roll a group, side by side: `trn roll` without one of them."""

    schema_: Literal["trn-roll-compare"] = "trn-roll-compare"
    choices: tuple[Choice, ...]


def compared(program: Recording, group: str, *, left_s: float, unsaved_s: float) -> list[Choice]:
    """Each way for a job that has all nodes of the group, with the job file's own default grace."""
    (item,) = [each for each in program.of_type(kinds.NODE_GROUP) if each.inputs["nodeGroupName"] == group]
    life = latencies.lifetime(item)
    rate = sum(line.now.usd_per_hour or 0.0 for line in costs.items(program) if line.urn == item.urn)
    setting = Setting(
        group=group,
        nodes=int(item.inputs["scalingConfig"]["desiredSize"]),
        usd_per_hour=rate,
        node_update=NEURON_NODE_UPDATE,
        make_s=life.create.typical,
        delete_s=life.delete.typical,
        grace_s=GRACE_S,
        left_s=left_s,
        unsaved_s=unsaved_s,
    )
    return list(choices(setting))


def comparison_lines(stack: str, group: str, found: Sequence[Choice]) -> Iterator[Line]:
    """A block for each way."""
    for choice in found:
        lost = f"{duration(choice.lost_s)} done again at most" if choice.lost_s else "no work lost"
        stops = f"stops for {duration(choice.stopped_s)}" if choice.stopped_s else "never stops"
        yield (
            choice.option,
            Text(f"rolled after {duration(choice.rolled_s)}; the job {stops}; {lost}; {choice.usd:,.2f} USD without training"),
        )
        for step in choice.steps:
            yield "", Text(f"{duration(step.at_s):>12}  {step.what}", style="dim")
    yield (
        "",
        Text(f"typical times of one job on all nodes of {group}; nothing was changed: `trn roll {stack} {group} --checkpoint` asks first"),
    )
