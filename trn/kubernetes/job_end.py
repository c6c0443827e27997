"""How a job of each kind is stopped so that it can start again, and started: its own `suspend`, or a command to Volcano.

A suspended job keeps its object and all that belongs to it, and its pods get SIGTERM and their grace, in which the entry script saves.
Sources: Kubernetes, Job `spec.suspend`; JobSet, TrainJob and RayJob `spec.suspend`; kubeflow/training-operator and mpi-operator
`spec.runPolicy.suspend`; volcano-sh/volcano pkg/cli/job/suspend.go and resume.go.
"""

from collections.abc import Mapping
from typing import Any

from addons import volcano
from facts.kubernetes_kinds import Resource
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.jobs.job import FoundJob

STOPPED_BY_ROLL = "trn/stopped-by-roll"
"""Annotation of a job that a roll stopped: the group's name. It is written before the job stops, so that a second run starts it again."""
_SUSPEND: Mapping[str, tuple[str, ...]] = {
    "jobs.batch": ("suspend",),
    "jobsets.jobset.x-k8s.io": ("suspend",),
    "trainjobs.trainer.kubeflow.org": ("suspend",),
    "rayjobs.ray.io": ("suspend",),
    "pytorchjobs.kubeflow.org": ("runPolicy", "suspend"),
    "tfjobs.kubeflow.org": ("runPolicy", "suspend"),
    "mpijobs.kubeflow.org": ("runPolicy", "suspend"),
}
"""Where below `spec` a kind keeps its switch."""
_QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""Kueue holds the switch of jobs that it admits (Kueue, run jobs)."""


def why_not(job: FoundJob) -> str:
    """Why a job cannot be stopped and started here; empty where it can."""
    if job.owner:
        return f"{job.reference} belongs to {job.owner}, which would start it again"
    if (job.item["metadata"].get("labels") or {}).get(_QUEUE_LABEL):
        return f"{job.reference} is admitted by Kueue, which would start it again"
    if not can_stop(job.kind.resource):
        return f"{job.reference} is of a kind that has no switch to stop it"
    return ""


def can_stop(resource: Resource) -> bool:
    """Whether jobs of a kind have a switch."""
    return resource == volcano.JOBS or resource.qualified in _SUSPEND


def is_tied(job: FoundJob, group_label: str) -> bool:
    """Whether its pods may be on one group only."""
    return group_label in (job.pod_spec.get("nodeSelector") or {})


def stop(kubernetes: Kubernetes, job: FoundJob, group: str) -> None:
    """Ask a job to save and stop, and remember that it was asked. Raises CommandError for what the server refuses."""
    mark = _marked(job.item, group)
    if job.kind.resource == volcano.JOBS:
        kubernetes.patch(job.kind.resource, job.name, job.namespace, {**mark, "spec": {}})
        kubernetes.create(volcano.COMMANDS, job.namespace, job_command(job.item, "AbortJob"))
    else:
        kubernetes.patch(job.kind.resource, job.name, job.namespace, {**mark, "spec": _switched(job.kind.resource, to=True)})


def start(kubernetes: Kubernetes, resource: Resource, item: Object) -> None:
    """Start a job that was stopped here, and forget that it was. Raises CommandError for what the server refuses."""
    name, namespace = item["metadata"]["name"], item["metadata"].get("namespace", "")
    mark = _marked(item, None)
    if resource == volcano.JOBS:
        kubernetes.create(volcano.COMMANDS, namespace, job_command(item, "ResumeJob"))
        kubernetes.patch(resource, name, namespace, {**mark, "spec": {}})
    else:
        kubernetes.patch(resource, name, namespace, {**mark, "spec": _switched(resource, to=False)})


def _marked(item: Object, group: str | None) -> dict[str, Any]:
    # An object's uid cannot be changed: the server refuses a patch with another one.
    return {"metadata": {"uid": item["metadata"]["uid"], "annotations": {STOPPED_BY_ROLL: group}}}


def stopped_for(item: Object) -> str:
    """The group for whose roll a job was stopped; empty for none."""
    return str((item["metadata"].get("annotations") or {}).get(STOPPED_BY_ROLL) or "")


def _switched(resource: Resource, *, to: bool) -> dict[str, Any]:
    body: Any = to
    for key in reversed(_SUSPEND[resource.qualified]):
        body = {key: body}
    return body


def job_command(job: Object, action: str) -> dict[str, Any]:
    """What `vcctl job suspend` and `resume` make (volcano-sh/volcano pkg/cli/job)."""
    metadata = job["metadata"]
    name, namespace = metadata["name"], metadata.get("namespace", "")
    reference = {
        "apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": name, "uid": metadata.get("uid", ""), "controller": True,
        "blockOwnerDeletion": True,
    }  # fmt: skip
    return {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "metadata": {"generateName": f"{name}-{action.lower()}-", "namespace": namespace, "ownerReferences": [reference]},
        "action": action,
        "target": reference,
    }
