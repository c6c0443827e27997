"""What users do in a practice cluster: run jobs, ask for load balancers, mount the file system."""

from typing import Any

from addons import volcano
from addons.neuron import NeuronSettings
from addons.volcano import VolcanoSettings
from facts.catalogue import NEURON_TYPES, InstanceType
from facts.device_claims import Claimed, claim_template
from facts.names import NEURON_RESOURCE, NEURON_TAINT
from simulator import incidents
from simulator.account.faults import Faults
from simulator.account.world import World
from simulator.faults_syntax import FaultRequest
from stacks.settings import Settings
from training.pod import CLAIM, claim_name
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.claimed import CLAIM_TEMPLATES
from trn.kubernetes.client import Kubernetes, Object
from trn.kubernetes.kinds import JOBS, NODES, SERVICES

IMAGE = "public.ecr.aws/docker/library/busybox:1.37"
"""Nothing pulls it: no container runs in practice."""


def start_job(kubernetes: Kubernetes, settings: Settings, stack: str, name: str, nodes: int | None) -> str:
    """One worker for each Neuron node, with all its devices; what was started, in words.

    Raises CommandError where there is no Neuron node: `stack` is the one that its hint names.
    """
    there = [node for node in kubernetes.list(NODES) or () if _type_of(node) in NEURON_TYPES]
    if not there:
        group = next(iter(settings.node_groups), None)
        hint = f"`trn --practice scale {stack} {group} 2` starts two" if group else "add a group below `nodeGroups`"
        raise CommandError("no Neuron node is up", hint)
    count, instance = nodes or len(there), NEURON_TYPES[_type_of(there[0])]
    if settings.addons.of(NeuronSettings).devices == "dra":
        namespace, claimed = settings.training.namespace, Claimed(instance.chip_count)
        kubernetes.create(CLAIM_TEMPLATES, namespace, claim_template(claim_name(name), namespace, {}, claimed, instance))
    body = (
        _volcano_job(settings, name, count, instance)
        if settings.addons.of(VolcanoSettings).enabled
        else _job(settings, name, count, instance)
    )
    kubernetes.create(volcano.JOBS if settings.addons.of(VolcanoSettings).enabled else JOBS, settings.training.namespace, body)
    return f"job {name}: {count} workers, each with {instance.chip_count} Neuron devices"


def _type_of(node: Object) -> str:
    return node["metadata"].get("labels", {}).get("node.kubernetes.io/instance-type", "")


def _worker(settings: Settings, name: str, instance: InstanceType) -> Object:
    by_claims = settings.addons.of(NeuronSettings).devices == "dra"
    resources: Object = {"claims": [{"name": CLAIM}]} if by_claims else {"limits": {NEURON_RESOURCE: str(instance.chip_count)}}
    container: Object = {"name": "worker", "image": IMAGE, "resources": resources}
    claims: Object = {"resourceClaims": [{"name": CLAIM, "resourceClaimTemplateName": claim_name(name)}]} if by_claims else {}
    spec: Object = claims | {"containers": [container], "tolerations": [{"key": NEURON_TAINT, "operator": "Exists"}]}
    return {**spec, "volumes": _volumes(settings)} if settings.storage.lustre.enabled else spec


def _volumes(settings: Settings) -> list[Object]:
    return [{"name": "shared", "persistentVolumeClaim": {"claimName": settings.storage.lustre.claim_name}}]


def _volcano_job(settings: Settings, name: str, count: int, instance: InstanceType) -> Object:
    task = {"name": "worker", "replicas": count, "template": {"spec": _worker(settings, name, instance)}}
    queue = next(iter(settings.addons.of(VolcanoSettings).queues), "default")
    spec = {"schedulerName": "volcano", "queue": queue, "minAvailable": count, "tasks": [task]}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def _job(settings: Settings, name: str, count: int, instance: InstanceType) -> Object:
    spec = {"parallelism": count, "completions": count, "template": {"spec": _worker(settings, name, instance)}}
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
