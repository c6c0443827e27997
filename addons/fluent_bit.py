"""Fluent Bit: the logs of all pods, from all nodes, to CloudWatch Logs and by wish to S3."""

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import FLUENT_BIT
from components.identity import ServiceAccount
from facts import regions
from facts.policies.watching import log_shipper_policy

NAMESPACE = "logging"
SERVICE_ACCOUNT = "aws-for-fluent-bit"
DECLARATION = Declaration(
    key="fluentBit",
    title="Fluent Bit",
    purpose="Sends the logs of all pods to CloudWatch Logs, and by wish to S3",
    component="fluent-bit",
    namespace=NAMESPACE,
    nodes="all",
    charts=(FLUENT_BIT,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    leaves=("the position database /var/log/flb_kube.db on each node", "what was written to S3"),
)


@dataclass(frozen=True)
class FluentBitArgs(AddonArgs):
    """What Fluent Bit is made from."""

    cluster_name: str
    region: str
    retention_days: int = 30
    s3_bucket: str | None = None

    @property
    def log_group(self) -> str:
        """Where the logs go."""
        return f"/aws/eks/{self.cluster_name}/pods"


def fluent_bit_values(args: FluentBitArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    values: Values = {
        # The chart tolerates nothing: no log would leave a Neuron node.
        "tolerations": [{"operator": "Exists"}],
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "cloudWatchLogs": {
            # us-east-1 by default, whatever the cluster's region.
            "region": args.region,
            "logGroupName": args.log_group,
            # The program's: one that Fluent Bit made would keep its logs for ever and outlive the cluster.
            "autoCreateGroup": False,
        },
        "resources": {"requests": {"cpu": "50m", "memory": "50Mi"}, "limits": {"memory": "250Mi"}},
    }
    return {**values, "additionalOutputs": _s3_output(args.s3_bucket, args)} if args.s3_bucket else values


def _s3_output(bucket: str, args: FluentBitArgs) -> str:
    """Objects of 50 MB or ten minutes, by day."""
    settings = {
        "Name": "s3",
        "Match": "*",
        "bucket": bucket,
        "region": args.region,
        "total_file_size": "50M",
        "upload_timeout": "10m",
        "use_put_object": "On",
        "s3_key_format": f"/{args.cluster_name}/%Y/%m/%d/$TAG-$UUID.gz",
        "compression": "gzip",
    }
    return "\n".join(["[OUTPUT]", *(f"    {key} {value}" for key, value in settings.items()), ""])


class FluentBit(Addon):
    """Needs the API server only: its pods follow the nodes. The log group goes after the last writer."""

    def __init__(
        self, name: str, args: FluentBitArgs, control_plane_name: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("FluentBit", name, args, opts)
        group = aws.cloudwatch.LogGroup(f"{name}-pods", name=args.log_group, retention_in_days=args.retention_days, opts=self.child())
        partition = regions.partition(args.region)
        policy = log_shipper_policy(partition, args.region, args.log_group, args.s3_bucket)
        account = ServiceAccount(args.cluster_name, args.region, NAMESPACE, SERVICE_ACCOUNT, "fluent-bit", policy=policy)
        identity = self.identity(account, control_plane_name)
        after = [self.namespace(NAMESPACE), identity.association, group]
        self.release(FLUENT_BIT, namespace=NAMESPACE, values=fluent_bit_values(args), timeout_s=300, after=after)
        self.register_outputs({})
