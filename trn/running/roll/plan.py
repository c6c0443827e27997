"""A roll as a value that is shown before it is done. Pure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from facts.names import GROUP_LABEL
from facts.typed import typed
from simulator.account import kinds
from simulator.account.rules.capacity import ROLLING_INPUTS, rolls
from simulator.engine.plan import Change
from trn.change.action import Difference
from trn.cli.errors import CommandError
from trn.engine.planned import Planned
from trn.kubernetes.cancellation import CancelPlan
from trn.kubernetes.client import Object
from trn.kubernetes.job_end import is_tied, stopped_for, why_not
from trn.kubernetes.jobs.job import FoundJob, makers_of
from trn.kubernetes.jobs.look import View
from trn.running.roll.free_nodes import free_nodes
from trn.running.roll.others import OtherPod, is_over, others_on, refuse_others

Way = Literal["when-idle", "checkpoint", "to"]
CORDONED_BY_ROLL = "trn/cordoned-by-roll"
"""Annotation of a node that a roll closed: only those are opened again."""


@dataclass(frozen=True)
class RollPlan:
    """What is going to be done with one group."""

    group: str
    way: Way
    to: str
    """The second group; empty without one."""
    wanted: Mapping[str, Mapping[str, Any]]
    """Inputs by URN of what `pulumi up` is limited to; none where the nodes are as the stack file says."""
    beside: tuple[str, ...]
    """Other inputs of the group that the same update changes, such as its size."""
    nodes: tuple[str, ...]
    jobs: tuple[CancelPlan, ...]
    """Jobs with a pod on the group that runs, each with its grace and its checkpoints."""
    stopped: tuple[FoundJob, ...]
    """Jobs that an earlier run stopped for this group."""
    closed: tuple[str, ...] = ()
    """Nodes that an earlier run closed."""
    others: tuple[OtherPod, ...] = field(default=())
    """Pods on the group that belong to no job."""

    @property
    def targets(self) -> tuple[str, ...]:
        """URNs that `pulumi up` is limited to."""
        return tuple(sorted(self.wanted))

    @property
    def replaces(self) -> bool:
        """Whether nodes go: they are replaced, or set to zero."""
        return bool(self.targets or self.to)

    @property
    def has_work(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.replaces or self.stopped or self.closed)

    @property
    def lines(self) -> list[str]:
        """For a person."""
        if not self.has_work:
            return [f"the nodes of {self.group} are as the stack file says: nothing to roll"]
        said = [self._closing] if self.replaces else []
        for job in self.jobs if self.replaces else ():
            head = f"{named(job.job)}, {job.job.running} of {job.job.wanted} nodes"
            said.append(f"{head}: waited for" if self.way == "when-idle" else f"{head}: {_stopping(job)}")
        said += [pod.line for pod in self.others if self.replaces]
        if self.to:
            said.append(f"jobs start again on {self.to}; {self.group} is set to 0 nodes")
        elif self.targets:
            more = f"; the same update of the group changes {', '.join(self.beside)}" if self.beside else ", and changes nothing else"
            said.append(f"`{typed('pulumi up')}` replaces the nodes of {self.group} one after the other{more}")
        if self.stopped:
            said.append(f"stopped by an earlier run, and started again: {', '.join(named(job) for job in self.stopped)}")
        if self.closed:
            said.append(f"closed by an earlier run, and opened again at the end: {', '.join(self.closed)}")
        return said

    @property
    def _closing(self) -> str:
        if not self.nodes:
            return f"{self.group} has no nodes now: nothing stops"
        return (
            f"{self.group}: {len(self.nodes)} node{'s' * (len(self.nodes) != 1)} take{'s' * (len(self.nodes) == 1)} no new pods from now on"
        )


def named(job: FoundJob) -> str:
    """A job with its namespace: two namespaces may each have one of a name."""
    return f"{job.reference} in {job.namespace}"


def _stopping(job: CancelPlan) -> str:
    if job.saves:
        return f"saves a checkpoint in {job.folder} within {job.grace_s} s, stops, and starts again from it"
    return f"keeps no checkpoints that are known: it stops within {job.grace_s} s, and starts again from its beginning"


def plan_roll(
    group: str, way: Way, to: str, planned: Planned, views: Sequence[View], sizes: Mapping[str, int], budgets: Sequence[Object] = (),
    accepted: Collection[str] = (),
) -> RollPlan:  # fmt: skip
    """The plan for one group. `views`: a look at each namespace with jobs; `sizes`: nodes of each group of the stack.

    `accepted`: pods of no job, as NAMESPACE/NAME, that may end. Raises CommandError for a job that cannot be stopped, for a pod that would
    be lost, and where the second group has too little room.
    """
    there = [node for node in (views[0].nodes if views else ()) if is_of(node, group)]
    nodes = tuple(sorted(node["metadata"]["name"] for node in there))
    running, stopped, held = list[CancelPlan](), list[FoundJob](), set[str]()
    wanted, beside = ({}, ()) if to else wanted_of(planned, group)
    for view in views:
        # A JobSet's Jobs go with it; a CronJob's are jobs by themselves.
        known = {str(job.item["metadata"].get("uid")) for job in view.jobs}
        for job in view.jobs:
            held |= {str(pod["metadata"].get("uid")) for pod in job.pods}
            on_group = any(pod["spec"].get("nodeName") in nodes and not is_over(pod) for pod in job.pods)
            # Where nothing is replaced, a job that is still ending starts again as well.
            if stopped_for(job.item) == group and (not on_group or not (wanted or to)):
                stopped.append(job)
            elif on_group and not makers_of(job.item) & known:
                running.append(CancelPlan(job, False, view.owners))
    others = others_on(nodes, views[0].pods if views else (), held, budgets)
    closed = tuple(sorted(node["metadata"]["name"] for node in there if CORDONED_BY_ROLL in (node["metadata"].get("annotations") or {})))
    plan = RollPlan(group, way, to, wanted, beside, nodes, tuple(running), tuple(stopped), closed, others)
    if plan.replaces:
        if way != "when-idle":
            _refuse([job.job for job in running], group, to)
        if to:
            _refuse_narrow(plan, views, sizes.get(to, 0))
        refuse_others(group, others, accepted)
    return plan


def wanted_of(planned: Planned, group: str) -> tuple[dict[str, Mapping[str, Any]], tuple[str, ...]]:
    """Inputs by URN of a group and its launch template, where the engine's plan rolls its nodes, and the other inputs that it changes.

    Raises CommandError where it replaces the group.
    """
    change = next((item for item in planned.changes.values() if _is_group(item, group)), None)
    if change is None or change.kind in ("create", "same"):
        return {}, ()
    if change.kind != "update":
        hint = f"`{typed('trn plan')}` says what it does; a second group beside it and `--to` move the jobs first"
        raise CommandError(f"`{typed('pulumi up')}` would {change.kind} the group {group}, which is no roll", hint)
    assert change.old is not None
    assert change.new is not None
    # Not by the size in the state: an autoscaler, a schedule or `trn scale` may have given it nodes.
    if not rolls(change.old, change.new):
        return {}, ()
    if change.old.inputs.get("capacityType") == "CAPACITY_BLOCK":
        hint = f"`{typed(f'trn scale {group} 0')}` when its jobs have ended, then `{typed('pulumi up')}`, then `{typed(f'trn scale {group} N')}`"
        raise CommandError(f"{group} is on a capacity block: EKS updates it only while it is empty", hint)
    templates = {urn for urn in change.registration.dependencies if urn in planned.changes and f"${kinds.LAUNCH_TEMPLATE}::" in urn}
    named_keys = {path.split(".")[0].split("[")[0] for path in change.changed}
    beside = tuple(sorted(named_keys - {*ROLLING_INPUTS}))
    found = {urn: planned.changes[urn].new for urn in sorted({change.registration.urn, *templates})}
    return {urn: dict(item.inputs) if item is not None else {} for urn, item in found.items()}, beside


def _refuse(jobs: Sequence[FoundJob], group: str, to: str) -> None:
    for job in jobs:
        reason = why_not(job)
        if reason:
            raise CommandError(reason, f"`--when-idle` waits for its end; or `{typed('trn cancel')}` it")
        if to and is_tied(job, GROUP_LABEL):
            raise CommandError(f"{job.reference} may be on {group} only: its pods select {GROUP_LABEL}", "`--checkpoint` keeps it there")


def _refuse_narrow(plan: RollPlan, views: Sequence[View], size: int) -> None:
    """Raises CommandError where the jobs that move would wait for nodes: the second group is too small, too full, or of smaller instances."""
    moved = [*(job.job for job in plan.jobs), *plan.stopped]
    needed, to = sum(job.wanted for job in moved), plan.to
    hint = f"`{typed(f'trn scale {to} {needed}')}`, or a larger `nodeGroups.{to}.size` and `{typed('pulumi up')}`; `{typed('trn check')}` counts the quota"
    if size < needed:
        raise CommandError(f"the jobs on {plan.group} have {needed} nodes, and {to} has {size}", hint)
    nodes = [node for node in views[0].nodes if is_of(node, to)] if views else []
    free = free_nodes(nodes, views[0].pods if views else (), moved)
    if needed and len(free) < needed:
        wrong = (
            f"the jobs on {plan.group} have {needed} nodes, and of {to}'s {len(nodes)} are {len(free)} free, open and large enough for them"
        )
        raise CommandError(wrong, f"`{typed('trn jobs')}` and `{typed('trn top')}` say what is there; {hint}")


def _is_group(change: Change, group: str) -> bool:
    item = change.old or change.registration
    return item.type == kinds.NODE_GROUP and item.inputs.get("nodeGroupName") == group


def is_of(node: Object, group: str) -> bool:
    """Whether a node is one of a group's."""
    return (node["metadata"].get("labels") or {}).get(GROUP_LABEL) == group


