"""metrics-server as a component."""

from addons.base import Addon
from addons.images import Values
from addons.metrics_server import NAMESPACE
from addons.plain import PlainChart
from addons.site import Site
from addons.versions import METRICS_SERVER


def metrics_server_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        # An API service without a pod behind it blocks the deletion of every namespace: one replica is one drain away from that.
        "replicas": 2,
        "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
    }


def make(site: Site) -> Addon:
    """The add-on of a cluster. It is deleted while untainted nodes are there: a dead API service blocks the deletion of namespaces."""
    return PlainChart("MetricsServer", "metrics-server", METRICS_SERVER, NAMESPACE, metrics_server_values(), site)
