"""What EKS says of a cluster's readiness for the next minor: its upgrade insights, derived from the account.

Names, statuses and texts follow the EKS user guide, cluster-insights; the texts are ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from facts.kubernetes_versions import KUBELET_SKEW, minor_number
from simulator.account import kinds, view
from simulator.account.state import AccountState


@dataclass(frozen=True)
class Insight:
    """One check."""

    name: str
    minor: str
    """The next one."""
    status: str
    """PASSING, WARNING or ERROR."""
    reason: str
    description: str
    recommendation: str


def upgrade_insights(state: AccountState) -> list[Insight]:
    """All checks of the cluster that is there; none without a cluster."""
    found = view.cluster(state)
    version = found.registration.inputs.get("version") if found is not None else None
    if not version:
        return []
    plane = minor_number(str(version))
    return [_kubelets(state, plane), _kube_proxy(state, plane), *_deprecated(plane)]


def _kubelets(state: AccountState, plane: int) -> Insight:
    behind = {
        str(group.inputs["nodeGroupName"]): plane - minor_number(str(group.inputs["version"]))
        for group in view.node_groups(state)
        if group.inputs.get("version")
    }
    too_old = sorted(name for name, minors in behind.items() if minors + 1 > KUBELET_SKEW)
    late = sorted(name for name, minors in behind.items() if minors > 0)
    status = "ERROR" if too_old else "WARNING" if late else "PASSING"
    reason = f"node groups {', '.join(too_old or late)} run older kubelets" if late else "no kubelet version skew detected"
    return Insight(
        "Kubelet version skew",
        f"1.{plane + 1}",
        status,
        reason,
        "Checks for kubelet version skew with the control plane after an upgrade",
        "update the node groups to the control plane's version",
    )


def _kube_proxy(state: AccountState, plane: int) -> Insight:
    versions = [
        str(item.inputs["addonVersion"])
        for item in state.ready(kinds.ADDON)
        if item.inputs.get("addonName") == "kube-proxy" and item.inputs.get("addonVersion")
    ]
    late = [version for version in versions if plane + 1 - minor_number(version) > KUBELET_SKEW]
    return Insight(
        "kube-proxy version skew",
        f"1.{plane + 1}",
        "ERROR" if late else "PASSING",
        f"kube-proxy {late[0]} would be more than three minors older" if late else "no kube-proxy version skew detected",
        "Checks for kube-proxy version skew with the control plane after an upgrade",
        "update the add-on kube-proxy to the control plane's version",
    )


def _deprecated(plane: int) -> Iterator[Insight]:
    yield Insight(
        f"Deprecated APIs removed in Kubernetes v1.{plane + 1}",
        f"1.{plane + 1}",
        "PASSING",
        "no deprecated API usage detected within the last 30 days",
        "Checks for usage of deprecated APIs that are scheduled for removal",
        "update manifests and clients to newer Kubernetes APIs",
    )
