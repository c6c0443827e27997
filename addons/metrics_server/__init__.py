"""metrics-server: what nodes and pods use now, for `kubectl top` and horizontal autoscaling."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import METRICS_SERVER

NAMESPACE = "kube-system"


class MetricsServerSettings(AddonSettings):
    """metrics-server: `kubectl top` and horizontal autoscaling."""

    enabled: bool = False
    """Serve the metrics API."""


DECLARATION = Declaration(
    key="metricsServer",
    title="metrics-server",
    purpose="Serves the metrics API: `kubectl top` and horizontal pod autoscaling",
    component="metrics-server",
    namespace=NAMESPACE,
    nodes="core",
    settings=MetricsServerSettings,
    charts=(METRICS_SERVER,),
)
