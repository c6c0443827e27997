"""JobSet: one Indexed Job of all nodes, which is made again as a whole when a pod fails; Volcano places it together where it is."""

from typing import Any

from facts.kubernetes_kinds import Resource
from training.duration import seconds
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.parts import metadata, own_objects, pod_failure_policy, pod_group, pod_template, ttl_s
from training.phase import Phase, by_condition
from training.plan import Plan, plan
from training.pod import Object
from training.site import Site

WORKERS = "workers"
STATES = {"Completed": Phase.SUCCEEDED, "Failed": Phase.FAILED, "Suspended": Phase.STOPPED}


def render(job: Job, site: Site) -> list[Object]:
    """The files, the gang where there is Volcano, and the JobSet."""
    found = plan(job, site)
    child = workers(found, pod_template(found))
    if job.time_limit is not None:
        child["activeDeadlineSeconds"] = seconds(job.time_limit)
    failure = failure_policy(job)
    if job.time_limit is not None:
        rule = {"name": "timeLimit", "action": "FailJobSet", "onJobFailureReasons": ["DeadlineExceeded"]}
        failure["rules"] = [*failure.get("rules", ()), rule]
    spec: Object = {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "failurePolicy": failure,
        "successPolicy": {"operator": "All", "targetReplicatedJobs": [WORKERS]},
        "coordinator": {"replicatedJob": WORKERS, "jobIndex": 0, "podIndex": 0},
        "ttlSecondsAfterFinished": ttl_s(job),
        "replicatedJobs": [{"name": WORKERS, "replicas": 1, "template": {"spec": child}}],
    }
    made = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata(found), "spec": spec}
    return [*own_objects(found), *([pod_group(found)] if site.gang else []), made]


def workers(plan: Plan, template: Object) -> Object:
    """`spec` of the one Job of all nodes. `template`: of its pods."""
    child: Object = {
        "completions": plan.job.nodes,
        "parallelism": plan.job.nodes,
        "completionMode": "Indexed",
        # The first pod that fails ends it: the set then makes all of them again.
        "backoffLimit": 0,
        "template": template,
    }
    if policy := pod_failure_policy(plan.job, ignore_disruptions=False):
        child["podFailurePolicy"] = policy
    return child


def failure_policy(job: Job) -> Object:
    """`failurePolicy` of the set: how often it starts again, and on which exit codes."""
    failure: Object = {"maxRestarts": job.restarts.max}
    if pod_failure_policy(job, ignore_disruptions=False):
        failure["rules"] = [{"name": "exitCode", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}]
    return failure


def phase(status: Any) -> Phase:
    """State of the set by its conditions, and by whether its one Job has all pods ready."""
    status = status or {}
    over = by_condition(status, STATES)
    if over is not None:
        return over
    if any(item.get("ready", 0) for item in status.get("replicatedJobsStatus") or ()):
        return Phase.RUNNING
    return Phase.RESTARTING if status.get("restarts", 0) else Phase.WAITING


LAUNCHER = Launcher(
    name="jobset",
    title="JobSet",
    take_it="plain Kubernetes is wanted, with restarts of the whole gang; it is what Kubeflow Trainer stands on",
    lacks=(
        "without Volcano: a gang, so that half of the nodes can wait for the other half and bill",
        "a time limit of all starts together: `timeLimit` holds for each start, and ends the job",
    ),
    restarts=(
        "The first pod that fails ends the set's one Job, and the set makes it again with all its pods, `restarts.max` times "
        "(`failurePolicy.maxRestarts`). An evicted pod and a lost node count as well; exit codes that `restarts.exitCodes` does "
        "not name end the job at once (`podFailurePolicy`)."
    ),
    tried=(
        "Run in the tests by JobSet's controller on fake Trainium nodes whose pods are processes: it trains, loses a worker and "
        "a node, and ends with the same loss as by the others (`tests/kubernetes/test_launchers.py`)."
    ),
    status="`status.conditions`, of which the first of the table that is `True` decides; before that `replicatedJobsStatus[].ready` and `restarts`.",
    states=STATES,
    sources=("kubernetes-sigs/jobset api/jobset/v1alpha2 (FailurePolicy, SuccessPolicy, Coordinator)",),
    render=render,
    phase=phase,
    resource=Resource("JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    addon="trainer",
)
