"""Parts of the cluster: status, events, and the objects of nodes, queues, jobs and pods. Kinds that hold secrets are never read."""

from collections.abc import Iterator, Sequence
from typing import Any

from facts.kubernetes_kinds import DrainStage, Resource
from facts.typed import typed
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import EVENTS, POD_GROUPS
from trn.kubernetes.kinds import CLAIMS, KINDS, NODES
from trn.running.bundle.account import lines
from trn.running.bundle.part import Absent, Part
from trn.running.bundle.subject import Subject
from trn.running.status.checks import CHECKS, findings_of
from trn.running.subject import Subject as StatusSubject

OBJECT_COUNT, EVENT_COUNT = 300, 1000
_STAGES = (DrainStage.QUEUES, DrainStage.WORKERS, DrainStage.NODES)
OBJECTS: tuple[Resource, ...] = tuple(
    dict.fromkeys(
        (
            NODES, CLAIMS, POD_GROUPS,
            *(kind.resource for kind in KINDS if kind.drained.stage in _STAGES), *(kind.resource for kind in JOB_KINDS),
        )
    )
)  # fmt: skip
"""Kinds of queues and jobs, and what they need to run."""
_OF_AN_EVENT = (
    "type",
    "reason",
    "message",
    "count",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "series",
    "reportingComponent",
    "source",
)


def parts(subject: Subject) -> Iterator[Part]:
    """All but the logs, which follow from the pods."""
    yield Part(
        "cluster/status.txt", f"all that `{typed('trn status')}` looks at", "the cluster", typed("trn status"), lambda: _status(subject)
    )
    yield Part("cluster/pods.json", "pods", "the cluster", "kubectl get pods -A", lambda: _pods(subject))
    yield Part("cluster/events.json", "events, the last one first", "the cluster", "kubectl get events -A", lambda: _events(subject))
    for resource in OBJECTS:
        name = resource.qualified
        yield Part(
            f"cluster/objects/{name}.json", f"objects of the kind {resource.kind}", "the cluster", f"kubectl get {name} -A",
            lambda resource=resource: _objects(subject, resource),
        )  # fmt: skip


def _status(subject: Subject) -> str:
    asked = StatusSubject(subject.settings, subject.api, subject.kubernetes)
    return lines(finding for name in CHECKS for finding in findings_of(asked, name))


def _pods(subject: Subject) -> dict[str, Any]:
    subject.pods = tuple(subject.kubernetes.list(PODS) or ())
    unwell_first = sorted(subject.pods, key=lambda pod: (pod.get("status", {}).get("phase") in ("Running", "Succeeded"), _key(pod)))
    return _counted(unwell_first, OBJECT_COUNT)


def _events(subject: Subject) -> dict[str, Any]:
    found = sorted(subject.kubernetes.list(EVENTS) or (), key=last_time, reverse=True)
    about = [{"about": event.get("involvedObject"), **{key: event[key] for key in _OF_AN_EVENT if event.get(key)}} for event in found]
    return _counted(about, EVENT_COUNT)


def _objects(subject: Subject, resource: Resource) -> dict[str, Any]:
    found = subject.kubernetes.list(resource)
    if found is None:
        raise Absent("the cluster has no such kind: its add-on is off")
    if not found:
        raise Absent("there are none")
    return _counted(sorted(found, key=_key), OBJECT_COUNT)


def _counted(found: Sequence[Object], most: int) -> dict[str, Any]:
    return {"count": len(found), **({"left out": len(found) - most} if len(found) > most else {}), "items": list(found[:most])}


def _key(item: Object) -> tuple[str, str]:
    return item["metadata"].get("namespace") or "", item["metadata"]["name"]


def last_time(event: Object) -> str:
    """When an event was last seen. Those of the newer API have a series, or `eventTime` alone."""
    series = event.get("series") or {}
    return str(event.get("lastTimestamp") or series.get("lastObservedTime") or event.get("eventTime") or "")
