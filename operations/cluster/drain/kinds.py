"""Every kind of object that a drain acts on, in order: one table for `trn drain`, `trn destroy` and `trn logs`.

API groups and versions: the CRDs of the pinned charts and manifests, which a test compares (addons/contracts, addons/*.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from addons.registry import REGISTRY
from facts.volcano_queues import OWN_QUEUES
from operations.kube.api import Kubernetes, Object, Resource

VOLCANO, KUEUE, SLURM, KUBERAY, TRAINER = "Volcano", "Kueue", "Slurm", "KubeRay", "Kubeflow Trainer"
TRAINING_OPERATOR, MPI_OPERATOR, LEADER_WORKER_SET = "Kubeflow training-operator", "MPI operator", "LeaderWorkerSet"
LOAD_BALANCER_CONTROLLER, KARPENTER = "AWS Load Balancer Controller", "Karpenter"

QUEUES = Resource("Queue", "/apis/scheduling.volcano.sh/v1beta1", "queues")
COMMANDS = Resource("Command", "/apis/bus.volcano.sh/v1alpha1", "commands")
CLUSTER_QUEUES = Resource("ClusterQueue", "/apis/kueue.x-k8s.io/v1beta2", "clusterqueues")
LOCAL_QUEUES = Resource("LocalQueue", "/apis/kueue.x-k8s.io/v1beta2", "localqueues")
NODE_SETS = Resource("NodeSet", "/apis/slinky.slurm.net/v1beta1", "nodesets")
CRON_JOBS = Resource("CronJob", "/apis/batch/v1", "cronjobs")
VOLCANO_CRON_JOBS = Resource("Volcano CronJob", "/apis/batch.volcano.sh/v1alpha1", "cronjobs")
JOB_FLOWS = Resource("JobFlow", "/apis/flow.volcano.sh/v1alpha1", "jobflows")
RAY_CRON_JOBS = Resource("RayCronJob", "/apis/ray.io/v1", "raycronjobs")
RAY_JOBS = Resource("RayJob", "/apis/ray.io/v1", "rayjobs")
RAY_SERVICES = Resource("RayService", "/apis/ray.io/v1", "rayservices")
RAY_CLUSTERS = Resource("RayCluster", "/apis/ray.io/v1", "rayclusters")
TRAIN_JOBS = Resource("TrainJob", "/apis/trainer.kubeflow.org/v1alpha1", "trainjobs")
JOB_SETS = Resource("JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobsets")
PYTORCH_JOBS = Resource("PyTorchJob", "/apis/kubeflow.org/v1", "pytorchjobs")
TF_JOBS = Resource("TFJob", "/apis/kubeflow.org/v1", "tfjobs")
MPI_JOBS = Resource("MPIJob", "/apis/kubeflow.org/v2beta1", "mpijobs")
DISAGGREGATED_SETS = Resource("DisaggregatedSet", "/apis/disaggregatedset.x-k8s.io/v1", "disaggregatedsets")
LEADER_WORKER_SETS = Resource("LeaderWorkerSet", "/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets")
VOLCANO_JOBS = Resource("Volcano Job", "/apis/batch.volcano.sh/v1alpha1", "jobs")
JOBS = Resource("Kubernetes Job", "/apis/batch/v1", "jobs")
INGRESSES = Resource("Ingress", "/apis/networking.k8s.io/v1", "ingresses")
GATEWAYS = Resource("Gateway", "/apis/gateway.networking.k8s.io/v1", "gateways")
SERVICES = Resource("Service", "/api/v1", "services")
TARGET_GROUP_BINDINGS = Resource("TargetGroupBinding", "/apis/elbv2.k8s.aws/v1beta1", "targetgroupbindings")
GLOBAL_ACCELERATORS = Resource("GlobalAccelerator", "/apis/aga.k8s.aws/v1beta1", "globalaccelerators")
CLAIMS = Resource("PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims")
NODE_POOLS = Resource("NodePool", "/apis/karpenter.sh/v1", "nodepools")
NODE_CLAIMS = Resource("NodeClaim", "/apis/karpenter.sh/v1", "nodeclaims")
STATEFUL_SETS = Resource("StatefulSet", "/apis/apps/v1", "statefulsets")

SYSTEM = frozenset(
    {"kube-system", "kube-public", "kube-node-lease", *(name for declaration in REGISTRY for name in declaration.namespaces)}
)
"""Namespaces of Kubernetes and of the add-ons: Pulumi deletes what is in them itself."""

Verb = Literal["close", "empty", "delete", "wait for"]
Act = Callable[[Kubernetes, Resource, Object], None]


@dataclass(frozen=True)
class Kind:
    """One kind of object, and what a drain does with it."""

    resource: Resource
    verb: Verb
    why: str
    addon: str = ""
    """What brings the kind; empty for Kubernetes itself."""
    chosen: Callable[[Object], bool] = lambda item: True
    """Whether an object is in the way, and is not owned by a controller."""
    act: Act = lambda kubernetes, resource, item: None
    last: bool = False
    """It is deleted when all else is gone: controllers run on it."""
    pod_label: str = ""
    """Label of its pods that holds its name, for kinds that a user calls a job."""


def _is_users(item: Object) -> bool:
    """Not in a system namespace, and without an owner that would make it again."""
    return item["metadata"]["namespace"] not in SYSTEM and not item["metadata"].get("ownerReferences")


def _is_open(item: Object) -> bool:
    """Volcano refuses to close the queues that it makes itself."""
    return item["metadata"]["name"] not in OWN_QUEUES and item.get("status", {}).get("state", "Open") == "Open"


def _admits(item: Object) -> bool:
    return item["spec"].get("stopPolicy") != "HoldAndDrain"


def _has_slurm_nodes(item: Object) -> bool:
    """Asked for, or still there: the operator ends a pod when its Slurm node is drained."""
    return bool(item["spec"].get("replicas", 1) or item.get("status", {}).get("replicas", 0))


def _is_balancer(item: Object) -> bool:
    return item["spec"].get("type") == "LoadBalancer"


def _is_bound_by_hand(item: Object) -> bool:
    """The controller takes those away that it made for a Service, an Ingress or a Gateway, and labels them with that.

    Source: kubernetes-sigs/aws-load-balancer-controller pkg/deploy/tracking/provider.go, StackLabels.
    """
    return not any(".k8s.aws/stack" in key for key in item["metadata"].get("labels") or {})


def _is_dynamic(item: Object) -> bool:
    """A claim for which a driver made something that bills. The stack's own claim names no class."""
    return bool(item["spec"].get("storageClassName"))


