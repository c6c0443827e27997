"""Which pods belong to a job, of any kind: by the labels that its controller gives them."""

from collections.abc import Mapping

from facts.kubernetes_kinds import Resource
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.kinds import KINDS

PODS = Resource("Pod", "/api/v1", "pods")
JOB_LABELS = tuple(dict.fromkeys(kind.drained.pod_label for kind in KINDS if kind.drained.pod_label))
"""Labels of pods that hold the name of their job."""
OWNER_LABELS = {kind.resource: kind.drained.owner_label for kind in KINDS if kind.drained.owner_label}
"""By kind, the label of an object that holds the name of the job it was made for: pods of a RayJob bear its RayCluster's name alone."""


def pods_of(kubernetes: Kubernetes, namespace: str, job: str) -> list[Object]:
    """Pods of one job."""
    return [pod for pod, jobs in _pods_with_jobs(kubernetes, namespace) if job in jobs]


def known_jobs(kubernetes: Kubernetes, namespace: str) -> str:
    """The hint for a job that is not there."""
    known = sorted({job for _, jobs in _pods_with_jobs(kubernetes, namespace) for job in jobs})
    return f"jobs with pods there: {', '.join(known) or 'none'}; --namespace looks elsewhere"


def _pods_with_jobs(kubernetes: Kubernetes, namespace: str) -> list[tuple[Object, set[str]]]:
    owners = owners_of(kubernetes, namespace)
    pods = [pod for pod in kubernetes.list(PODS) or () if pod["metadata"]["namespace"] == namespace]
    return [(pod, jobs_of(pod, owners)) for pod in pods]


def jobs_of(pod: Object, owners: Mapping[str, str]) -> set[str]:
    """Names of all jobs that a pod is part of: a TrainJob's is its JobSet's too, and that of a Kubernetes Job."""
    labels = pod["metadata"].get("labels") or {}
    names = {labels[key] for key in JOB_LABELS if key in labels}
    return names | {owners[name] for name in names if name in owners}


def owners_of(kubernetes: Kubernetes, namespace: str) -> dict[str, str]:
    """Jobs by the name of what was made for them, which alone their pods bear."""
    made = [(item["metadata"], label) for kind, label in OWNER_LABELS.items() for item in kubernetes.list(kind) or ()]
    return {
        metadata["name"]: labels[label]
        for metadata, label in made
        if metadata["namespace"] == namespace and label in (labels := metadata.get("labels", {}))
    }
