"""The containers of a job with the last lines of their logs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from facts.document import Document
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.job_pods import pods_of


@dataclass(frozen=True)
class Worker:
    """What one container of a job said."""

    pod: str
    container: str
    node: str
    state: str
    """`running`, `waiting` or `terminated`, with the reason where there is one."""
    lines: tuple[str, ...]


class LogsReport(Document, frozen=True):
    """What `trn logs` shows."""

    schema_: Literal["trn-logs"] = "trn-logs"
    containers: tuple[Worker, ...]


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
