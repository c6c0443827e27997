"""metrics-server: what nodes and pods use now, for `kubectl top` and horizontal autoscaling."""

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import METRICS_SERVER

NAMESPACE = "kube-system"
DECLARATION = Declaration(
    key="metricsServer",
    title="metrics-server",
    purpose="Serves the metrics API: `kubectl top` and horizontal pod autoscaling",
    component="metrics-server",
    namespace=NAMESPACE,
    nodes="core",
    charts=(METRICS_SERVER,),
)


def metrics_server_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        # An API service without a pod behind it blocks the deletion of every namespace: one replica is one drain away from that.
        "replicas": 2,
        "podDisruptionBudget": {"enabled": True, "minAvailable": 1},
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
    }


class MetricsServer(Addon):
    """Starts when untainted nodes are there, and goes while they are: a dead API service holds namespaces."""

    def __init__(self, name: str, args: AddonArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("MetricsServer", name, args, opts)
        self.release(METRICS_SERVER, namespace=NAMESPACE, values=metrics_server_values(), timeout_s=300)
        self.register_outputs({})
