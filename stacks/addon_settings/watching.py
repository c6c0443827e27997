"""Sections of what watches the cluster: metrics, dashboards, logs, health."""

from pydantic import Field

from stacks.section import KUBERNETES_NAME, Section


class PrometheusAddon(Section):
    """kube-prometheus-stack."""

    enabled: bool = False
    """Prometheus with exporters of nodes and objects, monitors of what trains, and alerts."""
    retention_hours: int = Field(default=48, ge=2, le=720)
    """Hours that metrics stay in the cluster. They go with the pod; what must stay longer goes to Amazon Managed Prometheus."""
    alertmanager: bool = False
    """Also run Alertmanager. Without it alerts are seen in Prometheus and Grafana only."""


class ManagedPrometheusAddon(Section):
    """Amazon Managed Service for Prometheus."""

    enabled: bool = False
    """Make a workspace and let Prometheus write to it. Billed by samples; the workspace, and what is in it, goes with the stack."""


class GrafanaAddon(Section):
    """Grafana with the cluster's dashboards."""

    enabled: bool = False
    """Install Grafana. Its password is made in the cluster; the output `grafanaPassword` has the command that shows it."""
    admin_secret: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """A Secret of your own in the namespace `monitoring`, with the keys `admin-user` and `admin-password`, in place of the made one."""


class NeuronMonitorAddon(Section):
    """neuron-monitor."""

    enabled: bool = False
    """Metrics of NeuronCores and device memory on every Neuron node."""


class EfaExporterAddon(Section):
    """Exporter of EFA's hardware counters."""

    enabled: bool = False
    """Metrics of EFA traffic on every EFA node."""


class CloudWatchAddon(Section):
    """CloudWatch Container Insights, EKS's add-on `amazon-cloudwatch-observability`."""

    enabled: bool = False
    """Metrics of nodes and pods in CloudWatch, billed by metric."""
    neuron_metrics: bool = False
    """Also metrics of Neuron devices and EFA, by a monitor of its own: not beside `addons.neuronMonitor`."""
    container_logs: bool = False
    """Also the logs of pods: not beside `addons.fluentBit`."""
    retention_days: int = 30
    """Days that its logs are kept."""


class FluentBitAddon(Section):
    """Fluent Bit."""

    enabled: bool = False
    """Send the logs of all pods to the log group /aws/eks/NAME/pods."""
    retention_days: int = 30
    """Days that the logs are kept in CloudWatch."""
    s3_bucket: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
    """A bucket of yours that gets them too. None by default; the stack neither makes nor deletes it."""


class NodeMonitoringAddon(Section):
    """EKS node monitoring agent."""

    enabled: bool = False
    """Let node repair see broken devices, disks and networks. `nodeGroups.NAME.nodeRepair` acts on what it finds."""
