"""Parts that are logs: of the controllers, and of the pods that failed last."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trn.kubernetes.client import Object
from trn.kubernetes.kinds import SYSTEM
from trn.running.bundle.part import Absent, Part
from trn.running.bundle.subject import Subject

TAIL, PER_CONTROLLER, CONTROLLERS, FAILED = 300, 2, 60, 10
"""Lines of one log, pods of one controller, pods of all of them, and failed pods."""
_UNWELL = ("CrashLoopBackOff", "Error", "OOMKilled", "ContainerCannotRun", "DeadlineExceeded", "StartError")


def chosen(subject: Subject, parts: list[Part]) -> Part:
    """The part that chooses the logs, once the pods are known, and adds one part for each container: the failed pods first."""
    return Part("logs/chosen.txt", "pods whose logs are wanted", "the cluster", "the pods above", lambda: _choose(subject, parts))


def _choose(subject: Subject, parts: list[Part]) -> str:
    lines = list[str]()
    for folder, what, pods in (
        ("failed", "a pod that failed", failed(subject.pods)),
        ("controllers", "a controller", controllers(subject.pods)),
    ):
        for pod in pods:
            parts += _of_pod(subject, pod, folder, what)
            lines.append(f"{folder} {pod['metadata'].get('namespace')}/{pod['metadata']['name']}\n")
    if not lines:
        raise Absent("no pod failed, and no controller is known")
    return "".join(lines)


def failed(pods: Iterable[Object]) -> list[Object]:
    """Pods of which a container failed, the last failure first, outside the add-ons' own namespaces."""
    found = [(when, pod) for pod in pods if pod["metadata"].get("namespace") not in SYSTEM and (when := failed_at(pod)) is not None]
    return [pod for _, pod in sorted(found, key=lambda pair: (pair[0], pair[1]["metadata"]["name"]), reverse=True)][:FAILED]


def failed_at(pod: Object) -> str | None:
    """When a container of a pod failed last, empty where it is not known; None where none did."""
    ends = [end for status in _statuses(pod) for end in _ends(status) if end.get("exitCode") or end.get("reason") in _UNWELL]
    waits = [status for status in _statuses(pod) if (status.get("state") or {}).get("waiting", {}).get("reason") in _UNWELL]
    if ends or waits or pod.get("status", {}).get("phase") == "Failed":
        return max((str(end.get("finishedAt") or "") for end in ends), default="")
    return None


def controllers(pods: Iterable[Object]) -> list[Object]:
    """Pods of the add-ons and of Kubernetes itself: of each controller a few, those that are not well first."""
    found, counts = list[Object](), dict[tuple[str, str], int]()
    own = [pod for pod in pods if pod["metadata"].get("namespace") in SYSTEM]
    for pod in sorted(own, key=lambda pod: (_is_well(pod), pod["metadata"]["namespace"], pod["metadata"]["name"])):
        key = pod["metadata"]["namespace"], _owner(pod)
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= PER_CONTROLLER:
            found.append(pod)
    return found[:CONTROLLERS]


def _is_well(pod: Object) -> bool:
    return failed_at(pod) is None and pod.get("status", {}).get("phase") in ("Running", "Succeeded")


def _owner(pod: Object) -> str:
    """What made a pod; a ReplicaSet without the hash that tells it from the one before."""
    owner = next(iter(pod["metadata"].get("ownerReferences") or ()), None)
    name = str(owner["name"]) if owner else str(pod["metadata"]["name"])
    return re.sub(r"-[0-9a-z]{6,10}$", "", name) if owner and owner.get("kind") == "ReplicaSet" else name


def _of_pod(subject: Subject, pod: Object, folder: str, what: str) -> Iterator[Part]:
    namespace, name = pod["metadata"].get("namespace") or "default", pod["metadata"]["name"]
    containers = (pod.get("spec") or {}).get("initContainers") or [], (pod.get("spec") or {}).get("containers") or []
    by_name = {status["name"]: status for status in _statuses(pod)}
    for container in (each["name"] for group in containers for each in group if "name" in each):
        status = by_name.get(container, {})
        runs = [("", False)] + ([(".previous", True)] if status.get("restartCount") else [])
        for ending, is_previous in runs:
            yield Part(
                f"logs/{folder}/{_plain(namespace)}/{_plain(name)}.{_plain(container)}{ending}.log",
                f"last lines of {what}{', before it was started again' if is_previous else ''}", "the cluster",
                f"kubectl -n {namespace} logs {name} -c {container} --tail {TAIL}{' --previous' if is_previous else ''}",
                lambda c=container, s=status, p=is_previous: _log(subject, f"/api/v1/namespaces/{namespace}/pods/{name}", c, s, p),
            )  # fmt: skip


def _log(subject: Subject, path: str, container: str, status: Mapping[str, Any], is_previous: bool) -> str:
    waiting = (status.get("state") or {}).get("waiting")
    # The API server refuses to give the log of a container that has not started.
    if waiting is not None and not is_previous and not status.get("restartCount"):
        raise Absent(f"the container has not started: {waiting.get('reason', 'waiting')}")
    text = subject.kubernetes.text(f"{path}/log?container={container}&tailLines={TAIL}{'&previous=true' if is_previous else ''}")
    if not text:
        raise Absent("the log is empty, or is kept no longer")
    return text


def _statuses(pod: Object) -> list[Mapping[str, Any]]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _ends(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("state", "lastState"):
        if ended := (status.get(key) or {}).get("terminated"):
            yield ended


def _plain(name: str) -> str:
    """A name as part of a file's: no path leads out of the archive."""
    return re.sub(r"[^\w.-]", "_", name).strip(".") or "_"
