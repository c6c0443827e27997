"""The one pod of jobs, tests and shells on Neuron nodes: devices, mounts, memory, placement, and a time after which it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from facts.names import EFA_RESOURCE, GROUP_LABEL, NEURON_RESOURCE, NEURON_TAINT
from training.duration import seconds
from training.environment import environment
from training.payload import ENTRY_SCRIPT
from training.plan import SCRIPTS, Mounted, Plan

Object = dict[str, Any]
"""A Kubernetes object, or a part of one, as JSON."""
CONTAINER = "work"
"""Name of the container where its controller asks for no other."""
CLAIM = "devices"
"""Name of a pod's claim, within the pod."""
SHARED_MEMORY_PART, SHARED_MEMORY_GIB_MAX = 8, 64
"""/dev/shm of a job: this part of its memory, and no more. Kubernetes' default of 64 MiB is too small for ranks that share a node."""


@dataclass(frozen=True)
class Pod:
    """One container on one node."""

    image: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, int] = field(default_factory=dict)
    """Extended resources; Kubernetes wants request and limit of them to be equal."""
    claim: str | None = None
    """ResourceClaimTemplate of what it claims by dynamic resource allocation."""
    cpu: str | None = "100m"
    """None asks for nothing of it, and leaves that to whoever completes the pod."""
    memory: str | None = "128Mi"
    is_memory_limited: bool = False
    """Whether it may use no more memory than it asks for: a whole node's job must not take kubelet's."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels of the nodes."""
    groups: Sequence[str] = ()
    """Node groups, one of which the node must be in. Without any, and without a selector, the first node that has room."""
    mounts: Sequence[Mounted] = ()
    shared_memory_gib: int | None = None
    """/dev/shm in memory, in GiB; 0 is without a limit, None Kubernetes' own."""
    files: str | None = None
    """ConfigMap mounted at /trn."""
    life_s: int | None = None
    """Kubernetes ends it after this long, also when the process that started it is gone."""
    grace_s: int = 5
    """From the request to stop to the end."""
    apart: tuple[str, str] | None = None
    """Label and value of pods that it shares no node with."""
    priority_class: str | None = None
    container: str = CONTAINER
    on_neuron_nodes: bool = True
    """Whether it may stand on the nodes that are kept for pods with Neuron devices."""


def job_pod(plan: Plan, *, container: str = CONTAINER) -> Pod:
    """The pod of a job, the same for all its nodes and for every launcher."""
    job, share = plan.job, plan.share
    memory_gib = share.memory_mib // 1024
    claimed = plan.claimed
    chips = {NEURON_RESOURCE: plan.chip_count} if plan.chip_count and not claimed.chip_count else {}
    efa = {EFA_RESOURCE: plan.interface_count} if plan.interface_count and not claimed.interface_count else {}
    return Pod(
        image=plan.image,
        command=("python3", f"{SCRIPTS}/{ENTRY_SCRIPT}", "--", *plan.command),
        environment=environment(plan),
        devices={**chips, **efa},
        claim=claim_name(job.name) if plan.claims else None,
        cpu=str(share.cpu_millis // 1000),
        memory=f"{memory_gib}Gi",
        is_memory_limited=True,
        selector=plan.nodes.selector,
        mounts=plan.mounts,
        shared_memory_gib=max(1, min(SHARED_MEMORY_GIB_MAX, memory_gib // SHARED_MEMORY_PART)),
        files=files_name(job.name),
        life_s=seconds(job.time_limit) if job.time_limit is not None else None,
        grace_s=seconds(job.grace),
        priority_class=job.priority,
        container=container,
        on_neuron_nodes=plan.chip_count > 0,
    )


def files_name(job: str) -> str:
    """Name of the ConfigMap with the entry script of a job."""
    return f"{job}-entry"


def claim_name(job: str) -> str:
    """Name of the ResourceClaimTemplate of a job."""
    return f"{job}-devices"


def pod_spec(pod: Pod) -> Object:
    """`spec` of the pod."""
    spec: Object = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": pod.grace_s,
        # It does not call the API.
        "automountServiceAccountToken": False,
        **({"tolerations": [{"key": NEURON_TAINT, "operator": "Exists", "effect": "NoSchedule"}]} if pod.on_neuron_nodes else {}),
        "containers": [_container(pod)],
        "volumes": [volume for volume, _ in _volumes(pod)],
    }
    if pod.life_s is not None:
        spec["activeDeadlineSeconds"] = pod.life_s
    if pod.selector:
        spec["nodeSelector"] = dict(pod.selector)
    if affinity := {**(_within(pod.groups) if pod.groups else {}), **(_apart(*pod.apart) if pod.apart else {})}:
        spec["affinity"] = affinity
    if pod.priority_class is not None:
        spec["priorityClassName"] = pod.priority_class
    if pod.claim is not None:
        spec["resourceClaims"] = [{"name": CLAIM, "resourceClaimTemplateName": pod.claim}]
    return spec


def _container(pod: Pod) -> Object:
    devices = {key: str(count) for key, count in pod.devices.items()}
    memory = {"memory": pod.memory} if pod.memory is not None else {}
    requests = {**({"cpu": pod.cpu} if pod.cpu is not None else {}), **memory, **devices}
    container: Object = {
        "name": pod.container,
        "image": pod.image,
        "command": list(pod.command),
        "env": [{"name": key, "value": value} for key, value in pod.environment.items()],
        "resources": {"requests": requests, "limits": {**(memory if pod.is_memory_limited else {}), **devices}},
        "volumeMounts": [mount for _, mount in _volumes(pod)],
    }
    if pod.claim is not None:
        container["resources"]["claims"] = [{"name": CLAIM}]
    # An empty command would be the image's own all the same; empty requests would hide what a controller sets.
    if not pod.command:
        del container["command"]
    if not requests and pod.claim is None:
        del container["resources"]
    return container


def _volumes(pod: Pod) -> list[tuple[Object, Object]]:
    """Volumes, each with its place in the container."""
    found: list[tuple[Object, Object]] = []
    for index, mount in enumerate(pod.mounts):
        name = "shared" if index == 0 else f"shared-{index}"
        read_only = {"readOnly": True} if mount.read_only else {}
        volume = {"name": name, "persistentVolumeClaim": {"claimName": mount.claim, **read_only}}
        found.append((volume, {"name": name, "mountPath": mount.path, **read_only}))
    if pod.shared_memory_gib is not None:
        size = {"sizeLimit": f"{pod.shared_memory_gib}Gi"} if pod.shared_memory_gib else {}
        found.append(({"name": "memory", "emptyDir": {"medium": "Memory", **size}}, {"name": "memory", "mountPath": "/dev/shm"}))
    if pod.files is not None:
        found.append(({"name": "scripts", "configMap": {"name": pod.files}}, {"name": "scripts", "mountPath": SCRIPTS, "readOnly": True}))
    return found


def _within(groups: Sequence[str]) -> Object:
    terms = [{"matchExpressions": [{"key": GROUP_LABEL, "operator": "In", "values": list(groups)}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _apart(label: str, value: str) -> Object:
    term = {"labelSelector": {"matchLabels": {label: value}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
