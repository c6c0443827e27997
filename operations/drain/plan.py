"""What a drain deletes, in which order: a value made from lists of objects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from operations.kube.api import Kubernetes, Object, Resource

QUEUES = Resource("Queue", "/apis/scheduling.volcano.sh/v1beta1", "queues")
COMMANDS = Resource("Command", "/apis/bus.volcano.sh/v1alpha1", "commands")
VOLCANO_JOBS = Resource("Volcano Job", "/apis/batch.volcano.sh/v1alpha1", "jobs")
JOBS = Resource("Kubernetes Job", "/apis/batch/v1", "jobs")
NODE_POOLS = Resource("NodePool", "/apis/karpenter.sh/v1", "nodepools")
NODE_CLAIMS = Resource("NodeClaim", "/apis/karpenter.sh/v1", "nodeclaims")
INGRESSES = Resource("Ingress", "/apis/networking.k8s.io/v1", "ingresses")
SERVICES = Resource("Service", "/api/v1", "services")
CLAIMS = Resource("PersistentVolumeClaim", "/api/v1", "persistentvolumeclaims")
STATEFUL_SETS = Resource("StatefulSet", "/apis/apps/v1", "statefulsets")

SYSTEM = frozenset({"kube-system", "kube-public", "kube-node-lease", "volcano-system"})
"""Namespaces of the add-ons: Pulumi takes those away itself."""


def _always(item: Object) -> bool:
    return True


def _is_users(item: Object) -> bool:
    """Not the work of a system namespace, and of nobody who would make it again."""
    return item["metadata"]["namespace"] not in SYSTEM and not item["metadata"].get("ownerReferences")


def _is_balancer(item: Object) -> bool:
    return item["spec"].get("type") == "LoadBalancer"


def _is_dynamic(item: Object) -> bool:
    """A claim for which a driver made something that bills. The stack's own claim names no class."""
    return bool(item["spec"].get("storageClassName"))


STEPS: Mapping[Resource, Callable[[Object], bool]] = {
    VOLCANO_JOBS: _is_users,
    JOBS: _is_users,
    INGRESSES: _always,
    SERVICES: _is_balancer,
    CLAIMS: _is_dynamic,
    NODE_POOLS: _always,
}
"""What is deleted, in order: jobs before the claims they mount, load balancers and claims while their controllers run, nodes last."""
GONE_LAST = (NODE_CLAIMS,)
"""What must be gone in the end and goes by itself: Karpenter's instances."""


@dataclass(frozen=True)
class Target:
    """One object."""

    resource: Resource
    name: str
    namespace: str = ""

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.resource.kind} {self.name}"


@dataclass(frozen=True)
class DrainPlan:
    """What would be closed and deleted, and what the cluster does not have."""

    queues: tuple[Object, ...]
    """Open queues, to be closed first so that no new job starts."""
    deletions: tuple[Target, ...]
    waited_for: tuple[Target, ...]
    missing: tuple[str, ...]
    """Kinds that the cluster does not know: their add-on is not there."""


def plan_drain(kubernetes: Kubernetes) -> DrainPlan:
    """What a drain would do now. Reads only."""
    missing: list[str] = []

    def objects(resource: Resource) -> list[Object]:
        found = kubernetes.list(resource)
        if found is None:
            missing.append(resource.kind)
        return found or []

    # Volcano's own queue `default` cannot be closed.
    queues = [item for item in objects(QUEUES) if item["metadata"]["name"] != "default" and _state(item) == "Open"]
    held = held_claims(objects(STATEFUL_SETS))
    chosen = [target(resource, item) for resource, wanted in STEPS.items() for item in objects(resource) if wanted(item)]
    deletions = [found for found in chosen if found not in held]
    waited_for = [target(resource, item) for resource in GONE_LAST for item in objects(resource)]
    return DrainPlan(tuple(queues), tuple(deletions), tuple(waited_for), tuple(missing))


def held_claims(stateful_sets: list[Object]) -> frozenset[Target]:
    """Claims of StatefulSets: their pods mount them until Pulumi takes the set away, and the sweep finds the volumes."""
    return frozenset(
        Target(CLAIMS, f"{template['metadata']['name']}-{item['metadata']['name']}-{number}", item["metadata"]["namespace"])
        for item in stateful_sets
        for template in item["spec"].get("volumeClaimTemplates") or ()
        for number in range(item["spec"].get("replicas", 1))
    )


def _state(queue: Object) -> str:
    return str(queue.get("status", {}).get("state", "Open"))


def target(resource: Resource, item: Object) -> Target:
    """An object by its names."""
    return Target(resource, item["metadata"]["name"], item["metadata"].get("namespace", ""))


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
