"""What users do in a practice cluster: run jobs, ask for load balancers, mount the file system."""

from typing import Any

from addons import volcano
from addons.volcano import VolcanoSettings
from facts.names import NEURON_RESOURCE, NEURON_TAINT
from simulator import incidents
from simulator.account.faults import Faults
from simulator.account.world import World
from simulator.faults_syntax import FaultRequest
from stacks.settings import Settings
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.kinds import JOBS, NODES, SERVICES

IMAGE = "public.ecr.aws/docker/library/busybox:1.37"
"""Nothing pulls it: no container runs in practice."""


def start_job(kubernetes: Kubernetes, settings: Settings, stack: str, name: str, nodes: int | None) -> str:
    """One worker for each Neuron node, with all its devices; what was started, in words.

    Raises CommandError where there is no Neuron node: `stack` is the one that its hint names.
    """
    there = [node for node in kubernetes.list(NODES) or () if NEURON_RESOURCE in node["status"]["allocatable"]]
    if not there:
        group = next(iter(settings.node_groups), None)
        hint = f"`trn --practice scale {stack} {group} 2` starts two" if group else "add a group below `nodeGroups`"
        raise CommandError("no Neuron node is up", hint)
    count = nodes or len(there)
    body = (
        _volcano_job(settings, name, count, there[0])
        if settings.addons.of(VolcanoSettings).enabled
        else _job(settings, name, count, there[0])
    )
    kubernetes.create(volcano.JOBS if settings.addons.of(VolcanoSettings).enabled else JOBS, settings.training.namespace, body)
    return f"job {name}: {count} workers, each with {_devices(there[0])} Neuron devices"


def _devices(node: Object) -> str:
    return str(node["status"]["allocatable"][NEURON_RESOURCE])


def _worker(settings: Settings, node: Object) -> Object:
    container: Object = {"name": "worker", "image": IMAGE, "resources": {"limits": {NEURON_RESOURCE: _devices(node)}}}
    spec: Object = {"containers": [container], "tolerations": [{"key": NEURON_TAINT, "operator": "Exists"}]}
    return {**spec, "volumes": _volumes(settings)} if settings.storage.lustre.enabled else spec


def _volumes(settings: Settings) -> list[Object]:
    return [{"name": "shared", "persistentVolumeClaim": {"claimName": settings.storage.lustre.claim_name}}]


def _volcano_job(settings: Settings, name: str, count: int, node: Object) -> Object:
    task = {"name": "worker", "replicas": count, "template": {"spec": _worker(settings, node)}}
    queue = next(iter(settings.addons.of(VolcanoSettings).queues), "default")
    spec = {"schedulerName": "volcano", "queue": queue, "minAvailable": count, "tasks": [task]}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def _job(settings: Settings, name: str, count: int, node: Object) -> Object:
    spec = {"parallelism": count, "completions": count, "template": {"spec": _worker(settings, node)}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def ask_for_balancer(kubernetes: Kubernetes, settings: Settings) -> str:
    """A Service of type LoadBalancer; its load balancer holds an interface in the nodes' subnet."""
    spec = {"type": "LoadBalancer", "ports": [{"port": 80}]}
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "tensorboard"}, "spec": spec}
    kubernetes.create(SERVICES, settings.training.namespace, body)
    return f"Service {settings.training.namespace}/tensorboard asked for a load balancer"


def mount_claim(kubernetes: Kubernetes, settings: Settings) -> str:
    """A Job whose pod mounts the file system's claim. Raises CommandError where the stack has no file system."""
    if not settings.storage.lustre.enabled:
        raise CommandError("this stack has no file system", "set `storage.lustre.enabled: true`, then `trn practice up`", code=MISUSE)
    container: dict[str, Any] = {"name": "notebook", "image": IMAGE}
    pod = {"containers": [container], "volumes": _volumes(settings)}
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "notebook"}, "spec": {"template": {"spec": pod}}}
    kubernetes.create(JOBS, settings.training.namespace, body)
    return f"Job {settings.training.namespace}/notebook mounts {settings.storage.lustre.claim_name}"


def launch_by_karpenter(world: World) -> str:
    """An instance that Karpenter launched and no longer looks after."""
    world.faults = Faults.of([FaultRequest("karpenter-node-left", None, 1)])
    incidents.leave_behind(world)
    return "an instance that Karpenter launched is in the account"