def differences(shown: RollPlan, now: RollPlan) -> Iterator[Difference]:
    """Compare two plans for one group. Grave is what stops something else, or changes something else: a `--yes` to the old plan is none to it."""
    yield from (Difference(what, is_grave=True) for what in _grave(shown, now))
    yield from (Difference(what, is_grave=False) for what in _mild(shown, now))


def _grave(shown: RollPlan, now: RollPlan) -> Iterator[str]:
    jobs, before = ({job.uid: named(job.job) for job in plan.jobs} for plan in (now, shown))
    yield from (f"{name} has begun on {now.group}" for uid, name in jobs.items() if uid not in before)
    pods, known = ({pod.uid: pod.name for pod in plan.others} for plan in (now, shown))
    yield from (f"pod {name} has begun on {now.group}" for uid, name in pods.items() if uid not in known)
    if now.targets and now.wanted != shown.wanted:
        changed = sorted({urn.rsplit("::", 1)[-1] for urn in now.wanted if now.wanted[urn] != shown.wanted.get(urn)})
        yield f"`{typed('pulumi up')}` would change {', '.join(changed) or now.group} in another way: the stack file or the state has changed"


def _mild(shown: RollPlan, now: RollPlan) -> Iterator[str]:
    yield from _moved(shown.nodes, now.nodes, "node {} has joined " + now.group, "node {} is gone")
    jobs, before = ({job.uid: named(job.job) for job in plan.jobs} for plan in (now, shown))
    yield from (f"{name} has left {now.group}" for uid, name in before.items() if uid not in jobs)
    pods, known = ({pod.uid: pod.name for pod in plan.others} for plan in (now, shown))
    yield from (f"pod {name} is gone" for uid, name in known.items() if uid not in pods)
    stopped, earlier = ([named(job) for job in plan.stopped] for plan in (now, shown))
    yield from _moved(earlier, stopped, "{} was stopped by another run", "{} was started by another run")
    if not now.targets and shown.targets:
        yield f"the nodes of {now.group} are as the stack file says: another run was faster"


def _moved(before: Collection[str], after: Collection[str], came: str, went: str) -> Iterator[str]:
    yield from (came.format(name) for name in after if name not in before)
    yield from (went.format(name) for name in before if name not in after)
