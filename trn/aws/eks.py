"""EKS: versions it offers, add-ons it has, clusters that are there."""

from dataclasses import dataclass
from datetime import date

from trn.aws.api import Api, Call

DESCRIBE_VERSIONS = Call("eks", "DescribeClusterVersions")
DESCRIBE_ADDON_VERSIONS = Call("eks", "DescribeAddonVersions")
LIST_CLUSTERS = Call("eks", "ListClusters")


@dataclass(frozen=True)
class SupportDates:
    """Until when a Kubernetes minor is supported on EKS."""

    standard_ends: date | None
    extended_ends: date | None


def support_dates(api: Api, kubernetes_version: str) -> SupportDates | None:
    """The version's dates, None where EKS no longer, or not yet, offers it."""
    for entry in api.pages(DESCRIBE_VERSIONS, "clusterVersions", clusterVersions=[kubernetes_version]):
        if entry["clusterVersion"] == kubernetes_version:
            standard, extended = entry.get("endOfStandardSupportDate"), entry.get("endOfExtendedSupportDate")
            return SupportDates(standard.date() if standard else None, extended.date() if extended else None)
    return None


def addon_versions(api: Api, addon: str, kubernetes_version: str) -> tuple[str, ...]:
    """Versions of an add-on that EKS has for a Kubernetes minor, as EKS orders them."""
    entries = api.pages(DESCRIBE_ADDON_VERSIONS, "addons", addonName=addon, kubernetesVersion=kubernetes_version)
    return tuple(version["addonVersion"] for entry in entries for version in entry["addonVersions"])


def cluster_names(api: Api) -> list[str]:
    """All clusters of the region."""
    return list(api.pages(LIST_CLUSTERS, "clusters"))
