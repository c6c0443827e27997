"""What pictures show of a run, whichever it was: `up`, a change, `destroy`, and each of them again."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from simulator.report.schema import CostPoint, Destroy, DestroyStep, PathStep, Report, ResourceTimes, StepTimes, Up
from simulator.report.words import duration

Phase = Literal["up", "change", "destroy"]
Operation = Literal["create", "update", "delete"]
SHORTEST_DRAWN_S = 3.0
"""Quicker operations are left out at first, unless they lie on the critical path or met trouble."""
LEGEND = (
    ("critical", "critical path"),
    ("", "others"),
    ("slot", "waits for a free slot"),
    ("refused", "refused"),
    ("retried", "retried until it worked"),
    ("cut", "cut: the run was killed"),
    ("bound", "lower bound: the shortest time that AWS's own chains allow"),
)
"""What colours, patterns and marks of a chart mean."""
DRAWN_WORDS = f"{SHORTEST_DRAWN_S:g} s and longer, the critical path, and trouble"


@dataclass(frozen=True)
class Step:
    """One operation on one resource, in virtual seconds since its run began."""

    urn: str
    type: str
    name: str
    operation: Operation
    start: float
    end: float
    attempts: int = 1
    cut: bool = False
    slot_wait_seconds: float = 0.0
    """How long it was ready before its start: as many steps as the engine runs at once were under way."""
    error: str | None = None
    cause: str | None = None
    fix: str | None = None
    waited_for: str | None = None
    """URN of the step of the same run that it depends on and waited for last."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Inputs that matter, as text; of an update, those that change."""
    level: int | None = None
    """Level of a deletion, 0 first."""

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start

    @property
    def trouble(self) -> Literal["refused", "cut", "retried"] | None:
        """The worst that happened to it."""
        return "refused" if self.error is not None else "cut" if self.cut else "retried" if self.attempts > 1 else None


