"""A job on two trn1.32xlarge nodes as Kubernetes shows it, rendered as `trn submit` does, for tests to put something wrong into it."""

from typing import Any

from addons import volcano
from tests.training.sites import SITE, job
from training.launchers import launcher
from training.launchers.parts import GROUP_ANNOTATION
from training.site import Site
from trn.kubernetes.client import Object
from trn.kubernetes.jobs.job import FoundJob, in_order
from trn.kubernetes.kinds import KINDS
from trn.kubernetes.situation import Situation

ALLOCATABLE = {"cpu": "127610m", "memory": "500Gi", "aws.amazon.com/neuron": "16", "vpc.amazonaws.com/efa": "8"}
TAINT = {"key": "aws.amazon.com/neuron", "value": "true", "effect": "NoSchedule"}
VOLCANO = next(kind for kind in KINDS if kind.resource == volcano.JOBS)


def node(number: int, **changes: Any) -> Object:
    """One Trainium node of the group; `allocatable`, `taints`, `ready`, `labels`, `unschedulable` may differ."""
    labels = changes.get("labels", {"trn/node-group": "trn1-32xl"})
    spec = {"taints": changes.get("taints", [TAINT]), "unschedulable": changes.get("unschedulable", False)}
    condition = {"type": "Ready", "status": "True" if changes.get("ready", True) else "Unknown"}
    status = {"allocatable": changes.get("allocatable", ALLOCATABLE), "conditions": [condition]}
    return {"metadata": {"name": f"node-{number}", "labels": labels}, "spec": spec, "status": status}


def item(on: Site = SITE, name: str = "volcano", phase: str = "Pending", **keys: Any) -> Object:
    """The object of a job, as a launcher renders it, with an id and the state that Volcano gives it."""
    made = launcher(name).render(job(**keys), on)[-1]
    made["metadata"] |= {"uid": "uid-bert", "creationTimestamp": "2026-11-22T10:00:00Z"}
    if name == "volcano":
        made["status"] = {"state": {"phase": phase}}
    return made


def pod(of: Object, number: int, *, message: str = "", at: str = "", status: dict[str, Any] | None = None) -> Object:
    """A pod of a Volcano Job. `message`: the scheduler's words for no place; `at`: its node; `status`: of its container."""
    template = of["spec"]["tasks"][0]["template"]
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    shown: dict[str, Any] = {"phase": "Pending"} | ({"conditions": [condition]} if message else {})
    if status is not None:
        shown["containerStatuses"] = [{"name": "work", "image": "registry.example/bert:1", **status}]
        shown["phase"] = "Failed" if "terminated" in status.get("state", {}) else "Pending"
    labels = {**template["metadata"]["labels"], "volcano.sh/job-name": "bert"}
    metadata = {
        "name": f"bert-worker-{number}", "namespace": "training", "labels": labels, "annotations": {GROUP_ANNOTATION: "bert-uid-bert"},
    }  # fmt: skip
    return {"metadata": metadata, "spec": {**template["spec"], **({"nodeName": at} if at else {})}, "status": shown}


def pod_group(phase: str = "Pending", message: str = "", queue: str = "training") -> Object:
    """What Volcano makes for the job. `message`: of its condition Unschedulable."""
    condition = {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": message}
    owner = {"kind": "Job", "name": "bert", "uid": "uid-bert"}
    metadata = {"name": "bert-uid-bert", "namespace": "training", "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"queue": queue}, "status": {"phase": phase, "conditions": [condition] if message else []}}


def event(reason: str, message: str, about: str = "bert", at: str = "2026-11-22T10:01:00Z") -> Object:
    """One event."""
    return {"reason": reason, "message": message, "involvedObject": {"name": about}, "lastTimestamp": at}


def situation(of: Object | None = None, pods: tuple[Object, ...] = (), **changes: Any) -> Situation:
    """The job on a cluster where nothing is wrong, but for the changes."""
    well: dict[str, Any] = {
        "group": pod_group("Inqueue"),
        "queues": {"training": {"spec": {}, "status": {"state": "Open"}}},
        "nodes": (node(1), node(2), node(3, labels={}, taints=[], allocatable={"cpu": "4", "memory": "14Gi"})),
        "claims": {"fsx-claim": {"status": {"phase": "Bound"}}},
        "site": SITE,
    }
    return Situation(FoundJob(VOLCANO, of or item(), in_order(pods)), **{**well, **changes})
