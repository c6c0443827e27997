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
NOTICE_DAYS = 30
"""A version that leaves standard support within this many days of `TABLE_DATE` is no choice for a new cluster."""


def kubernetes_order(name: str) -> tuple[int, ...]:
    """What minors are compared by: 1.9 comes before 1.10."""
    return tuple(int(part) for part in name.split("."))


def leaves_standard_support_soon(name: str) -> bool:
    """Whether standard support has ended or ends within the notice."""
    return (KUBERNETES_VERSIONS[name].standard_support_ends - TABLE_DATE).days <= NOTICE_DAYS
