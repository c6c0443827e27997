"""CloudWatch Container Insights as a component."""

from typing import Any

import pulumi
import pulumi_aws as aws

from addons.base import Addon
from addons.cloudwatch import EKS_NAME, NAMESPACE, SERVICE_ACCOUNT, CloudWatchSettings
from addons.managed import ManagedAddon, ManagedAddonArgs
from addons.site import Site
from addons.versions import managed_addon_version
from components.identity import ServiceAccount
from facts import names, regions
from facts.policies.watching import container_insights_policy

LOG_GROUPS = ("performance", "application", "dataplane", "host")
"""Below /aws/containerinsights/NAME; the agent would make them itself, without a retention."""


def cloudwatch_configuration(settings: CloudWatchSettings) -> dict[str, Any]:
    """Values in the add-on's own schema. Metrics are billed one by one, so those of devices are asked for.

    `neuronMonitor` is in the schema: public Terraform sets it on `aws_eks_addon`, and public logs of 2026 show the update as Successful.
    Its default is on, also where `accelerated_compute_metrics` is off, and it would read the runtimes beside our own neuron-monitor.
    """
    kubernetes = {"enhanced_container_insights": True, "accelerated_compute_metrics": settings.neuron_metrics}
    return {
        "containerLogs": {"enabled": settings.container_logs},
        "neuronMonitor": {"enabled": settings.neuron_metrics},
        "agent": {"config": {"logs": {"metrics_collected": {"kubernetes": kubernetes}}}},
    }


class CloudWatch(Addon):
    """Starts when untainted nodes are there: its operator is a Deployment."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("CloudWatch", name, site)
        cluster = site.cluster
        settings = cluster.section(CloudWatchSettings)
        groups = [
            aws.cloudwatch.LogGroup(
                self.named(f"{name}-{key}"),
                name=names.container_insights_log_group(cluster.name, key),
                retention_in_days=settings.retention_days,
                opts=self.child(),
            )
            for key in LOG_GROUPS
        ]
        policy = container_insights_policy(regions.partition(cluster.region), cluster.region, cluster.name)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "cloudwatch-agent", policy=policy)
        version = managed_addon_version(EKS_NAME, cluster.kubernetes_version)
        configuration = cloudwatch_configuration(settings)
        managed = ManagedAddonArgs(EKS_NAME, version, site.control_plane_name, account=account, configuration=configuration)
        ManagedAddon(EKS_NAME, managed, after=[site.core, *groups], opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return CloudWatch("cloudwatch", site)
