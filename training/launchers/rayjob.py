"""RayJob: a Ray cluster for the job alone, with NeuronCores as a resource of Ray's; the job's command is the driver, such as of Ray Train.

Source of what KubeRay makes of it: ray-project/kuberay v1.6.2 ray-operator/controllers/ray/common/pod.go and batchscheduler/volcano.
"""

import json
import shlex
from collections.abc import Iterator
from typing import Any

from facts.kubernetes_kinds import Resource
from facts.problems import Problem, missing
from training.duration import seconds
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.kubeflow import groups_itself, no_exit_codes
from training.launchers.parts import companion, metadata, network_topology, own_objects, pod_group, pod_template
from training.phase import Phase
from training.plan import Plan, plan, toolchain_of
from training.pod import Object, job_pod
from training.site import Site

ADDON = "kubeRay"
CORES = "neuron_cores"
"""Ray's name of NeuronCores, by which it also shares them out to its workers (ray-project/ray python/ray/_private/accelerators/neuron.py)."""
WITH_RAY = "training/recipes/ray-train"
"""Folder whose requirements.txt is Ray, with what jobs are submitted to and what trains: `trn image build` puts it on a toolchain's image.
KubeRay starts Ray in every container by itself, its own that wait for the head among them: no later moment would do."""
AUTHENTICATION = "RAY_AUTH_MODE"
"""Of Ray 2.52 and later. KubeRay can give all pods a token, but only of a cluster whose `rayVersion` is set, and the job does not know that version."""
_PHASES = {
    "Initializing": Phase.WAITING, "Waiting": Phase.WAITING, "Running": Phase.RUNNING, "Retrying": Phase.RESTARTING,
    "Suspending": Phase.STOPPING, "Suspended": Phase.STOPPED, "Complete": Phase.SUCCEEDED,
    "Failed": Phase.FAILED, "ValidationFailed": Phase.FAILED,
}  # fmt: skip
"""By `status.jobDeploymentStatus` (apis/ray/v1/rayjob_types.go)."""


def render(job: Job, site: Site) -> list[Object]:
    """The files, the gang of the workers unless KubeRay makes it, and the RayJob."""
    found = plan(job, site)
    own_group = groups_itself(found, ADDON)
    spec: Object = {
        "entrypoint": shlex.join(job_pod(found).command),
        "submissionMode": "K8sJobMode",
        # Each try has a Ray cluster of its own.
        "backoffLimit": job.restarts.max,
        # At once, whatever the job's TTL: until then the workers would hold their nodes.
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {"headGroupSpec": _head(found), "workerGroupSpecs": [_workers(found, gang=own_group)]},
    }
    if job.time_limit is not None:
        spec["activeDeadlineSeconds"] = seconds(job.time_limit)
    about = metadata(found)
    about["labels"] |= {} if own_group or not site.gang else _gang_labels(found)
    made = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": about, "spec": spec}
    return [*own_objects(found), *([pod_group(found)] if own_group else []), made]


def _gang_labels(plan: Plan) -> dict[str, str]:
    """Labels from which KubeRay makes the PodGroup of head and workers."""
    wanted = {"volcano.sh/queue-name": plan.queue, "ray.io/priority-class-name": plan.job.priority}
    if topology := network_topology(plan):
        wanted["volcano.sh/network-topology-mode"] = topology["mode"]
        wanted["volcano.sh/network-topology-highest-tier-allowed"] = str(topology["highestTierAllowed"])
    return {name: value for name, value in wanted.items() if value is not None}


def _head(plan: Plan) -> Object:
    """It runs the driver, and no task: those belong on the workers' nodes."""
    template = companion(plan, (), container="ray-head", cpu="2", memory="8Gi")
    container = _started_by_kuberay(template)
    container["ports"] = [
        {"containerPort": port, "name": name} for name, port in (("gcs-server", 6379), ("dashboard", 8265), ("client", 10001))
    ]
    return {"rayStartParams": {"num-cpus": "0", "dashboard-host": "0.0.0.0"}, "template": template}


