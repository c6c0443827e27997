"""A roll as a value that is shown before it is done. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from facts.names import GROUP_LABEL
from operations.cluster.plan.planned import Planned
from operations.cluster.roll.stopping import is_tied, stopped_for, why_not
from operations.errors import CommandError
from operations.jobs.cancel.plan import CancelPlan
from operations.jobs.listing.found import FoundJob, makers_of
from operations.jobs.listing.look import View
from simulator import latencies
from simulator.account import kinds
from simulator.engine.plan import Change

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
    targets: tuple[str, ...]
    """URNs that `pulumi up` is limited to; none where the nodes are as the stack file says."""
    nodes: tuple[str, ...]
    jobs: tuple[CancelPlan, ...]
    """Jobs with a pod on the group that runs, each with its grace and its checkpoints."""
    stopped: tuple[FoundJob, ...]
    """Jobs that an earlier run stopped for this group."""

    @property
    def has_work(self) -> bool:
        """Whether anything is to be done."""
        return bool(self.targets or self.to or self.stopped)

    @property
    def lines(self) -> list[str]:
        """For a person."""
        if not self.has_work:
            return [f"the nodes of {self.group} are as the stack file says: nothing to roll"]
        said = [f"{self.group}: {len(self.nodes)} nodes take no new pods from now on"] if self.targets or self.to else []
        for job in self.jobs:
            head = f"{job.job.reference} in {job.job.namespace}, {job.job.running} of {job.job.wanted} nodes"
            said.append(f"{head}: waited for" if self.way == "when-idle" else f"{head}: {_stopping(job)}")
        if self.to:
            said.append(f"jobs start again on {self.to}; {self.group} is set to 0 nodes")
        elif self.targets:
            said.append(f"`pulumi up` replaces the nodes of {self.group} one after the other, and changes nothing else")
        again = [job.reference for job in self.stopped]
        if again:
            said.append(f"stopped by an earlier run, and started again: {', '.join(again)}")
        return said


def _stopping(job: CancelPlan) -> str:
    if job.saves:
        return f"saves a checkpoint in {job.folder} within {job.grace_s} s, stops, and starts again from it"
    return f"keeps no checkpoints that are known: it stops within {job.grace_s} s, and starts again from its beginning"


def plan_roll(group: str, way: Way, to: str, planned: Planned, views: Sequence[View], sizes: Mapping[str, int]) -> RollPlan:
    """The plan for one group. `views`: a look at each namespace with jobs; `sizes`: nodes of each group of the stack.

    Raises CommandError for a job that cannot be stopped, and where the second group has too few nodes.
    """
    nodes = tuple(sorted(node["metadata"]["name"] for node in views[0].nodes if _group_of(node) == group)) if views else ()
    running, stopped = list[CancelPlan](), list[FoundJob]()
    for view in views:
        # A JobSet's Jobs go with it; a CronJob's are jobs by themselves.
        known = {str(job.item["metadata"].get("uid")) for job in view.jobs}
        for job in view.jobs:
            on_group = any(pod["spec"].get("nodeName") in nodes and not _is_over(pod) for pod in job.pods)
            if stopped_for(job.item) == group and not on_group:
                stopped.append(job)
            elif on_group and not makers_of(job.item) & known:
                running.append(CancelPlan(job, False, view.owners))
    if way != "when-idle":
        _refuse([plan.job for plan in running], group, to, sizes)
    return RollPlan(group, way, to, () if to else targets_of(planned, group), nodes, tuple(running), tuple(stopped))


def targets_of(planned: Planned, group: str) -> tuple[str, ...]:
    """URNs of a group and its launch template, where the engine's plan rolls its nodes. Raises CommandError where it replaces the group."""
    change = next((item for item in planned.changes.values() if _is_group(item, group)), None)
    if change is None or change.kind in ("create", "same"):
        return ()
    if change.kind != "update":
        hint = "`trn plan` says what it does; a second group beside it and `--to` move the jobs first"
        raise CommandError(f"`pulumi up` would {change.kind} the group {group}, which is no roll", hint)
    assert change.old is not None
    assert change.new is not None
    if not latencies.rolled_nodes(change.old, change.new):
        return ()
    if change.old.inputs.get("capacityType") == "CAPACITY_BLOCK":
        hint = f"`trn scale {group} 0` when its jobs have ended, then `pulumi up`, then `trn scale {group} N`"
        raise CommandError(f"{group} is on a capacity block: EKS updates it only while it is empty", hint)
    templates = {urn for urn in change.registration.dependencies if urn in planned.changes and f"${kinds.LAUNCH_TEMPLATE}::" in urn}
    return tuple(sorted({change.registration.urn, *templates}))


def _refuse(jobs: Sequence[FoundJob], group: str, to: str, sizes: Mapping[str, int]) -> None:
    for job in jobs:
        reason = why_not(job)
        if reason:
            raise CommandError(reason, "`--when-idle` waits for its end; or `trn cancel` it")
        if to and is_tied(job, GROUP_LABEL):
            raise CommandError(f"{job.reference} may be on {group} only: its pods select {GROUP_LABEL}", "`--checkpoint` keeps it there")
    needed, there = sum(job.wanted for job in jobs), sizes.get(to, 0)
    if to and there < needed:
        hint = f"`trn scale {to} {needed}`, or a larger `nodeGroups.{to}.size` and `pulumi up`; `trn check` counts the quota"
        raise CommandError(f"the jobs on {group} have {needed} nodes, and {to} has {there}", hint)


def _is_group(change: Change, group: str) -> bool:
    item = change.old or change.registration
    return item.type == kinds.NODE_GROUP and item.inputs.get("nodeGroupName") == group


def _group_of(node: Mapping[str, object]) -> str:
    metadata = node["metadata"]
    assert isinstance(metadata, Mapping)
    return str((metadata.get("labels") or {}).get(GROUP_LABEL, ""))


def _is_over(pod: Mapping[str, object]) -> bool:
    status = pod.get("status") or {}
    return isinstance(status, Mapping) and status.get("phase") in ("Succeeded", "Failed")
