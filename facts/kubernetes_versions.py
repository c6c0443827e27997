"""The Kubernetes minors that EKS offers, and until when each stays in standard support.

Sources: EKS user guide, kubernetes-versions, and what's-new of 2026-10-03; dates marked inferred are 14 months after the start.
"""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class KubernetesVersion:
    """One minor version on EKS."""

    name: str
    standard_support_ends: date
    inferred: bool = False


KUBERNETES_VERSIONS = {
    version.name: version
    for version in (
        KubernetesVersion("1.32", date(2026, 3, 23)),
        KubernetesVersion("1.33", date(2026, 7, 29)),
        KubernetesVersion("1.34", date(2026, 12, 2)),
        KubernetesVersion("1.35", date(2027, 3, 27)),
        KubernetesVersion("1.36", date(2027, 8, 1), inferred=True),
        KubernetesVersion("1.37", date(2027, 12, 1), inferred=True),
    )
}
TABLE_DATE = date(2026, 11, 21)
"""Day the table was read. Rules compare with this day, not with the clock: a plan must not change overnight."""
KUBELET_SKEW = 3
"""Minors that a kubelet may be older than the API server, from 1.28 on; it is never newer (Kubernetes version skew policy; EKS user
guide, update-cluster: the control plane may go up to three minors ahead of managed nodes)."""
UPGRADE_ADDRESSES = 5
"""Free addresses that EKS wants in each of the control plane's subnets for an upgrade. The user guide (update-cluster) says "up to five
from the subnets"; what EKS answers is "need at least 5 IPs in each subnet to be free for this operation" (aws/containers-roadmap#1693,
elastic-ipfs/infrastructure#221)."""
NOTICE_DAYS = 30
"""A version that leaves standard support within this many days of `TABLE_DATE` is no choice for a new cluster."""


def kubernetes_order(name: str) -> tuple[int, ...]:
    """What minors are compared by: 1.9 comes before 1.10."""
    return tuple(int(part) for part in name.split("."))


def minor_number(name: str) -> int:
    """36 of `1.36`, and of `1.36.1` or `v1.36.1-eks-abc`. Raises ValueError for a text that is no version."""
    return int(name.removeprefix("v").split(".")[1])


def minors_behind(control_plane: str, nodes: str) -> int:
    """How many minors nodes are older than their control plane; negative where they are newer."""
    return minor_number(control_plane) - minor_number(nodes)


def minors_between(current: str, target: str) -> tuple[str, ...]:
    """Minors that a control plane goes through from `current` to `target`, the last included: EKS takes one at a time, and none back."""
    return tuple(f"1.{number}" for number in range(minor_number(current) + 1, minor_number(target) + 1))


def leaves_standard_support_soon(name: str) -> bool:
    """Whether standard support has ended or ends within the notice."""
    return (KUBERNETES_VERSIONS[name].standard_support_ends - TABLE_DATE).days <= NOTICE_DAYS
