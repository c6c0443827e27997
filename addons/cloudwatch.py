"""CloudWatch Container Insights by EKS's add-on, with log groups that go with the cluster."""

from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.managed import ManagedAddon, ManagedAddonArgs
from components.identity import ServiceAccount
from facts import regions
from facts.policies.watching import container_insights_policy

EKS_NAME = "amazon-cloudwatch-observability"
NAMESPACE = "amazon-cloudwatch"
SERVICE_ACCOUNT = "cloudwatch-agent"
LOG_GROUPS = ("performance", "application", "dataplane", "host")
"""Below /aws/containerinsights/NAME; the agent would make them itself, without a retention."""
DECLARATION = Declaration(
    key="cloudWatch",
    title="CloudWatch observability",
    purpose="Container Insights: metrics of nodes and pods in CloudWatch, by wish of Neuron devices and EFA too",
    component="cloudwatch",
    namespace=NAMESPACE,
    nodes="all",
    managed=(EKS_NAME,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    leaves=("4 CRDs of cloudwatch.aws.amazon.com",),
)


@dataclass(frozen=True)
class CloudWatchArgs(AddonArgs):
    """What the add-on is made from."""

    cluster_name: str
    region: str
    version: str
    control_plane_name: pulumi.Input[str]
    neuron_metrics: bool = False
    container_logs: bool = False
    retention_days: int = 30


def cloudwatch_configuration(args: CloudWatchArgs) -> dict[str, Any]:
    """Values in the add-on's own schema. Metrics are billed one by one, so those of devices are asked for."""
    kubernetes = {"enhanced_container_insights": True, "accelerated_compute_metrics": args.neuron_metrics}
    return {
        "containerLogs": {"enabled": args.container_logs},
        "agent": {"config": {"logs": {"metrics_collected": {"kubernetes": kubernetes}}}},
    }


class CloudWatch(Addon):
    """Starts when untainted nodes are there: its operator is a Deployment."""

    def __init__(
        self, name: str, args: CloudWatchArgs, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource]
    ) -> None:
        """`after`: the untainted nodes."""
        super().__init__("CloudWatch", name, args, opts)
        groups = [
            aws.cloudwatch.LogGroup(
                f"{name}-{key}",
                name=f"/aws/containerinsights/{args.cluster_name}/{key}",
                retention_in_days=args.retention_days,
                opts=self.child(),
            )
            for key in LOG_GROUPS
        ]
        policy = container_insights_policy(regions.partition(args.region), args.region, args.cluster_name)
        account = ServiceAccount(args.cluster_name, args.region, NAMESPACE, SERVICE_ACCOUNT, "cloudwatch-agent", policy=policy)
        managed = ManagedAddonArgs(
            EKS_NAME, args.version, args.control_plane_name, account=account, configuration=cloudwatch_configuration(args)
        )
        ManagedAddon(EKS_NAME, managed, after=[*after, *groups], opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})
