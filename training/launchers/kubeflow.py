"""What jobs of Kubeflow's operators have in common: policies, conditions, and who makes the gang."""

from collections.abc import Iterator
from typing import Any

from facts.problems import Problem
from training.duration import seconds
from training.job import Job
from training.launchers.parts import minimum_resources, pod_template, ttl_s
from training.phase import Phase, by_condition
from training.plan import Plan
from training.pod import Object


def groups_itself(plan: Plan, addon: str) -> bool:
    """Whether we make the PodGroup of an operator's job: Volcano is there, and the operator was not set up to make one."""
    return plan.site.gang and addon not in plan.site.own_gangs


def scheduling_policy(plan: Plan) -> Object:
    """`runPolicy.schedulingPolicy` of Kubeflow's operators, from which they make a PodGroup; empty where they make none."""
    if not plan.site.gang:
        return {}
    policy: Object = {"minAvailable": plan.job.nodes}
    if minimum := minimum_resources(plan):
        policy["minResources"] = minimum
    if plan.queue is not None:
        policy["queue"] = plan.queue
    if plan.job.priority is not None:
        policy["priorityClass"] = plan.job.priority
    return policy


CONDITIONS = {
    "Succeeded": Phase.SUCCEEDED,
    "Failed": Phase.FAILED,
    "Suspended": Phase.STOPPED,
    "Restarting": Phase.RESTARTING,
    "Running": Phase.RUNNING,
}
"""By type, the one that decides first (kubeflow/training-operator and kubeflow/mpi-operator, JobConditionType)."""


def kubeflow_phase(status: Any) -> Phase:
    """State of a job of the training operator or the MPI operator, by its conditions."""
    return by_condition(status or {}, CONDITIONS) or Phase.WAITING


def no_exit_codes(job: Job, title: str) -> Iterator[Problem]:
    """For what cannot end a job by the exit code of a pod."""
    if job.restarts.exit_codes:
        hint = "leave `restarts.exitCodes` out, or take volcano, jobset, trainjob or indexed-job"
        yield Problem(
            "restarts.exitCodes", list(job.restarts.exit_codes), f"a {title} tries every failure again, whatever the exit code", hint=hint
        )


def run_policy(plan: Plan) -> Object:
    """`runPolicy` of the training operator.

    It adds up the restarts of all containers, and ends a job when the sum reaches the limit; a restart of the gang restarts each of
    them (kubeflow/training-operator v1.9 pkg/core/job.go, PastBackoffLimit).
    """
    job = plan.job
    policy: Object = {
        "cleanPodPolicy": "Running",
        "backoffLimit": job.restarts.max * job.nodes + 1 if job.restarts.max else 0,
        "ttlSecondsAfterFinished": ttl_s(job),
    }
    if job.time_limit is not None:
        policy["activeDeadlineSeconds"] = seconds(job.time_limit)
    if scheduling := scheduling_policy(plan):
        policy["schedulingPolicy"] = scheduling
    return policy


def operator_template(plan: Plan, *, container: str, gang: bool) -> Object:
    """`restartPolicy` and `template` of one role of the training operator's jobs.

    The role's policy replaces the pod's (pkg/controller.v1/common/pod.go, setRestartPolicy), so the pod says none.
    """
    template = pod_template(plan, container=container, gang=gang)
    del template["spec"]["restartPolicy"]
    return {"restartPolicy": "OnFailure" if plan.job.restarts.max else "Never", "template": template}
