"""Which jobs a plan stops: those with pods on nodes that it deletes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simulator.account import kinds
from trn.engine.effects import Effect
from trn.kubernetes.client import Object
from trn.kubernetes.jobs.job import FoundJob
from trn.kubernetes.jobs.look import View

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


def stopped_by(effect: Effect, views: Sequence[View]) -> list[StoppedJob]:
    """Jobs that run on the nodes or in the namespace that a step deletes, that mount the claim, or whose kind goes. `views`: of all namespaces."""
    running = [job for view in views for job in _running(view)]
    if effect.type == kinds.CLUSTER and "data" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in running]
    if effect.type == kinds.NAMESPACE and "jobs" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in running if job.namespace == effect.object_name]
    if effect.type == kinds.CLAIM and "data" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in running if any(_mounts(pod, effect) for pod in job.pods)]
    if effect.type == kinds.RELEASE and "jobs" in effect.classes:
        return [_stopped(job, job.pods, certain=True) for job in running if _kind_of(job) in effect.object_kinds]
    if effect.type not in GROUP_LABELS or not ("restarts" in effect.classes or effect.rolls):
        return []
    lost = nodes_of(effect, views)
    going = sum(item.nodes for item in effect.nodes if item.kind != "added") if effect.nodes and not effect.rolls else len(lost)
    found = []
    for job in running:
        pods = [pod for pod in job.pods if pod["spec"].get("nodeName") in lost]
        if pods:
            found.append(_stopped(job, pods, certain=going >= len(lost)))
    return found


def nodes_of(effect: Effect, views: Sequence[View]) -> set[str]:
    """Names of the nodes that a group has now, whatever the state says of its size."""
    label = GROUP_LABELS[effect.type]
    there = (node["metadata"] for view in views[:1] for node in view.nodes)
    return {metadata["name"] for metadata in there if (metadata.get("labels") or {}).get(label) == effect.object_name}


def _mounts(pod: Object, effect: Effect) -> bool:
    claims = [volume.get("persistentVolumeClaim") or {} for volume in pod["spec"].get("volumes") or ()]
    return pod["metadata"].get("namespace") == effect.namespace and any(claim.get("claimName") == effect.object_name for claim in claims)


def _kind_of(job: FoundJob) -> str:
    """As a chart's contract names kinds: `batch.volcano.sh/Job`."""
    resource = job.kind.resource
    return f"{resource.group}/{job.item.get('kind') or resource.kind.rpartition(' ')[2]}"


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


def with_jobs(found: Sequence[Effect], look: Callable[[], Sequence[View]]) -> tuple[list[Effect], dict[str, list[StoppedJob]]]:
    """The steps as the cluster shows them, and URN to the jobs that each stops. `look` is called only where a step takes something away."""
    taking = [effect for effect in found if effect.rolls or effect.classes & {"restarts", "jobs", "data"}]
    if not taking:
        return list(found), {}
    views = look()
    stopped = {effect.urn: jobs for effect in taking if (jobs := stopped_by(effect, views))}
    return [_seen(effect, views) for effect in found], stopped


def _seen(effect: Effect, views: Sequence[View]) -> Effect:
    """A group that the state holds to be empty, and that has nodes."""
    if not effect.rolls or "restarts" in effect.classes or not (there := nodes_of(effect, views)):
        return effect
    text = f"node group {effect.object_name} has {len(there)} node{'s' * (len(there) != 1)} that the state does not know: they are replaced"
    return replace(effect, classes=(effect.classes - {"safe"}) | {"restarts"}, texts=(*effect.texts, text))
