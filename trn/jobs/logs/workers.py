"""The containers of a job with the last lines of their logs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from facts.document import Document
from training.metrics_line import Event, parse
from trn.kubernetes.client import Kubernetes
from trn.kubernetes.job_pods import pods_of

HEAD_BYTES = 1 << 17
"""Of a log, whose first lines are the entry script's: what the start before said is one of them."""


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


def workers(kubernetes: Kubernetes, job: str, namespace: str, tail: int, *, previous: bool = False) -> Iterator[Worker]:
    """Every container of a job, in the order of the pods' names, ten after two. `previous`: with the lines of the start before."""
    pods = pods_of(kubernetes, namespace, job)
    for pod in sorted(pods, key=lambda pod: (len(pod["metadata"]["name"]), pod["metadata"]["name"])):
        name, node = pod["metadata"]["name"], pod["spec"].get("nodeName", "no node")
        seen = pod.get("status", {}).get("containerStatuses", ())
        statuses, restarts = {each["name"]: each["state"] for each in seen}, {each["name"]: each.get("restartCount", 0) for each in seen}
        for container in pod["spec"]["containers"]:
            state: dict[str, Any] = statuses.get(container["name"]) or {"waiting": {"reason": pod["status"].get("phase", "")}}
            word, why = next(iter(state.items()))
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/log?container={container['name']}"
            again = restarts.get(container["name"], 0) > 0
            if previous and (again or word != "waiting"):
                text = _previous(kubernetes, path, tail, again=again)
            else:
                # The API server refuses to give the log of a container that has not started.
                text = "" if word == "waiting" else kubernetes.text(f"{path}&tailLines={tail}") or ""
            yield Worker(name, container["name"], node, f"{word} {why.get('reason', '')}".rstrip(), tuple(text.splitlines()))


def _previous(kubernetes: Kubernetes, path: str, tail: int, *, again: bool) -> str:
    """The last lines of the start before: kubelet's where it started the container `again`, else those that the entry script kept and says first."""
    if again:
        return kubernetes.text(f"{path}&previous=true&tailLines={tail}") or ""
    for line in (kubernetes.text(f"{path}&limitBytes={HEAD_BYTES}") or "").splitlines():
        said = parse(line)
        if isinstance(said, Event) and said.event == "previous" and isinstance(lines := said.more.get("lines"), list):
            return "\n".join(map(str, lines[-tail:]))
    return ""
