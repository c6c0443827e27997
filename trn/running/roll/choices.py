"""What each way to roll a group costs a job that has all its nodes: time, training that stops, work that is lost, money. Pure.

A rehearsal of one group in a virtual clock: the job runs at second 0, and every step takes its typical latency.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.text import Text

from facts.document import Document
from facts.resources.eks_nodes import NEURON_NODE_UPDATE
from facts.resources.latency import Latency
from facts.typed import typed
from simulator import costs, latencies
from simulator.account import kinds
from simulator.recording import Recording
from simulator.report.words import duration
from training.duration import seconds
from training.job import Checkpoints
from trn.cli.lines import Line


@dataclass(frozen=True)
class Step:
    """Something that begins at a virtual second."""

    at_s: float
    what: str


@dataclass(frozen=True)
class Setting:
    """One group, and the job on it."""

    group: str
    nodes: int
    usd_per_hour: float
    """Of the group."""
    node_update: Latency
    """Of one node."""
    make_s: float
    """Until a second group is up."""
    delete_s: float
    """Until a group is gone."""
    grace_s: float
    """What the job is given for a checkpoint, at most."""
    left_s: float
    """What the job still has to train."""
    unsaved_s: float
    """Trained since its last checkpoint, at most: the interval between two."""

    @property
    def roll_s(self) -> float:
        """All nodes, one after the other."""
        return self.nodes * self.node_update.typical


@dataclass(frozen=True)
class Choice:
    """One way, and what it comes to."""

    option: str
    """As it is typed."""
    steps: tuple[Step, ...]
    rolled_s: float
    """Until every node is as the stack file says."""
    stopped_s: float
    """In which the job does not train."""
    lost_s: float
    """Of training that is done again, at most."""
    usd: float
    """Paid for nodes on which nothing trains, for work that is lost, and for a second group."""


def choices(setting: Setting) -> Iterator[Choice]:
    """A plain `pulumi up`, and the three ways of `trn roll`."""
    rate, roll, grace = setting.usd_per_hour / 3600, setting.roll_s, setting.grace_s
    lost = setting.unsaved_s
    yield Choice(
        typed("pulumi up"),
        (Step(0.0, "the first node is replaced, the gang stops"), Step(roll, "the last node is there, the gang starts again")),
        roll,
        roll,
        lost,
        (roll + lost) * rate,
    )
    yield Choice(
        "--when-idle",
        (Step(0.0, "nodes take no new pods, the job trains on"), Step(setting.left_s, "the job ends, nodes are replaced")),
        setting.left_s + roll,
        0.0,
        0.0,
        roll * rate,
    )
    yield Choice(
        "--checkpoint",
        (
            Step(0.0, "the job saves a checkpoint and stops"),
            Step(grace, "nodes are replaced"),
            Step(grace + roll, "the job starts again from its checkpoint"),
        ),
        grace + roll,
        grace + roll,
        0.0,
        (grace + roll) * rate,
    )
    made = setting.make_s
    yield Choice(
        "--to GROUP",
        (
            Step(0.0, "a second group is made, the job trains on"),
            Step(made, "the job saves a checkpoint and stops"),
            Step(made + grace, "the job starts on the second group, the first goes to zero"),
        ),
        made + grace,
        grace,
        0.0,
        (made + grace + setting.delete_s) * rate,
    )


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
        Text(
            f"typical times of one job on all nodes of {group}; nothing was changed: `{typed(f'trn roll {stack} {group} --checkpoint')}` asks first"
        ),
    )
