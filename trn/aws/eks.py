"""EKS: versions and add-ons it offers, clusters that are there with their node groups, and its own checks before an upgrade."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from facts.resources.rights import CLUSTER, part_of_cluster
from trn.aws import sighting
from trn.aws.api import Api, Call

DESCRIBE_CLUSTER = Call("eks", "DescribeCluster", CLUSTER)
LIST_NODE_GROUPS = Call("eks", "ListNodegroups", CLUSTER)
DESCRIBE_ADDON = Call("eks", "DescribeAddon", part_of_cluster("addon"))
DESCRIBE_SUBNETS = Call("ec2", "DescribeSubnets")
DESCRIBE_NODE_GROUP = Call("eks", "DescribeNodegroup", part_of_cluster("nodegroup"))


def described(api: Api, cluster: str) -> dict[str, Any] | None:
    """The EKS cluster of exactly this name as EKS describes it, None where there is none."""
    return sighting.described(api, DESCRIBE_CLUSTER, name=cluster).get("cluster")


def node_group_names(api: Api, cluster: str) -> Iterator[str]:
    """Managed node groups of a cluster."""
    yield from api.pages(LIST_NODE_GROUPS, "nodegroups", clusterName=cluster)


def node_group(api: Api, cluster: str, name: str) -> dict[str, Any]:
    """One managed node group as EKS describes it. Raises what botocore raises."""
    return api.call(DESCRIBE_NODE_GROUP, clusterName=cluster, nodegroupName=name)["nodegroup"]


def addon_version(api: Api, cluster: str, addon: str) -> str:
    """Version of an EKS add-on that a cluster has; empty where it has none. Raises what botocore raises."""
    return str(sighting.described(api, DESCRIBE_ADDON, clusterName=cluster, addonName=addon).get("addon", {}).get("addonVersion", ""))


def free_addresses(api: Api, subnets: list[str]) -> dict[str, int]:
    """Free addresses by subnet; one that is gone is missing."""
    entries = api.pages(DESCRIBE_SUBNETS, "Subnets", Filters=[{"Name": "subnet-id", "Values": subnets}])
    return {entry["SubnetId"]: int(entry["AvailableIpAddressCount"]) for entry in entries}


DESCRIBE_VERSIONS = Call("eks", "DescribeClusterVersions")
DESCRIBE_ADDON_VERSIONS = Call("eks", "DescribeAddonVersions")
LIST_CLUSTERS = Call("eks", "ListClusters")


@dataclass(frozen=True)
class SupportDates:
    """Until when a Kubernetes minor is supported on EKS."""

    standard_ends: date | None


def support_dates(api: Api, kubernetes_version: str) -> SupportDates | None:
    """The version's dates, None where EKS no longer, or not yet, offers it."""
    for entry in api.pages(DESCRIBE_VERSIONS, "clusterVersions", clusterVersions=[kubernetes_version]):
        if entry["clusterVersion"] == kubernetes_version:
            standard = entry.get("endOfStandardSupportDate")
            return SupportDates(standard.date() if standard else None)
    return None


def addon_versions(api: Api, addon: str, kubernetes_version: str) -> tuple[str, ...]:
    """Versions of an add-on that EKS has for a Kubernetes minor, as EKS orders them."""
    entries = api.pages(DESCRIBE_ADDON_VERSIONS, "addons", addonName=addon, kubernetesVersion=kubernetes_version)
    return tuple(version["addonVersion"] for entry in entries for version in entry["addonVersions"])


def cluster_names(api: Api) -> list[str]:
    """All clusters of the region."""
    return list(api.pages(LIST_CLUSTERS, "clusters"))


UPDATE = Call("eks", "UpdateNodegroupConfig", part_of_cluster("nodegroup"))
DESCRIBE_UPDATE = Call("eks", "DescribeUpdate", part_of_cluster("nodegroup"))

ROUNDS, PAUSE_S = 120, 15
"""Together 30 minutes: EKS itself gives up on a group without capacity after about 33 (public logs, 2022-2026)."""
OVERDUE = "EKS is still at it after 30 minutes"


def scaling(api: Api, cluster: str, group: str) -> dict[str, int]:
    """`minSize`, `maxSize` and `desiredSize` of a group."""
    return node_group(api, cluster, group)["scalingConfig"]


def sized(current: dict[str, int], count: int) -> dict[str, int]:
    """The limits moved as little as the count takes: EKS refuses a size outside them, and a largest size of 0."""
    least, most = min(current["minSize"], count), max(current["maxSize"], count, 1)
    return {"minSize": least, "maxSize": most, "desiredSize": count}


def begin_resize(api: Api, cluster: str, group: str, wanted: dict[str, int], token: str = "") -> dict[str, Any]:
    """Set the sizes; the update that EKS makes of it. `token`: requests with the same one are one request."""
    given = {"clientRequestToken": token} if token else {}
    return api.call(UPDATE, clusterName=cluster, nodegroupName=group, scalingConfig=wanted, **given)["update"]


def update_of(api: Api, cluster: str, group: str, update: dict[str, Any]) -> dict[str, Any]:
    """The same update as it is now."""
    return api.call(DESCRIBE_UPDATE, name=cluster, nodegroupName=group, updateId=update["id"])["update"]


def problems(update: dict[str, Any]) -> list[str] | None:
    """What EKS says went wrong with an update, empty where nothing did; None as long as it is under way."""
    if update["status"] == "InProgress":
        return None
    said = [f"{error.get('errorCode', '')}: {error.get('errorMessage', '')}" for error in update.get("errors", ())]
    return said if update["status"] == "Successful" else said or [f"the update is {update['status']}"]


LIST_INSIGHTS = Call("eks", "ListInsights", CLUSTER)
DESCRIBE_INSIGHT = Call("eks", "DescribeInsight", CLUSTER)


@dataclass(frozen=True)
class Insight:
    """One check of EKS's."""

    name: str
    minor: str
    """That it is about: what would be upgraded to."""
    status: str
    """PASSING, WARNING, ERROR or UNKNOWN."""
    reason: str
    recommendation: str
    refreshed: str
    """Day of its last look; up to 24 hours behind, and 30 days for calls of deprecated APIs (EKS user guide, cluster-insights)."""
    uses: tuple[str, ...] = ()
    """Deprecated APIs that clients still call, each with the client."""


def upgrade_insights(api: Api, cluster: str) -> list[Insight]:
    """All insights on the readiness for an upgrade; the passing ones without their details."""
    listed = api.pages(LIST_INSIGHTS, "insights", clusterName=cluster, filter={"categories": ["UPGRADE_READINESS"]})
    return [_insight(api, cluster, entry) for entry in listed]


def _insight(api: Api, cluster: str, entry: dict) -> Insight:
    status = entry["insightStatus"]
    about, uses = "", list[str]()
    if status["status"] != "PASSING":
        detail = api.call(DESCRIBE_INSIGHT, clusterName=cluster, id=entry["id"])["insight"]
        about = detail.get("recommendation", "")
        for item in detail.get("categorySpecificSummary", {}).get("deprecationDetails", ()):
            clients = ", ".join(stat.get("userAgent", "?") for stat in item.get("clientStats", ())) or "no client lately"
            uses.append(f"{item.get('usage', '?')} ({clients})")
    refreshed = str(entry.get("lastRefreshTime", ""))[:10]
    return Insight(
        entry["name"], entry.get("kubernetesVersion", ""), status["status"], status.get("reason", ""), about, refreshed, tuple(uses)
    )
