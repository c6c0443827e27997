"""Pods on a group that belong to no job: those that start again elsewhere when they are evicted, and those that would be gone. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from trn.cli.errors import CommandError
from trn.kubernetes.budgets import EVICTION_S, allows_none, covers, named
from trn.kubernetes.claimed import is_neuron
from trn.kubernetes.client import Object

COME_BACK = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
"""Owners that make a pod again when it is evicted (Kubernetes, disruptions); a Deployment's pods are a ReplicaSet's."""
_WITH_NODE = frozenset({"DaemonSet", "Node"})
"""Owners whose pods go and come with their node."""


@dataclass(frozen=True)
class OtherPod:
    """A pod of no job that a roll evicts."""

    name: str
    """As NAMESPACE/NAME."""
    uid: str
    owner: str
    """Kind and name; empty for none."""
    has_devices: bool
    """It asks for Neuron devices or cores."""
    comes_back: bool
    budget: str
    """A PodDisruptionBudget that lets no pod go now, as NAMESPACE/NAME; empty for none."""

    @property
    def line(self) -> str:
        """For a person."""
        of = f" of {self.owner}" if self.owner else ""
        end = "starts again where there is room" if self.comes_back else "ends: nothing starts it again"
        return f"pod {self.name}{of} is evicted and {end}"


def is_over(pod: Object) -> bool:
    """Whether it uses nothing any more."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def holds_devices(pod: Object) -> bool:
    """Whether it asks for Neuron devices or cores."""
    parts = [*(pod["spec"].get("initContainers") or ()), *(pod["spec"].get("containers") or ())]
    asked = {name for part in parts for name in (part.get("resources") or {}).get("limits") or {}}
    return any(map(is_neuron, asked))


def goes_with_node(pod: Object) -> bool:
    """Whether a DaemonSet or the node itself made it."""
    return bool(_WITH_NODE & {owner.get("kind") for owner in pod["metadata"].get("ownerReferences") or ()})


def others_on(nodes: Collection[str], pods: Sequence[Object], of_jobs: Collection[str], budgets: Sequence[Object]) -> tuple[OtherPod, ...]:
    """Pods on the nodes that are in no job. `of_jobs`: uids of the pods of jobs."""
    found = list[OtherPod]()
    for pod in pods:
        is_here = pod["spec"].get("nodeName") in nodes and not is_over(pod)
        if not is_here or goes_with_node(pod) or str(pod["metadata"].get("uid")) in of_jobs:
            continue
        owner = next(iter(pod["metadata"].get("ownerReferences") or ()), {})
        tight = next((named(budget) for budget in budgets if allows_none(budget) and covers(budget, pod)), "")
        found.append(
            OtherPod(
                named(pod), str(pod["metadata"].get("uid")), f"{owner.get('kind', '')} {owner.get('name', '')}".strip(), holds_devices(pod),
                owner.get("kind") in COME_BACK, tight,
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda pod: pod.name))


def refuse_others(group: str, others: Sequence[OtherPod], accepted: Collection[str]) -> None:
    """Raises CommandError for pods that may not be evicted, and for those with devices that would be gone and were not accepted by name."""
    held = [pod for pod in others if pod.budget]
    if held:
        wrong = "; ".join(f"PodDisruptionBudget {pod.budget} lets no pod go now, and covers {pod.name} on {group}" for pod in held)
        hint = f"add a replica or loosen it: EKS gives up on a node after {EVICTION_S // 60} minutes in which a pod may not be evicted"
        raise CommandError(wrong, hint)
    lost = [pod for pod in others if pod.has_devices and not pod.comes_back and pod.name not in accepted]
    if lost:
        named_pods = ", ".join(f"{pod.name} ({'of ' + pod.owner if pod.owner else 'of no owner'})" for pod in lost)
        wrong = f"pods on {group} would end, and nothing is known to start them again: {named_pods}"
        raise CommandError(wrong, f"`{' '.join(f'--end-pod {pod.name}' for pod in lost)}` accepts that; or end them first")
