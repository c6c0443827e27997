"""CloudWatch Container Insights by EKS's add-on, with log groups that go with the cluster."""

from addons.declaration import Declaration
from addons.section import AddonSettings

EKS_NAME = "amazon-cloudwatch-observability"
NAMESPACE = "amazon-cloudwatch"
SERVICE_ACCOUNT = "cloudwatch-agent"


class CloudWatchSettings(AddonSettings):
    """CloudWatch Container Insights, EKS's add-on `amazon-cloudwatch-observability`."""

    enabled: bool = False
    """Metrics of nodes and pods in CloudWatch, billed by metric."""
    neuron_metrics: bool = False
    """Also metrics of Neuron devices and EFA, by a monitor of its own: not beside `addons.neuronMonitor`."""
    container_logs: bool = False
    """Also the logs of pods: not beside `addons.fluentBit`."""
    retention_days: int = 30
    """Days that its logs are kept."""


DECLARATION = Declaration(
    key="cloudWatch",
    title="CloudWatch observability",
    purpose="Container Insights: metrics of nodes and pods in CloudWatch, by wish of Neuron devices and EFA too",
    component="cloudwatch",
    namespace=NAMESPACE,
    nodes="all",
    settings=CloudWatchSettings,
    managed=(EKS_NAME,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("logs", "monitoring", "ec2"),
    leaves=("4 CRDs of cloudwatch.aws.amazon.com",),
)
