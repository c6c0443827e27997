"""`trn logs`: the last lines of every worker of a job, worker by worker."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.access import access
from operations.errors import MISUSE, CommandError
from operations.kube.api import Kubernetes
from operations.kube.cluster import cluster_of
from operations.kube.job_pods import known_jobs, pods_of
from operations.output import results, write_json
from operations.rehearse.command import settings_of
from operations.stack_file import read_stack_file


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
    kubernetes = cluster_of(access().aws(options.stack, settings.region), settings.name)
    found = list(workers(kubernetes, options.job, namespace, options.tail))
    if not found:
        raise CommandError(f"there are no pods of a job `{options.job}` in {namespace}", known_jobs(kubernetes, namespace), code=MISUSE)
    write_json(found, options.json_file)
    console = results(options.json_file)
    for worker in found:
        console.print(f"{worker.pod} {worker.container} on {worker.node}: {worker.state}", style="bold", markup=False, soft_wrap=True)
        for line in worker.lines:
            console.print(f"{worker.pod} | {line}", markup=False, soft_wrap=True)
    return 0


def workers(kubernetes: Kubernetes, job: str, namespace: str, tail: int) -> Iterator[Worker]:
    """Every container of a job, in the order of the pods' names, ten after two."""
    pods = pods_of(kubernetes, namespace, job)
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
