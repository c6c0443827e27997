"""PodDisruptionBudgets: which pods one covers, and whether it lets one of them go now."""

from collections.abc import Mapping
from typing import Any

from facts.kubernetes_kinds import Resource
from trn.kubernetes.client import Object

BUDGETS = Resource("PodDisruptionBudget", "/apis/policy/v1", "poddisruptionbudgets")
EVICTION_S = 15 * 60
"""After which EKS gives up on a node whose pods may not be evicted (EKS user guide, managed node update behavior: PodEvictionFailure)."""


def allows_none(budget: Object) -> bool:
    """Whether it forbids the eviction of every pod that it covers; one that covers no pod forbids nothing."""
    status = budget.get("status") or {}
    return status.get("disruptionsAllowed") == 0 and bool(status.get("expectedPods", 1))


def covers(budget: Object, pod: Object) -> bool:
    """Whether a pod is one of its own. An empty selector takes every pod of the namespace, no selector takes none (policy/v1)."""
    if budget["metadata"].get("namespace") != pod["metadata"].get("namespace"):
        return False
    selector = (budget.get("spec") or {}).get("selector")
    if selector is None:
        return False
    labels = pod["metadata"].get("labels") or {}
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_meets(labels, term) for term in selector.get("matchExpressions") or ())


def _meets(labels: Mapping[str, str], term: Mapping[str, Any]) -> bool:
    """One expression of a label selector (Kubernetes, labels and selectors)."""
    key, values = term.get("key"), term.get("values") or ()
    return {
        "In": key in labels and labels.get(str(key)) in values,
        "NotIn": labels.get(str(key)) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(str(term.get("operator")), True)


def named(item: Object) -> str:
    """NAMESPACE/NAME of an object."""
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"
