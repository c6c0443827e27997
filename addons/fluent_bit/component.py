"""Fluent Bit as a component, with its log group."""

import pulumi_aws as aws

from addons.base import Addon
from addons.cluster import Cluster
from addons.fluent_bit import NAMESPACE, SERVICE_ACCOUNT, FluentBitSettings
from addons.images import Values
from addons.site import Site
from addons.versions import FLUENT_BIT
from components.identity import ServiceAccount
from facts import names, regions
from facts.policies.watching import log_shipper_policy


def log_group(cluster: Cluster) -> str:
    """Where the logs go."""
    return names.pod_log_group(cluster.name)


def fluent_bit_values(cluster: Cluster) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    bucket = cluster.section(FluentBitSettings).s3_bucket
    values: Values = {
        # The chart tolerates nothing: no log would leave a Neuron node.
        "tolerations": [{"operator": "Exists"}],
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "cloudWatchLogs": {
            # us-east-1 by default, also in other regions.
            "region": cluster.region,
            "logGroupName": log_group(cluster),
            # The program's: one that Fluent Bit made would keep its logs for ever and outlive the cluster.
            "autoCreateGroup": False,
        },
        "resources": {"requests": {"cpu": "50m", "memory": "50Mi"}, "limits": {"memory": "250Mi"}},
    }
    return {**values, "additionalOutputs": _s3_output(bucket, cluster)} if bucket else values


def _s3_output(bucket: str, cluster: Cluster) -> str:
    """Objects of 50 MB or ten minutes, by day."""
    settings = {
        "Name": "s3",
        "Match": "*",
        "bucket": bucket,
        "region": cluster.region,
        "total_file_size": "50M",
        "upload_timeout": "10m",
        "use_put_object": "On",
        "s3_key_format": f"/{cluster.name}/%Y/%m/%d/$TAG-$UUID.gz",
        "compression": "gzip",
    }
    return "\n".join(["[OUTPUT]", *(f"    {key} {value}" for key, value in settings.items()), ""])


class FluentBit(Addon):
    """Needs the API server only: its pods follow the nodes. The log group is deleted after the last writer."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("FluentBit", name, site)
        cluster = site.cluster
        settings, logs = cluster.section(FluentBitSettings), log_group(cluster)
        group = aws.cloudwatch.LogGroup(self.named(f"{name}-pods"), name=logs, retention_in_days=settings.retention_days, opts=self.child())
        policy = log_shipper_policy(regions.partition(cluster.region), cluster.region, logs, settings.s3_bucket)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "fluent-bit", policy=policy)
        after = [self.namespace(NAMESPACE), self.identity(account, site.control_plane_name).association, group]
        self.release(FLUENT_BIT, namespace=NAMESPACE, values=fluent_bit_values(cluster), timeout_s=300, after=after)
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return FluentBit("fluent-bit", site)
