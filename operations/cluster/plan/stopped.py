"""Which jobs a plan stops: those with pods on nodes that it deletes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operations.cluster.plan.effects import Effect
from operations.jobs.listing.found import FoundJob
from operations.jobs.listing.look import View
from operations.kube.api import Object
from simulator.account import kinds

GROUP_LABELS: Mapping[str, str] = {kinds.NODE_GROUP: "eks.amazonaws.com/nodegroup", kinds.NODE_POOL: "karpenter.sh/nodepool"}
"""Label of the nodes of a group, by the group's type."""


@dataclass(frozen=True)
class StoppedJob:
    """One job that has to end, or may have to."""

    job: str
    """As kubectl calls it: `jobs.batch.volcano.sh/bert`."""
    team: str
    """Its namespace, and its queue where it has one."""
    nodes: tuple[str, ...]
    certain: bool
    """False where only some nodes of a group go, and which ones is not known."""

    @property
    def text(self) -> str:
        """For a reader."""
        return f"{'stops' if self.certain else 'may stop'} job {self.job} of {self.team} on {', '.join(self.nodes)}"


def stopped_by(effect: Effect, view: View) -> list[StoppedJob]:
    """Jobs that run on the nodes, or in the namespace, that a step deletes."""
    if effect.type == kinds.CLUSTER and "data" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in _running(view)]
    if effect.type == kinds.NAMESPACE and "jobs" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in _running(view) if job.namespace == effect.object_name]
    if "restarts" not in effect.classes or effect.type not in GROUP_LABELS:
        return []
    label = GROUP_LABELS[effect.type]
    lost = {node["metadata"]["name"] for node in view.nodes if (node["metadata"].get("labels") or {}).get(label) == effect.object_name}
    going = sum(item.nodes for item in effect.nodes if item.kind != "added") if effect.nodes else len(lost)
    found = []
    for job in _running(view):
        pods = [pod for pod in job.pods if pod["spec"].get("nodeName") in lost]
        if pods:
            found.append(_stopped(job, pods, certain=going >= len(lost)))
    return found


def _running(view: View) -> list[FoundJob]:
    """Jobs that a user started, with a pod on a node that has not ended."""
    return [job for job in view.jobs if job.kind.chosen(job.item) and not job.phase.is_over and any(_is_on_a_node(pod) for pod in job.pods)]


def _stopped(job: FoundJob, pods: Iterable[Object], *, certain: bool) -> StoppedJob:
    nodes = sorted({pod["spec"]["nodeName"] for pod in pods if _is_on_a_node(pod)})
    queue = job.item.get("spec", {}).get("queue")
    team = f"namespace {job.namespace}" + (f", queue {queue}" if queue else "")
    return StoppedJob(job.reference, team, tuple(nodes), certain)


def _is_on_a_node(pod: Mapping[str, Any]) -> bool:
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def with_jobs(found: Sequence[Effect], look: Callable[[], View]) -> dict[str, list[StoppedJob]]:
    """URN to the jobs that its step stops. `look` is called only where a step takes something away."""
    taking = [effect for effect in found if effect.classes & {"restarts", "jobs", "data"}]
    if not taking:
        return {}
    view = look()
    return {effect.urn: stopped for effect in taking if (stopped := stopped_by(effect, view))}
