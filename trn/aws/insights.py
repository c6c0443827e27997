"""EKS's own checks before an upgrade: upgrade insights, which it makes anew once a day."""

from dataclasses import dataclass

from facts.resources.rights import CLUSTER
from trn.aws.api import Api, Call

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
