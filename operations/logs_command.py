"""`trn logs`: the last lines of every worker of a job, worker by worker."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.aws.api import BotoApi
from operations.drain.command import cluster_of
from operations.drain.kinds import KINDS, RAY_CLUSTERS
from operations.errors import MISUSE, CommandError
from operations.kube.api import Kubernetes, Object, Resource
from operations.output import results, write_json
from operations.rehearse import settings_of
from operations.stack_file import read_stack_file

PODS = Resource("Pod", "/api/v1", "pods")
JOB_LABELS = tuple(dict.fromkeys(kind.pod_label for kind in KINDS if kind.pod_label))
"""Labels of pods that hold the name of their job, of whatever kind."""
RAY_OWNER_LABEL = "ray.io/originated-from-cr-name"
"""Label of a RayCluster that holds the name of the RayJob or RayService it was made for (ray-project/kuberay utils/constant.go)."""


@dataclass(frozen=True)
class LogsOptions:
    """What the command line said."""

    job: str
    stack: str
    namespace: str | None
    tail: int
    json_file: Path | None


@dataclass(frozen=True)
class Worker:
    """What one container of a job said."""

    pod: str
    container: str
    node: str
    state: str
    """`running`, `waiting` or `terminated`, with the reason where there is one."""
    lines: tuple[str, ...]


def run(options: LogsOptions) -> int:
    """Print the last lines, each after the name of its pod."""
    settings = settings_of(read_stack_file(options.stack))
    namespace = options.namespace or settings.training.namespace
    kubernetes = cluster_of(BotoApi(settings.region), settings.name)
    found = list(workers(kubernetes, options.job, namespace, options.tail))
    if not found:
        raise CommandError(f"there are no pods of a job `{options.job}` in {namespace}", _hint(kubernetes, namespace), code=MISUSE)
    write_json(found, options.json_file)
    console = results(options.json_file)
    for worker in found:
        console.print(f"{worker.pod} {worker.container} on {worker.node}: {worker.state}", style="bold", markup=False, soft_wrap=True)
        for line in worker.lines:
            console.print(f"{worker.pod} | {line}", markup=False, soft_wrap=True)
    return 0


def workers(kubernetes: Kubernetes, job: str, namespace: str, tail: int) -> Iterator[Worker]:
    """Every container of a job, in the order of the pods' names, ten after two."""
    owners = _ray_owners(kubernetes, namespace)
    pods = [pod for pod in _pods(kubernetes, namespace) if job in _jobs(pod, owners)]
    for pod in sorted(pods, key=lambda pod: (len(pod["metadata"]["name"]), pod["metadata"]["name"])):
        name, node = pod["metadata"]["name"], pod["spec"].get("nodeName", "no node")
        statuses = {status["name"]: status["state"] for status in pod.get("status", {}).get("containerStatuses", ())}
        for container in pod["spec"]["containers"]:
            state: dict[str, Any] = statuses.get(container["name"]) or {"waiting": {"reason": pod["status"].get("phase", "")}}
            word, why = next(iter(state.items()))
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/log?container={container['name']}&tailLines={tail}"
            # The API server refuses to give the log of a container that has not started.
            text = "" if word == "waiting" else kubernetes.text(path) or ""
            yield Worker(name, container["name"], node, f"{word} {why.get('reason', '')}".rstrip(), tuple(text.splitlines()))


def _pods(kubernetes: Kubernetes, namespace: str) -> list[Object]:
    return [pod for pod in kubernetes.list(PODS) or () if pod["metadata"]["namespace"] == namespace]


def _jobs(pod: Object, ray_owners: Mapping[str, str]) -> set[str]:
    """Names of all jobs that a pod is part of: a TrainJob's is its JobSet's too, and that of a Kubernetes Job."""
    labels = pod["metadata"].get("labels", {})
    names = {labels[key] for key in JOB_LABELS if key in labels}
    return names | {ray_owners[name] for name in names if name in ray_owners}


def _ray_owners(kubernetes: Kubernetes, namespace: str) -> dict[str, str]:
    """RayJobs and RayServices by the name of their RayCluster, which alone their pods bear."""
    clusters = [item["metadata"] for item in kubernetes.list(RAY_CLUSTERS) or () if item["metadata"]["namespace"] == namespace]
    return {cluster["name"]: labels[RAY_OWNER_LABEL] for cluster in clusters if RAY_OWNER_LABEL in (labels := cluster.get("labels", {}))}


def _hint(kubernetes: Kubernetes, namespace: str) -> str:
    owners = _ray_owners(kubernetes, namespace)
    known = sorted({job for pod in _pods(kubernetes, namespace) for job in _jobs(pod, owners)})
    return f"jobs with pods there: {', '.join(known) or 'none'}; --namespace looks elsewhere"
