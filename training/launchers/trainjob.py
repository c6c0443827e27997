"""TrainJob of Kubeflow Trainer 2.3: it makes a JobSet from a runtime, which here is the job's own, since a TrainJob cannot say all of a pod.

Source: kubeflow/trainer v2.3.0 pkg/apis/trainer/v1alpha1, pkg/runtime/framework/plugins.
"""

from typing import Any

from facts.kubernetes_kinds import Resource
from facts.names import VOLCANO_SCHEDULER
from facts.toolchains import Start
from training.duration import seconds
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.jobset import failure_policy, workers
from training.launchers.parts import metadata, network_topology, own_objects, pod_template
from training.phase import Phase, by_condition
from training.plan import Plan, plan
from training.pod import Object
from training.runtimes import ANCESTOR, CONTAINER
from training.site import Site

API_VERSION = "trainer.kubeflow.org/v1alpha1"
_QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"
_POLICIES: dict[Start, str] = {"torchrun": "torch", "jax": "jax"}
"""Plug-in of Trainer's by how the workers find each other; it sets PET_ or JAX_ variables."""
STATES = {"Complete": Phase.SUCCEEDED, "Failed": Phase.FAILED, "Suspended": Phase.STOPPED}


def runtime_name(job: str) -> str:
    """Name of the TrainingRuntime of a job."""
    return f"{job}-runtime"


def render(job: Job, site: Site) -> list[Object]:
    """The files, the job's TrainingRuntime, and the TrainJob. Trainer makes the gang."""
    found = plan(job, site)
    runtime = {
        "apiVersion": API_VERSION,
        "kind": "TrainingRuntime",
        "metadata": metadata(found, runtime_name(job.name)),
        "spec": _runtime(found),
    }
    trainer: Object = {"numNodes": job.nodes}
    if found.start == "torchrun":
        # Trainer counts CPUs where nothing is said, since of devices it knows GPUs only.
        trainer["numProcPerNode"] = found.workers_per_node
    spec: Object = {
        "runtimeRef": {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": runtime_name(job.name)},
        "trainer": trainer,
    }
    if job.time_limit is not None:
        spec["activeDeadlineSeconds"] = seconds(job.time_limit)
    about = metadata(found)
    if site.gang and found.queue is not None:
        about["annotations"] = {_QUEUE_ANNOTATION: found.queue}
    return [*own_objects(found), runtime, {"apiVersion": API_VERSION, "kind": "TrainJob", "metadata": about, "spec": spec}]


def _runtime(plan: Plan) -> Object:
    """`spec` of the TrainingRuntime: what the JobSet launcher makes, in Trainer's words."""
    template = pod_template(plan, container=CONTAINER, gang=False)
    if plan.site.gang:
        # Trainer marks the pods with their group, and leaves their scheduler as it is.
        template["spec"]["schedulerName"] = VOLCANO_SCHEDULER
    policy: Object = {"numNodes": plan.job.nodes}
    if plan.start in _POLICIES:
        policy[_POLICIES[plan.start]] = {}
    child = workers(plan, template)
    # Both are Trainer's, by the TrainJob.
    del child["completions"], child["parallelism"]
    spec: Object = {"mlPolicy": policy}
    if plan.site.gang:
        topology = network_topology(plan)
        spec["podGroupPolicy"] = {"volcano": {"networkTopology": topology} if topology else {}}
    spec["template"] = {
        "spec": {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "failurePolicy": failure_policy(plan.job),
            "replicatedJobs": [{"name": CONTAINER, "replicas": 1, "template": {"metadata": {"labels": dict(ANCESTOR)}, "spec": child}}],
        }
    }
    return spec


def phase(status: Any) -> Phase:
    """State of the job by its conditions, and by whether its one Job has all pods ready."""
    status = status or {}
    over = by_condition(status, STATES)
    if over is not None:
        return over
    return Phase.RUNNING if any(item.get("ready", 0) for item in status.get("jobsStatus") or ()) else Phase.WAITING


LAUNCHER = Launcher(
    name="trainjob",
    title="TrainJob",
    take_it="Kubeflow Trainer is your job API: the living one of Kubeflow's, with restarts of the whole gang",
    lacks=(
        "`ttl`: a TrainJob stays until it is deleted, and its runtime with it",
        "a word for a restart: a job that starts again is `waiting`",
    ),
    restarts=(
        "As a JobSet, which Trainer makes from the job's own runtime: the first pod that fails ends the set's one Job, and the "
        "set makes it again with all its pods, `restarts.max` times (`failurePolicy.maxRestarts`). An evicted pod and a lost "
        "node count as well; exit codes that `restarts.exitCodes` does not name end the job at once (`podFailurePolicy`)."
    ),
    tried=(
        "Run in the tests by Trainer's and JobSet's controllers on fake Trainium nodes whose pods are processes: it trains, "
        "loses a worker and a node, and ends with the same loss as by the others (`tests/kubernetes/test_launchers.py`)."
    ),
    status="`status.conditions`, of which the first of the table that is `True` decides; before that `jobsStatus[].ready`.",
    states=STATES,
    sources=("kubeflow/trainer v2.3.0 pkg/apis/trainer/v1alpha1, pkg/runtime/framework/plugins",),
    render=render,
    phase=phase,
    resource=Resource("TrainJob", f"/apis/{API_VERSION}", "trainjobs"),
    addon="trainer",
)
