"""Volcano Job: all pods of a job start together or none, in a queue; one that fails starts all of them again."""

from typing import Any

from facts.kubernetes_kinds import Resource
from facts.names import VOLCANO_SCHEDULER
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.parts import STAYS, labels, metadata, network_topology, own_objects, ttl_s
from training.phase import Phase
from training.plan import plan
from training.pod import Object, job_pod, pod_spec
from training.site import Site

TASK = "worker"
PLUGINS: dict[str, list[str]] = {"svc": ["--publish-not-ready-addresses"], "env": []}
"""`svc`: names `JOB-worker-N.JOB` that resolve before the pods are ready. `env`: VC_TASK_INDEX, and the hosts of all pods."""
PHASES = {
    "Pending": Phase.WAITING, "Inqueue": Phase.WAITING, "Running": Phase.RUNNING, "Restarting": Phase.RESTARTING,
    "Completing": Phase.STOPPING, "Terminating": Phase.STOPPING, "Aborting": Phase.STOPPING,
    "Completed": Phase.SUCCEEDED, "Terminated": Phase.FAILED, "Failed": Phase.FAILED, "Aborted": Phase.STOPPED,
}  # fmt: skip
"""By `status.state.phase` (volcano-sh/apis batch/v1alpha1, JobPhase)."""


def render(job: Job, site: Site) -> list[Object]:
    """The files, and the Volcano Job."""
    found = plan(job, site)
    spec: Object = {
        "schedulerName": VOLCANO_SCHEDULER,
        "minAvailable": job.nodes,
        # Volcano fails a job at the restart with which the count reaches this (pkg/controllers/job/state/restarting.go).
        "maxRetry": job.restarts.max + 1,
        "ttlSecondsAfterFinished": ttl_s(job),
        "plugins": {name: list(arguments) for name, arguments in PLUGINS.items()},
        "policies": _policies(job),
        "tasks": [
            {
                "name": TASK,
                "replicas": job.nodes,
                "policies": [{"event": "TaskCompleted", "action": "CompleteJob"}],
                "template": {"metadata": {"labels": labels(found), "annotations": dict(STAYS)}, "spec": pod_spec(job_pod(found))},
            }
        ],
    }
    if found.queue is not None:
        spec["queue"] = found.queue
    if job.priority is not None:
        spec["priorityClassName"] = job.priority
    if topology := network_topology(found):
        spec["networkTopology"] = topology
    return [*own_objects(found), {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata(found), "spec": spec}]


def _policies(job: Job) -> list[Object]:
    """The first policy that holds for a pod decides. A lost node is an evicted pod."""
    restart = "RestartJob"
    if not job.restart_codes:
        return [{"events": ["PodEvicted", "PodFailed"], "action": restart}]
    return [
        {"event": "PodEvicted", "action": restart},
        *({"exitCode": code, "action": restart} for code in job.restart_codes),
        {"event": "PodFailed", "action": "TerminateJob"},
    ]


def phase(status: Any) -> Phase:
    """State of the job; one without a status was not looked at yet."""
    return PHASES.get(((status or {}).get("state") or {}).get("phase", ""), Phase.WAITING)


LAUNCHER = Launcher(
    name="volcano",
    title="Volcano Job",
    take_it="the default: gangs, queues, restarts of the whole gang, and placement on one network",
    lacks=("a time limit of all starts together: `timeLimit` holds for each start",),
    restarts=(
        "Volcano's own policies: a pod that fails or is evicted stops all pods of the job, and they start together again, "
        "`restarts.max` times. `maxRetry` is one more, since Volcano fails a job at the restart with which its count reaches "
        "it. With `restarts.exitCodes` any other exit code ends the job at once."
    ),
    tried=(
        "Run in the tests by Volcano itself on fake Trainium nodes whose pods are processes: it trains, loses a worker and a "
        "node, and ends with the same loss as by the others (`tests/kubernetes/test_launchers.py`)."
    ),
    status="`status.state.phase`.",
    states=PHASES,
    sources=(
        "volcano-sh/apis batch/v1alpha1 (JobPhase, LifecyclePolicy)",
        "volcano-sh/volcano pkg/controllers/job/state/restarting.go, pkg/controllers/job/plugins (svc, env)",
    ),
    render=render,
    phase=phase,
    resource=Resource("Volcano Job", "/apis/batch.volcano.sh/v1alpha1", "jobs"),
    addon="volcano",
)
