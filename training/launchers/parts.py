"""What the objects of several launchers have in common: names, labels, the files, the gang."""

from facts.names import EFA_RESOURCE, JOB_LABEL, NEURON_RESOURCE
from training.duration import seconds
from training.job import Job
from training.payload import files
from training.plan import Plan
from training.pod import Object, files_name

TOOLCHAIN_LABEL, LAUNCHER_LABEL = "trn/toolchain", "trn/launcher"
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
"""Of a pod: name of its PodGroup (volcano-sh/volcano, KubeGroupNameAnnotationKey)."""
SCHEDULER = "volcano"


def labels(plan: Plan) -> dict[str, str]:
    """On every object of a job and on its pods."""
    toolchain = {TOOLCHAIN_LABEL: plan.toolchain.name} if plan.toolchain is not None else {}
    return {"app.kubernetes.io/part-of": "trn", JOB_LABEL: plan.job.name, LAUNCHER_LABEL: plan.launcher, **toolchain}


def metadata(plan: Plan, name: str = "") -> Object:
    """`metadata` of an object, by default of the job's name."""
    return {"name": name or plan.job.name, "namespace": plan.site.namespace, "labels": labels(plan)}


def files_object(plan: Plan) -> Object:
    """The ConfigMap that every pod mounts at /trn."""
    job = plan.job
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(plan, files_name(job.name)), "data": dict(files(job.recipe))}


def ttl_s(job: Job) -> int:
    """Seconds that an ended job stays."""
    return seconds(job.ttl)


def pod_group(plan: Plan) -> Object:
    """Volcano's PodGroup for pods that are not a Volcano Job's: all of them are placed together, or none."""
    minimum = {NEURON_RESOURCE: str(plan.chip_count * plan.job.nodes)}
    if plan.interface_count:
        minimum[EFA_RESOURCE] = str(plan.interface_count * plan.job.nodes)
    spec: Object = {"minMember": plan.job.nodes, "minResources": minimum}
    if plan.queue is not None:
        spec["queue"] = plan.queue
    if plan.job.priority is not None:
        spec["priorityClassName"] = plan.job.priority
    if topology := network_topology(plan):
        spec["networkTopology"] = topology
    return {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": metadata(plan), "spec": spec}


def network_topology(plan: Plan) -> Object:
    """Keeps the nodes of a job on one EFA network, where the stack says which those are; empty elsewhere."""
    if not (plan.site.hyper_nodes and plan.interface_count and plan.job.nodes > 1) or plan.nodes.is_pool:
        return {}
    return {"mode": "hard", "highestTierAllowed": 1}
