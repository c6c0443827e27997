"""What the objects of several launchers have in common: names, labels, the files, the gang."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from facts.device_claims import claim_template
from facts.names import JOB_LABEL, VOLCANO_SCHEDULER
from facts.problems import Problem, missing
from training.duration import seconds
from training.job import Job
from training.payload import job_files
from training.plan import Plan
from training.pod import CONTAINER, Object, claim_name, files_name, job_pod, pod_spec
from training.site import Site

TOOLCHAIN_LABEL, LAUNCHER_LABEL = "trn/toolchain", "trn/launcher"
GROUP_ANNOTATION = "scheduling.k8s.io/group-name"
"""Of a pod: name of its PodGroup (volcano-sh/volcano, KubeGroupNameAnnotationKey)."""
STAYS = {"karpenter.sh/do-not-disrupt": "true"}
"""On every pod of a job: Karpenter would consolidate, or replace as drifted or expired, the node of one, and with it the whole gang starts
again (Karpenter, disruption, pod-level controls). A head or launcher runs on nodes that Karpenter consolidates first."""


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
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(plan, files_name(job.name)),
        "data": dict(job_files(job.recipe, plan.site.source)),
    }


def own_objects(plan: Plan) -> list[Object]:
    """What is made before the job itself: its files, and the template of what each pod claims where devices are claimed."""
    if not plan.claims:
        return [files_object(plan)]
    name, instance = claim_name(plan.job.name), plan.nodes.instance
    return [files_object(plan), claim_template(name, plan.site.namespace, labels(plan), plan.claimed, instance)]


def pod_template(plan: Plan, *, container: str = CONTAINER, subdomain: str = "", gang: bool | None = None) -> Object:
    """The job's pod for a controller that sets no time limit by itself: Volcano places it where Volcano is.

    `subdomain`: headless service by which its pods have names, where the controller sets none. `gang`: whether its PodGroup is
    `pod_group`, by default where there is Volcano.
    """
    spec = pod_spec(replace(job_pod(plan, container=container), life_s=None))
    metadata: Object = {"labels": labels(plan), "annotations": dict(STAYS)}
    if plan.site.gang if gang is None else gang:
        metadata["annotations"][GROUP_ANNOTATION] = plan.job.name
        spec["schedulerName"] = VOLCANO_SCHEDULER
    if subdomain:
        spec["subdomain"] = subdomain
    return {"metadata": metadata, "spec": spec}


def headless_service(plan: Plan, selector: dict[str, str]) -> Object:
    """Names of the pods, also before they are ready: the first is where the others meet."""
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(plan), "spec": spec}


def no_claims(site: Site, why: str) -> Iterator[Problem]:
    """For what cannot write a claim into its pods. `why`: the reason, with its source."""
    if "dra" in (site.devices, site.efa_devices):
        hint = "take volcano, jobset or indexed-job, or `device-plugin` for `addons.neuron.devices` and `addons.efa.devices`"
        yield missing("devices", f"the cluster {site.cluster} hands out devices by claims, and {why}", hint=hint)


def pod_failure_policy(job: Job, *, ignore_disruptions: bool) -> Object:
    """`podFailurePolicy` of a Job: exit codes that the job does not name end it at once. Empty where all are tried again.

    `ignore_disruptions`: a pod that was evicted, or whose node is lost, counts as no failure.
    """
    rules: list[Object] = []
    if ignore_disruptions and job.restarts.max:
        rules.append({"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
    if job.restarts.max and job.restart_codes:
        if not ignore_disruptions:
            rules.append({"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]})
        rules.append({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": list(job.restart_codes)}})
    return {"rules": rules} if rules else {}


def ttl_s(job: Job) -> int:
    """Seconds that an ended job stays."""
    return seconds(job.ttl)


def companion(plan: Plan, command: Sequence[str], *, container: str, cpu: str, memory: str) -> Object:
    """Template of a pod that starts or heads the workers and needs no device: image, files, mounts and variables are the job's.

    It stays off the Neuron nodes, which the workers fill.
    """
    pod = replace(job_pod(plan, container=container), command=tuple(command), devices={}, claim=None, selector={}, life_s=None)
    spec = pod_spec(replace(pod, cpu=cpu, memory=memory, shared_memory_gib=1))
    spec.pop("tolerations", None)
    return {"metadata": {"labels": labels(plan), "annotations": dict(STAYS)}, "spec": spec}


def minimum_resources(plan: Plan) -> dict[str, str]:
    """Devices of all pods together; what they claim, Volcano reads from the claims (volcano-sh/volcano v1.15 GetMinDRAResources)."""
    return {name: str(count * plan.job.nodes) for name, count in job_pod(plan).devices.items()}


def pod_group(plan: Plan) -> Object:
    """Volcano's PodGroup for pods that are not a Volcano Job's: all of them are placed together, or none."""
    spec: Object = {"minMember": plan.job.nodes}
    if minimum := minimum_resources(plan):
        spec["minResources"] = minimum
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