def _delete(kubernetes: Kubernetes, resource: Resource, item: Object) -> None:
    kubernetes.delete(resource, item["metadata"]["name"], item["metadata"].get("namespace", ""))


def _close(kubernetes: Kubernetes, resource: Resource, item: Object) -> None:
    kubernetes.create(COMMANDS, "default", close_command(item))


def _patch(**spec: Any) -> Act:
    def act(kubernetes: Kubernetes, resource: Resource, item: Object) -> None:
        kubernetes.patch(resource, item["metadata"]["name"], item["metadata"].get("namespace", ""), {"spec": spec})

    return act


def _job(resource: Resource, why: str, addon: str = "", pod_label: str = "") -> Kind:
    return Kind(resource, "delete", why, addon, _is_users, _delete, pod_label=pod_label)


_KUBEFLOW_LABEL, _RAY_LABEL, _JOB_SET_LABEL = "training.kubeflow.org/job-name", "ray.io/cluster", "jobset.sigs.k8s.io/jobset-name"
KINDS: tuple[Kind, ...] = (
    Kind(QUEUES, "close", "a job in it would start again", VOLCANO, _is_open, _close),
    Kind(CLUSTER_QUEUES, "close", "it would admit the next job", KUEUE, _admits, _patch(stopPolicy="HoldAndDrain")),
    Kind(LOCAL_QUEUES, "close", "says in each namespace why jobs wait", KUEUE, _admits, _patch(stopPolicy="HoldAndDrain")),
    Kind(NODE_SETS, "empty", "each pod ends when its Slurm node is drained", SLURM, _has_slurm_nodes, _patch(replicas=0)),
    # Owners before what they own: a parent makes its children again.
    _job(CRON_JOBS, "makes Jobs"),
    _job(VOLCANO_CRON_JOBS, "makes Volcano Jobs", VOLCANO),
    _job(JOB_FLOWS, "makes Volcano Jobs", VOLCANO),
    _job(RAY_CRON_JOBS, "makes RayJobs", KUBERAY),
    # Pods bear no RayJob's name: some their RayCluster's, and those of the Job that submits it that Job's, which is the same.
    _job(RAY_JOBS, "makes a RayCluster and a Job", KUBERAY),
    _job(RAY_SERVICES, "makes RayClusters", KUBERAY),
    _job(RAY_CLUSTERS, "its pods hold nodes and claims", KUBERAY, _RAY_LABEL),
    _job(TRAIN_JOBS, "makes a JobSet of its own name", TRAINER, _JOB_SET_LABEL),
    _job(JOB_SETS, "makes Jobs", TRAINER, _JOB_SET_LABEL),
    _job(PYTORCH_JOBS, "its pods hold nodes and claims", TRAINING_OPERATOR, _KUBEFLOW_LABEL),
    _job(TF_JOBS, "its pods hold nodes and claims", TRAINING_OPERATOR, _KUBEFLOW_LABEL),
    _job(MPI_JOBS, "makes a launcher Job and worker pods", MPI_OPERATOR, _KUBEFLOW_LABEL),
    _job(DISAGGREGATED_SETS, "makes LeaderWorkerSets", LEADER_WORKER_SET),
    _job(LEADER_WORKER_SETS, "makes StatefulSets", LEADER_WORKER_SET, "leaderworkerset.sigs.k8s.io/name"),
    _job(VOLCANO_JOBS, "its pods hold nodes and claims", VOLCANO, "volcano.sh/job-name"),
    _job(JOBS, "its pods hold nodes and claims", pod_label="batch.kubernetes.io/job-name"),
    Kind(INGRESSES, "delete", "its load balancer holds the VPC", act=_delete),
    Kind(GATEWAYS, "delete", "its load balancer holds the VPC", LOAD_BALANCER_CONTROLLER, act=_delete),
    Kind(SERVICES, "delete", "its load balancer holds the VPC", chosen=_is_balancer, act=_delete),
    Kind(
        TARGET_GROUP_BINDINGS, "delete", "without its controller its finalizer holds the namespace", LOAD_BALANCER_CONTROLLER,
        _is_bound_by_hand, _delete,
    ),
    Kind(GLOBAL_ACCELERATORS, "delete", "its accelerator bills, outside the VPC", LOAD_BALANCER_CONTROLLER, act=_delete),
    Kind(CLAIMS, "delete", "its volume or file system bills", chosen=_is_dynamic, act=_delete),
    Kind(NODE_POOLS, "delete", "Karpenter's instances hold the VPC", KARPENTER, act=_delete, last=True),
    Kind(NODE_CLAIMS, "wait for", "is deleted with its pool, and its instance with it", KARPENTER),
)  # fmt: skip
"""All kinds, in the order in which they are acted on."""


def close_command(queue: Object) -> dict[str, Any]:
    """What `vcctl queue operate -a close` makes (volcano-sh/volcano pkg/cli/queue/util.go, createQueueCommand)."""
    name = queue["metadata"]["name"]
    reference = {
        "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": name, "uid": queue["metadata"]["uid"], "controller": True,
        "blockOwnerDeletion": True,
    }  # fmt: skip
    metadata = {"generateName": f"{name}-closequeue-", "namespace": "default", "ownerReferences": [reference]}
    return {
        "apiVersion": "bus.volcano.sh/v1alpha1", "kind": "Command", "metadata": metadata, "action": "CloseQueue", "target": reference,
    }  # fmt: skip
