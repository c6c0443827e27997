"""Indexed Job: what every cluster has. Pods that fail are made again one by one; Volcano places them together where it is."""

from typing import Any

from facts.kubernetes_kinds import Resource
from training.duration import seconds
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.parts import headless_service, labels, metadata, own_objects, pod_failure_policy, pod_group, pod_template, ttl_s
from training.phase import Phase, by_condition
from training.plan import plan
from training.pod import Object
from training.site import Site

JOB_NAME_LABEL = "batch.kubernetes.io/job-name"
STATES = {
    "Complete": Phase.SUCCEEDED, "Failed": Phase.FAILED, "Suspended": Phase.STOPPED,
    "FailureTarget": Phase.STOPPING, "SuccessCriteriaMet": Phase.STOPPING,
}  # fmt: skip


def render(job: Job, site: Site) -> list[Object]:
    """The files, the names of the pods, the gang where there is Volcano, and the Job."""
    found = plan(job, site)
    spec: Object = {
        "completions": job.nodes,
        "parallelism": job.nodes,
        "completionMode": "Indexed",
        # A worker that loses another one ends as well: a start of the job that fails is a failure of each of its pods.
        "backoffLimit": job.restarts.max * job.nodes,
        "ttlSecondsAfterFinished": ttl_s(job),
        "template": pod_template(found, subdomain=job.name),
    }
    if job.time_limit is not None:
        spec["activeDeadlineSeconds"] = seconds(job.time_limit)
    if policy := pod_failure_policy(job, ignore_disruptions=True):
        spec["podFailurePolicy"] = policy
    return [
        *own_objects(found),
        headless_service(found, {JOB_NAME_LABEL: job.name}),
        *([pod_group(found)] if site.gang else []),
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {**metadata(found), "labels": labels(found)}, "spec": spec},
    ]


def phase(status: Any) -> Phase:
    """State of the job by its conditions, and by how many of its pods are ready."""
    status = status or {}
    over = by_condition(status, STATES)
    if over is not None:
        return over
    active, ready = status.get("active", 0), status.get("ready", 0)
    if active and ready == active:
        return Phase.RUNNING
    return Phase.RESTARTING if status.get("failed", 0) else Phase.WAITING


LAUNCHER = Launcher(
    name="indexed-job",
    title="Indexed Job",
    take_it="nothing but Kubernetes is installed, or a job of one node is to be tried",
    lacks=(
        "restarts of the whole gang: pods that fail are made again, and the others must notice and fail too",
        "without Volcano: a gang, so that half of the nodes can wait for the other half and bill",
        "a lost node counts as no restart",
    ),
    restarts=(
        "Kubernetes makes each failed pod again by itself, `restarts.max` times the number of nodes in all (`backoffLimit`): a "
        "worker that loses another one ends too, so one start that fails is a failure of each pod. Evicted pods and those of a "
        "lost node are made again and not counted."
    ),
    tried=(
        "Run in the tests by Kubernetes' own Job controller on fake Trainium nodes whose pods are processes: it trains, loses a "
        "worker and a node, and ends with the same loss as by the others (`tests/kubernetes/test_launchers.py`)."
    ),
    status="`status.conditions`, of which the first of the table that is `True` decides; before that whether all active pods are ready (`active`, `ready`, `failed`).",
    states=STATES,
    sources=("Kubernetes 1.35, batch/v1 Job: backoffLimit, podFailurePolicy, completionMode Indexed",),
    render=render,
    phase=phase,
    resource=Resource("Job", "/apis/batch/v1", "jobs"),
)
