"""kube-prometheus-stack: Prometheus, its operator, exporters of nodes and objects, what to scrape, and alerts."""

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import PROMETHEUS

NAMESPACE = "monitoring"
SERVICE_ACCOUNT = "prometheus"
URL = f"http://kube-prometheus-stack-prometheus.{NAMESPACE}:9090"
SCRAPE_INTERVAL = "30s"
"""Of every target that sets none. Grafana takes four of them as the shortest range of a rate."""
API_VERSION = "monitoring.coreos.com/v1"


class PrometheusSettings(AddonSettings):
    """kube-prometheus-stack."""

    enabled: bool = False
    """Prometheus with exporters of nodes and objects, monitors of what trains, and alerts."""
    retention_hours: int = Field(default=48, ge=2, le=720)
    """Hours that metrics stay in the cluster. They are lost with the pod; send what must stay longer to Amazon Managed Prometheus."""
    alertmanager: bool = False
    """Also run Alertmanager. Without it alerts are seen in Prometheus and Grafana only."""


DECLARATION = Declaration(
    key="prometheus",
    title="kube-prometheus-stack",
    purpose="Prometheus with exporters of nodes and objects, monitors of what trains, and alerts",
    component="prometheus",
    namespace=NAMESPACE,
    nodes="all",
    settings=PrometheusSettings,
    charts=(PROMETHEUS,),
    after=("managedPrometheus",),
    kinds=tuple(f"{API_VERSION} {kind}" for kind in ("PodMonitor", "ServiceMonitor", "PrometheusRule")),
    leaves=(
        "10 CRDs of monitoring.coreos.com",
        "Service kube-prometheus-stack-kubelet in kube-system, which the operator makes",
    ),
)
