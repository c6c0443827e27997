"""Which pods belong to a job, of any kind: by the labels that its controller gives them."""

from collections.abc import Mapping

from operations.cluster.drain.kinds import KINDS, RAY_CLUSTERS
from operations.kube.api import Kubernetes, Object, Resource

PODS = Resource("Pod", "/api/v1", "pods")
JOB_LABELS = tuple(dict.fromkeys(kind.pod_label for kind in KINDS if kind.pod_label))
"""Labels of pods that hold the name of their job."""
RAY_OWNER_LABEL = "ray.io/originated-from-cr-name"
"""Label of a RayCluster that holds the name of the RayJob or RayService it was made for (ray-project/kuberay utils/constant.go)."""


def pods_of(kubernetes: Kubernetes, namespace: str, job: str) -> list[Object]:
    """Pods of one job."""
    return [pod for pod, jobs in _pods_with_jobs(kubernetes, namespace) if job in jobs]


def known_jobs(kubernetes: Kubernetes, namespace: str) -> str:
    """The hint for a job that is not there."""
    known = sorted({job for _, jobs in _pods_with_jobs(kubernetes, namespace) for job in jobs})
    return f"jobs with pods there: {', '.join(known) or 'none'}; --namespace looks elsewhere"


def _pods_with_jobs(kubernetes: Kubernetes, namespace: str) -> list[tuple[Object, set[str]]]:
    owners = _ray_owners(kubernetes, namespace)
    pods = [pod for pod in kubernetes.list(PODS) or () if pod["metadata"]["namespace"] == namespace]
    return [(pod, _jobs(pod, owners)) for pod in pods]


def _jobs(pod: Object, ray_owners: Mapping[str, str]) -> set[str]:
    """Names of all jobs that a pod is part of: a TrainJob's is its JobSet's too, and that of a Kubernetes Job."""
    labels = pod["metadata"].get("labels", {})
    names = {labels[key] for key in JOB_LABELS if key in labels}
    return names | {ray_owners[name] for name in names if name in ray_owners}


def _ray_owners(kubernetes: Kubernetes, namespace: str) -> dict[str, str]:
    """RayJobs and RayServices by the name of their RayCluster, which alone their pods bear."""
    clusters = [item["metadata"] for item in kubernetes.list(RAY_CLUSTERS) or () if item["metadata"]["namespace"] == namespace]
    return {cluster["name"]: labels[RAY_OWNER_LABEL] for cluster in clusters if RAY_OWNER_LABEL in (labels := cluster.get("labels", {}))}
