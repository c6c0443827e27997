"""Amazon Managed Service for Prometheus: a workspace that keeps what the cluster's own Prometheus forgets."""

from typing import Annotated

from addons import prometheus
from addons.declaration import Declaration
from addons.section import AddonSettings
from facts import text_formats
from facts.section import Formed


class ManagedPrometheusSettings(AddonSettings):
    """Amazon Managed Service for Prometheus."""

    enabled: bool = False
    """Make a workspace and let Prometheus write to it. Billed by samples; the workspace, with its data, is deleted with the stack."""
    workspace_arn: Annotated[str, Formed(text_formats.WORKSPACE_ARN)] | None = None
    """A workspace that others keep, of the stack's account and region, in place of one of the stack's own: Prometheus writes to it and Grafana reads it, and it stays when the stack is destroyed. An own workspace is deleted, with its data, when this is set."""


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
    endpoints=("aps-workspaces",),
)
