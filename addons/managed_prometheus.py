"""Amazon Managed Service for Prometheus: a workspace that keeps what the cluster's own Prometheus forgets."""

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.prometheus_values import NAMESPACE, SERVICE_ACCOUNT
from components.identity import ServiceAccount
from facts.policies.watching import remote_write_policy

DECLARATION = Declaration(
    key="managedPrometheus",
    title="Amazon Managed Prometheus",
    purpose="A workspace that Prometheus writes to and Grafana reads, each with a role of its own; metrics stay 150 days",
    component="managed-prometheus",
    namespace=NAMESPACE,
    nodes="none",
    needs=("prometheus",),
    changes=("prometheus", "grafana"),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
)


@dataclass(frozen=True)
class ManagedPrometheusArgs(AddonArgs):
    """What the workspace is made from."""

    cluster_name: str
    region: str
    control_plane_name: pulumi.Input[str]


class ManagedPrometheus(Addon):
    """Starts at once: nothing in it needs the cluster but the association."""

    arn: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    remote_write_url: pulumi.Output[str]

    def __init__(self, name: str, args: ManagedPrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("ManagedPrometheus", name, args, opts)
        workspace = aws.amp.Workspace(name, alias=args.cluster_name, opts=self.child())
        account = ServiceAccount(
            args.cluster_name, args.region, NAMESPACE, SERVICE_ACCOUNT, "remote-write", policy=workspace.arn.apply(remote_write_policy)
        )
        self.ready.append(self.identity(account, args.control_plane_name).association)
        self.arn, self.endpoint = workspace.arn, workspace.prometheus_endpoint
        self.remote_write_url = workspace.prometheus_endpoint.apply(lambda endpoint: f"{endpoint}api/v1/remote_write")
        self.register_outputs({"remote_write_url": self.remote_write_url})
