"""What waits for Neuron nodes and has no pods yet: gangs, queued workloads, and sets of jobs that are started one after the other.

Sources: volcano.sh PodGroup and Job; kueue.x-k8s.io Workload; jobset.x-k8s.io JobSet, `startupPolicy`; leaderworkerset.x-k8s.io
LeaderWorkerSet, `startupPolicy`; Kubernetes batch Job; November 2026. Gangs of Kubernetes itself (scheduling.k8s.io) have their pods
from the start, which wait.
"""

from collections.abc import Callable, Iterator, Mapping

from .kubernetes import Kubernetes, Object, asks_for_neuron

Conditions = Mapping[str, str]


def waiting(api: Kubernetes) -> Iterator[str]:
    """Objects of all kinds that the cluster has which are not placed. Raises ApiError."""
    for (group, plural), path in api.paths(KINDS).items():
        for item in api.listed(path):
            if KINDS[group, plural](item):
                yield f"{plural}.{group} {item['metadata'].get('namespace')}/{item['metadata']['name']}"


def _pod_group(item: Object) -> bool:
    return _status(item).get("phase", "Pending") not in ("Running", "Completed")


def _workload(item: Object) -> bool:
    conditions = _conditions(item)
    return "True" not in (conditions.get("Finished"), conditions.get("Admitted")) and _spec(item).get("active", True)


def _volcano_job(item: Object) -> bool:
    phase = (_status(item).get("state") or {}).get("phase") or "Pending"
    asks = any(_template_asks(task) for task in _spec(item).get("tasks") or ())
    return asks and phase in ("Pending", "Restarting") and not any(_status(item).get(key) for key in ("pending", "running"))


def _job(item: Object) -> bool:
    return not _is_over(item) and not _spec(item).get("suspend") and _template_asks(_spec(item)) and not _status(item).get("active")


def _job_set(item: Object) -> bool:
    if _is_over(item) or _spec(item).get("suspend"):
        return False
    begun = {one["name"] for one in _status(item).get("replicatedJobsStatus") or () if any(one.get(key) for key in _BEGUN)}
    parts = _spec(item).get("replicatedJobs") or ()
    return any(part.get("name") not in begun and _template_asks((part.get("template") or {}).get("spec") or {}) for part in parts)


def _leader_worker_set(item: Object) -> bool:
    spec, templates = _spec(item), _spec(item).get("leaderWorkerTemplate") or {}
    asks = any(asks_for_neuron((templates.get(key) or {}).get("spec") or {}) for key in ("leaderTemplate", "workerTemplate"))
    replicas = spec.get("replicas")
    return asks and (_status(item).get("readyReplicas") or 0) < (1 if replicas is None else replicas)


_BEGUN = ("active", "ready", "succeeded", "failed")
KINDS: Mapping[tuple[str, str], Callable[[Object], bool]] = {
    ("scheduling.volcano.sh", "podgroups"): _pod_group,
    ("batch.volcano.sh", "jobs"): _volcano_job,
    ("kueue.x-k8s.io", "workloads"): _workload,
    ("jobset.x-k8s.io", "jobsets"): _job_set,
    ("leaderworkerset.x-k8s.io", "leaderworkersets"): _leader_worker_set,
    ("batch", "jobs"): _job,
}
"""API group and plural of a kind, and whether an object of it waits. One that is suspended wants no node until it is resumed; in a
queue of Kueue it has a Workload."""


def _spec(item: Object) -> Object:
    return item.get("spec") or {}


def _status(item: Object) -> Object:
    return item.get("status") or {}


def _conditions(item: Object) -> Conditions:
    return {one["type"]: one["status"] for one in _status(item).get("conditions") or ()}


def _is_over(item: Object) -> bool:
    conditions = _conditions(item)
    return any(conditions.get(kind) == "True" for kind in ("Complete", "Completed", "Failed"))


def _template_asks(owner: Object) -> bool:
    return asks_for_neuron((owner.get("template") or {}).get("spec") or {})
