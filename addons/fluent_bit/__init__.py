"""Fluent Bit: the logs of all pods, from all nodes, to CloudWatch Logs and by wish to S3."""

from typing import Annotated

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import FLUENT_BIT
from facts import text_formats
from facts.section import Formed

NAMESPACE = "logging"
SERVICE_ACCOUNT = "aws-for-fluent-bit"


class FluentBitSettings(AddonSettings):
    """Fluent Bit."""

    enabled: bool = False
    """Send the logs of all pods to the log group /aws/eks/NAME/pods."""
    retention_days: int = 30
    """Days that the logs are kept in CloudWatch."""
    s3_bucket: Annotated[str, Formed(text_formats.BUCKET)] | None = None
    """A bucket of yours that gets them too. None by default; the stack neither makes nor deletes it."""


DECLARATION = Declaration(
    key="fluentBit",
    title="Fluent Bit",
    purpose="Sends the logs of all pods to CloudWatch Logs, and by wish to S3",
    component="fluent-bit",
    namespace=NAMESPACE,
    nodes="all",
    settings=FluentBitSettings,
    charts=(FLUENT_BIT,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("logs", "s3"),
    called_in=lambda cluster: ("logs", "s3") if cluster.section(FluentBitSettings).s3_bucket else ("logs",),
    leaves=("the position database /var/log/flb_kube.db on each node", "what was written to S3"),
)
