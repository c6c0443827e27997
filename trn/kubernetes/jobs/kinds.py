"""Which kinds of the table that drain, logs and top use are jobs, and the state of one of any kind."""

from collections.abc import Sequence

from facts.kubernetes_kinds import DrainStage, Resource
from training.launchers import launchers
from training.launchers.base import Launcher
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
