"""Grafana with dashboards of cores, device memory, EFA, file systems and jobs.

Its administrator's password is made by the chart inside the cluster on the first install, and found again there on each
upgrade: neither configuration, state nor outputs ever hold it.
"""

from pydantic import Field

from addons import prometheus
from addons.declaration import Declaration
from addons.managed_prometheus import ManagedPrometheusSettings
from addons.section import AddonSettings
from addons.versions import GRAFANA
from facts.section import KUBERNETES_NAME

NAMESPACE = prometheus.NAMESPACE
SERVICE_ACCOUNT = "grafana"


class GrafanaSettings(AddonSettings):
    """Grafana with the cluster's dashboards."""

    enabled: bool = False
    """Install Grafana. Its password is made in the cluster; the output `grafanaPassword` has the command that shows it."""
    admin_secret: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """A Secret of your own in the namespace `monitoring`, with the keys `admin-user` and `admin-password`, in place of the made one."""


DECLARATION = Declaration(
    key="grafana",
    title="Grafana",
    purpose="Dashboards of cores, device memory, EFA, file systems and jobs",
    component="grafana",
    namespace=NAMESPACE,
    nodes="core",
    settings=GrafanaSettings,
    charts=(GRAFANA,),
    needs=("prometheus",),
    after=("prometheus", "managedPrometheus"),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("aps-workspaces",),
    called_in=lambda cluster: ("aps-workspaces",) if cluster.section(ManagedPrometheusSettings).enabled else (),
)