@dataclass(frozen=True)
class Run:
    """One run, with all that a picture shows of it."""

    title: str
    """`up`, `up again`, `change`, ...: unlike that of every other run of the rehearsal."""
    phase: Phase
    seconds: float
    ended: Literal["well", "refused", "killed"]
    before: Sequence[str]
    """Commands that were done before it."""
    steps: Sequence[Step]
    """By start; components, providers and what was there already are left out."""
    critical: frozenset[tuple[str, Operation]]
    """URN and operation of each link of the critical path."""
    cost: Sequence[CostPoint]
    lower_bound_s: float | None = None
    """Shortest time that AWS's own chains allow; None where there is none to compare with."""
    not_started: int = 0
    """How many resources it was to make and did not come to."""
    kept: int = 0
    """How many resources were there already, and as they should be."""
    left: int = 0
    """How many objects are there when the last destroy has ended."""

    @property
    def id(self) -> str:
        """Its title, as an address within the page."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    @cached_property
    def axis_s(self) -> float:
        """Where its time axis ends; never 0."""
        return max([self.seconds, self.lower_bound_s or 0.0, 1.0, *(step.end for step in self.steps)])

    @property
    def words(self) -> str:
        """How it ended, and after what time."""
        after = duration(self.seconds)
        refused = sum(1 for step in self.steps if step.error is not None)
        behind = f", {self.left} left behind" if self.left else ""
        if self.ended == "killed":
            return f"killed after {after}{behind}"
        if self.ended == "refused" or refused:
            return f"stopped after {after}, {refused} refused{behind}"
        if behind:
            return f"ended after {after}{behind}"
        return {"up": "ready", "change": "done", "destroy": "gone"}[self.phase] + f" after {after}"

    @property
    def failed(self) -> bool:
        """Whether its words are bad news."""
        return self.ended != "well" or self.left > 0 or any(step.error is not None for step in self.steps)

    def is_critical(self, step: Step) -> bool:
        """Whether a step is a link of the critical path."""
        return (step.urn, step.operation) in self.critical

    def is_drawn(self, step: Step) -> bool:
        """Whether a step is in the picture from the start."""
        return step.seconds >= SHORTEST_DRAWN_S or step.trouble is not None or self.is_critical(step)

    def waited_for(self, step: Step) -> Step | None:
        """The step that another waited for last: of several on one resource, the last that had ended by then."""
        found = [other for other in self._by_urn.get(step.waited_for or "", ()) if other is not step and other.end <= step.start + 0.05]
        return max(found, key=lambda other: other.end, default=None)

    @cached_property
    def _by_urn(self) -> Mapping[str, list[Step]]:
        found: dict[str, list[Step]] = {}
        for step in self.steps:
            found.setdefault(step.urn, []).append(step)
        return found


def runs_of(report: Report) -> list[Run]:
    """Every run of up, then every run of destroy."""
    ups = [report.up, *report.reruns]
    destroys = [report.destroy, *report.destroy_reruns]
    engine_only = frozenset(item.urn for up in ups for item in up.resources if not _in_cloud(item))
    return [
        *(up_run(up, _title("up", index)) for index, up in enumerate(ups)),
        *(destroy_run(destroy, engine_only, _title("destroy", index)) for index, destroy in enumerate(destroys)),
    ]


def legend(runs: Iterable[Run]) -> list[tuple[str, str]]:
    """What occurs in the charts, in the order of `LEGEND`: red that is always there is not read."""
    found = {"critical", ""}
    for run in runs:
        found |= {"bound"} if run.lower_bound_s is not None else set()
        found |= {"slot"} if any(step.slot_wait_seconds for step in run.steps) else set()
        found |= {step.trouble for step in run.steps if step.trouble is not None}
    return [(style, words) for style, words in LEGEND if style in found]


def up_run(up: Up, title: str = "up") -> Run:
    """A run of `up`. The deletions of replacements are known where they lie on the critical path."""
    cloud = [item for item in up.resources if _in_cloud(item)]
    through = _looked_through(up.resources)
    made = [_step(item, "create", through, item.inputs) for item in cloud if _took_time(item)]
    deleted = [
        Step(link.urn, link.type, link.name, "delete", link.start, link.end) for link in up.critical_path if link.operation == "delete"
    ]
    return Run(
        title,
        "up",
        up.seconds,
        up.ended,
        up.before,
        _in_order([*made, *deleted]),
        _critical(up.critical_path),
        up.cost,
        # From nothing to ready: what finds half of the cluster, or stops half-way, has nothing to do with it.
        lower_bound_s=up.lower_bound_seconds if up.ended == "well" and not up.before else None,
        not_started=len(up.not_started),
        kept=len(cloud) - len(made),
    )


def destroy_run(destroy: Destroy, engine_only: frozenset[str] = frozenset(), title: str = "destroy") -> Run:
    """A run of `destroy`; `engine_only` are the URNs of what no cloud knows."""
    through = _looked_through(destroy.order)
    steps = [_step(item, "delete", through, {}) for item in destroy.order if item.urn not in engine_only]
    return Run(
        title,
        "destroy",
        destroy.seconds,
        destroy.ended,
        destroy.before,
        _in_order(steps),
        _critical(destroy.critical_path),
        destroy.cost,
        lower_bound_s=(destroy.lower_bound_seconds or None) if destroy.ended == "well" else None,
        left=len(destroy.leftovers),
    )


def _title(phase: str, index: int) -> str:
    return phase if index == 0 else f"{phase} again" if index == 1 else f"{phase} again, run {index + 1}"


def _in_cloud(item: ResourceTimes) -> bool:
    """Components and providers exist in the engine only."""
    return item.custom and not item.type.startswith("pulumi:providers:")


def _took_time(item: StepTimes) -> bool:
    return item.end > item.start or item.error is not None or item.cut


def _looked_through(items: Iterable[StepTimes]) -> dict[str, str | None]:
    """What took no time, such as a component, to what it waited for itself."""
    return {item.urn: item.waited_for for item in items if not _took_time(item)}


def _step(item: StepTimes, operation: Operation, through: Mapping[str, str | None], inputs: Mapping[str, str]) -> Step:
    waited_for = item.waited_for
    while waited_for is not None and waited_for in through:
        waited_for = through[waited_for]
    return Step(
        item.urn,
        item.type,
        item.name,
        operation,
        item.start,
        item.end,
        item.attempts,
        item.cut,
        item.slot_wait_seconds,
        item.error,
        item.cause,
        item.fix,
        waited_for,
        inputs,
        item.level if isinstance(item, DestroyStep) else None,
    )


def _in_order(steps: Iterable[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: (step.start, step.end, step.urn, step.operation))


def _critical(path: Iterable[PathStep]) -> frozenset[tuple[str, Operation]]:
    return frozenset((link.urn, link.operation) for link in path)
