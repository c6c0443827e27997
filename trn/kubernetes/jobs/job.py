"""One job as it was found in a cluster, with its pods: what all commands around jobs start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from facts.kubernetes_kinds import DrainStage, Resource
from training.launchers import launchers
from training.launchers.base import Launcher
from training.lint.finding import Document
from training.lint.workloads import Workload, workloads
from training.phase import Phase
from trn.kubernetes.client import Object
from trn.kubernetes.kinds import KINDS, Kind

_STAGES = frozenset({DrainStage.JOB_CLUSTERS, DrainStage.JOBS, DrainStage.GANGS, DrainStage.BASIC_JOBS})
JOB_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.drained.stage in _STAGES)
"""Kinds whose objects have pods, owners before what they own; what serves a model holds nodes as a job does."""
_BY_CONDITION = {
    "Succeeded": Phase.SUCCEEDED, "Complete": Phase.SUCCEEDED, "Completed": Phase.SUCCEEDED, "Failed": Phase.FAILED,
    "Suspended": Phase.STOPPED, "Restarting": Phase.RESTARTING,
}  # fmt: skip
"""Conditions that end a job or hold it, as most controllers spell them (kubeflow/training-operator JobConditionType, JobSet, batch/v1)."""
_BY_RAY = {"SUCCEEDED": Phase.SUCCEEDED, "FAILED": Phase.FAILED, "STOPPED": Phase.STOPPED}
"""`status.jobStatus` of a RayJob (ray-project/kuberay rayjob_types.go, JobStatus)."""


def launcher_of(resource: Resource) -> Launcher | None:
    """The launcher that makes objects of a kind; None for a kind that `trn submit` does not make."""
    place = (resource.path, resource.plural)
    return next((it for it in launchers() if it.resource is not None and (it.resource.path, it.resource.plural) == place), None)


def phase_of(resource: Resource, item: Object, pods: Sequence[Object]) -> Phase:
    """State of a job: by its launcher where there is one, else by its conditions and its pods."""
    status = item.get("status") or {}
    if item["metadata"].get("deletionTimestamp"):
        return Phase.STOPPING
    if (launcher := launcher_of(resource)) is not None:
        return launcher.phase(status)
    met = [entry.get("type") for entry in status.get("conditions") or () if entry.get("status") == "True"]
    found = next((_BY_CONDITION[kind] for kind in met if kind in _BY_CONDITION), _BY_RAY.get(status.get("jobStatus", "")))
    if found is not None:
        return found
    return Phase.RUNNING if any(pod.get("status", {}).get("phase") == "Running" for pod in pods) else Phase.WAITING


@dataclass(frozen=True)
class FoundJob:
    """A job of any kind."""

    kind: Kind
    item: Object
    pods: tuple[Object, ...] = ()
    """Those that are there now, in the order of their numbers."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.item["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.item["metadata"].get("namespace", ""))

    @property
    def reference(self) -> str:
        """As a person and kubectl call it: `jobs.batch.volcano.sh/bert`."""
        return f"{self.kind.resource.qualified}/{self.name}"

    @cached_property
    def phase(self) -> Phase:
        """Its state."""
        return phase_of(self.kind.resource, self.item, self.pods)

    @cached_property
    def pod_sets(self) -> tuple[Workload, ...]:
        """What it starts: those pods that ask for Neuron where there are any, for each of them takes a node; else all."""
        found = workloads([Document(0, self.item)])
        return tuple(entry for entry in found if entry.on_neuron is not None) or tuple(found)

    @property
    def wanted(self) -> int:
        """Pods, and so nodes, that it wants at the same time."""
        return sum(entry.count for entry in self.pod_sets) or len(self.pods)

    @property
    def running(self) -> int:
        """Pods of it that run, at most as many as are wanted: a launcher's own pod trains nothing."""
        return min(self.wanted, sum(pod.get("status", {}).get("phase") == "Running" for pod in self.pods))

    @property
    def since(self) -> str:
        """Since when its pods run, or when it was made; as Kubernetes writes times, in UTC."""
        started = [pod["status"]["startTime"] for pod in self.pods if pod.get("status", {}).get("startTime")]
        running = self.phase in (Phase.RUNNING, Phase.STOPPING)
        return str(min(started) if running and started else self.item["metadata"].get("creationTimestamp", ""))

    @property
    def restarts(self) -> int:
        """How often it started again, as far as its own status or its pods say: `trn watch` counts by the log."""
        status = self.item.get("status") or {}
        kubelets = (entry.get("restartCount", 0) for pod in self.pods for entry in pod.get("status", {}).get("containerStatuses") or ())
        tries = status.get("failed", 0) if self.kind.resource.kind == "RayJob" else 0
        counts = (status.get("retryCount", 0), status.get("restarts", 0), tries, max(kubelets, default=0))
        return max((count for count in counts if isinstance(count, int)), default=0)

    @property
    def owner(self) -> str:
        """Kind and name of the object that made it and would make it again; empty for none."""
        owner = next(iter(self.item["metadata"].get("ownerReferences") or ()), None)
        return f"{owner.get('kind', 'object')} {owner.get('name', '')}".rstrip() if owner else ""

    @property
    def pod_spec(self) -> dict[str, Any]:
        """The `spec` of one of its pods: from its template, else from a pod that is there; empty where neither is known."""
        template = next((entry.pod for entry in self.pod_sets if entry.pod), None)
        return dict(template or next((pod.get("spec", {}) for pod in self.pods), {}))

    @property
    def environment(self) -> dict[str, str]:
        """Variables with a value in the containers of its pods."""
        entries = [entry for container in self.pod_spec.get("containers") or () for entry in container.get("env") or ()]
        return {entry["name"]: entry["value"] for entry in entries if "value" in entry}


def makers_of(item: Object) -> frozenset[str]:
    """Uids of the objects that an object belongs to."""
    return frozenset(str(owner["uid"]) for owner in item["metadata"].get("ownerReferences") or () if owner.get("uid"))


def in_order(pods: Sequence[Object]) -> tuple[Object, ...]:
    """Pods by the numbers in their names: ten after two."""
    return tuple(sorted(pods, key=lambda pod: (len(pod["metadata"]["name"]), pod["metadata"]["name"])))
