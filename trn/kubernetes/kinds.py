"""Every kind of object that a drain acts on, in order: one table for `trn drain`, `trn destroy`, `trn logs` and `trn top`.

Those of add-ons are in the add-ons' declarations; here are Kubernetes' own, and what is done with each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from addons.registry import REGISTRY
from facts.kubernetes_kinds import DrainedKind, DrainStage, Resource, Verb, Which, job_kind
from facts.volcano_queues import OWN_QUEUES
from trn.kubernetes.client import Kubernetes, Object

CRON_JOBS = Resource("CronJob", "/apis/batch/v1", "cronjobs")
JOBS = Resource("Kubernetes Job", "/apis/batch/v1", "jobs")
INGRESSES = Resource("Ingress", "/apis/networking.k8s.io/v1", "ingresses")
SERVICES = Resource("Service", "/api/v1", "services")
CLAIMS = Resource("PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims")
NODES = Resource("Node", "/api/v1", "nodes")
STATEFUL_SETS = Resource("StatefulSet", "/apis/apps/v1", "statefulsets")

SYSTEM = frozenset(
    {"kube-system", "kube-public", "kube-node-lease", *(name for declaration in REGISTRY for name in declaration.namespaces)}
)
"""Namespaces of Kubernetes and of the add-ons: Pulumi deletes what is in them itself."""

_OF_KUBERNETES = (
    job_kind(CRON_JOBS, DrainStage.SCHEDULES, "makes Jobs"),
    job_kind(
        JOBS, DrainStage.BASIC_JOBS, "its pods hold nodes and claims", pod_label="batch.kubernetes.io/job-name",
        asked={"verify": ("create", "delete", "list")},
    ),
    DrainedKind(INGRESSES, DrainStage.ROUTES, "delete", "its load balancer holds the VPC"),
    DrainedKind(SERVICES, DrainStage.BALANCERS, "delete", "its load balancer holds the VPC", "load balancers"),
    DrainedKind(CLAIMS, DrainStage.VOLUMES, "delete", "its volume or file system bills", "dynamic volumes"),
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """One kind of object, and what a drain does with it."""

    drained: DrainedKind
    addon: str = ""
    """Title of the add-on that brings the kind; empty for Kubernetes itself."""

    @property
    def resource(self) -> Resource:
        """Where the API serves it."""
        return self.drained.resource

    @property
    def verb(self) -> Verb:
        """What is done with its objects."""
        return self.drained.verb

    @property
    def why(self) -> str:
        """Why it is done."""
        return self.drained.why

    @property
    def last(self) -> bool:
        """It is deleted when all else is gone: controllers run on it."""
        return self.drained.stage == DrainStage.NODES and self.verb != "wait for"

    def chosen(self, item: Object) -> bool:
        """Whether an object is in the way, and not owned by a controller."""
        return _CHOSEN[self.drained.which](item)

    def act(self, kubernetes: Kubernetes, item: Object) -> None:
        """Do with an object what the verb says."""
        name, namespace = item["metadata"]["name"], item["metadata"].get("namespace", "")
        if self.verb == "delete":
            kubernetes.delete(self.resource, name, namespace, uid=item["metadata"].get("uid") or "")
        elif self.drained.command is not None:
            kubernetes.create(self.drained.command, "default", close_command(item))
        elif self.drained.spec:
            # An object's uid cannot be changed: the server refuses a patch with another one.
            kubernetes.patch(
                self.resource, name, namespace, {"metadata": {"uid": item["metadata"]["uid"]}, "spec": dict(self.drained.spec)}
            )


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


_CHOSEN: Mapping[Which, Callable[[Object], bool]] = {
    "all": lambda item: True,
    "jobs of users": _is_users,
    "open queues": _is_open,
    "admitting queues": _admits,
    "with workers": _has_slurm_nodes,
    "load balancers": _is_balancer,
    "bound by hand": _is_bound_by_hand,
    "dynamic volumes": _is_dynamic,
}


def _kinds() -> tuple[Kind, ...]:
    of_addons = [Kind(drained, declaration.title) for declaration in REGISTRY for drained in declaration.drained]
    # Sorting keeps the order within a stage.
    return tuple(sorted([*map(Kind, _OF_KUBERNETES), *of_addons], key=lambda kind: kind.drained.stage))


KINDS: tuple[Kind, ...] = _kinds()
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
