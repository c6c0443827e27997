"""Amazon Managed Service for Prometheus: a workspace that keeps what the cluster's own Prometheus forgets."""

from addons import prometheus
from addons.declaration import Declaration
from addons.section import AddonSettings


class ManagedPrometheusSettings(AddonSettings):
    """Amazon Managed Service for Prometheus."""

    enabled: bool = False
    """Make a workspace and let Prometheus write to it. Billed by samples; the workspace, with its data, is deleted with the stack."""


DECLARATION = Declaration(
    key="managedPrometheus",
    title="Amazon Managed Prometheus",
    purpose="A workspace that Prometheus writes to and Grafana reads, each with a role of its own; metrics stay 150 days",
    component="managed-prometheus",
    namespace=prometheus.NAMESPACE,
    nodes="none",
    settings=ManagedPrometheusSettings,
    needs=("prometheus",),
    changes=("prometheus", "grafana"),
    identities=(f"{prometheus.NAMESPACE}/{prometheus.SERVICE_ACCOUNT}",),
)