def _workers(plan: Plan, *, gang: bool) -> Object:
    template = pod_template(plan, container="ray-worker", gang=gang)
    _started_by_kuberay(template)
    count = plan.job.nodes
    # KubeRay derives cores from aws.amazon.com/neuroncore only, not from whole chips. A word of a shell with JSON in it.
    resources = shlex.quote(json.dumps({CORES: plan.core_count}))
    sizes = {"replicas": count, "minReplicas": count, "maxReplicas": count}
    return {"groupName": "workers", **sizes, "rayStartParams": {"resources": resources}, "template": template}


def _started_by_kuberay(template: Object) -> Object:
    """The pod's container without a command: KubeRay writes `ray start`. Its own policy is to make failed pods again."""
    del template["spec"]["restartPolicy"]
    container: Object = template["spec"]["containers"][0]
    container.pop("command", None)
    if AUTHENTICATION not in {item["name"] for item in container["env"]}:
        container["env"].append({"name": AUTHENTICATION, "value": "disabled"})
    return container


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """Ray starts the workers, and comes with the image."""
    yield from no_exit_codes(job, "RayJob")
    if job.image is None:
        found = toolchain_of(job, site)
        build = f"trn image build {site.stack} {WITH_RAY} --toolchain {found.name if found is not None else 'NAME'} --tag ray --push"
        hint = f"`{build}` adds Ray to it; set `image` to the one that it prints"
        yield missing("image", "a RayJob needs Ray in its image, which no toolchain's image has", hint=hint)


def phase(status: Any) -> Phase:
    """State of the job. `Complete` is one whose Ray job ended, however it ended."""
    status = status or {}
    found = _PHASES.get(status.get("jobDeploymentStatus", ""), Phase.WAITING)
    if found is Phase.SUCCEEDED and status.get("jobStatus") not in (None, "", "SUCCEEDED"):
        return Phase.STOPPED if status["jobStatus"] == "STOPPED" else Phase.FAILED
    return found


LAUNCHER = Launcher(
    name="rayjob",
    title="RayJob",
    takes_source=("image",),
    take_it="the script uses Ray, such as Ray Train or Ray Data",
    lacks=(
        "the image: it needs Ray, of one version on all pods",
        "authentication within Ray: who reaches the head's port 8265 in the cluster can run code in the job",
        "exit codes that end the job",
        "`ttl`: the RayJob stays until it is deleted; its pods go when it ends",
        "the driver on a Neuron node: it runs on the head, on another node",
    ),
    restarts=(
        "KubeRay makes a new Ray cluster for each try, `restarts.max` times (`backoffLimit`). Within one, Ray Train starts lost "
        "workers again, as the script asks for (`FailureConfig`)."
    ),
    tried=(
        "Run in the tests by KubeRay 1.6.2 as far as its pods: cluster, head, workers and their `ray start` "
        "(`tests/kubernetes/test_rayjob.py`). The driver is not started there: KubeRay gives it to the server of "
        "`ray[default]`, which the tests' environment lacks. The recipe runs on a Ray of one machine "
        "(`tests/frameworks/test_torch.py`)."
    ),
    status="`status.jobDeploymentStatus`; where that is `Complete`, `status.jobStatus` says how the Ray job ended.",
    states=_PHASES,
    sources=(
        "ray-project/kuberay v1.6.2 apis/ray/v1/rayjob_types.go, ray-operator/controllers/ray/common/pod.go, batchscheduler/volcano",
        "ray-project/ray python/ray/_private/accelerators/neuron.py",
    ),
    needs=("an image with Ray, of the version that the workers' script needs",),
    render=render,
    phase=phase,
    resource=Resource("RayJob", "/apis/ray.io/v1", "rayjobs"),
    addon=ADDON,
    problems=problems,
)
