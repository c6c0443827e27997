"""The workspace of Amazon Managed Prometheus as a component."""

import pulumi
import pulumi_aws as aws

from addons.base import Addon
from addons.prometheus import NAMESPACE, SERVICE_ACCOUNT
from addons.site import Site
from components.identity import ServiceAccount
from facts.policies.watching import remote_write_policy


class ManagedPrometheus(Addon):
    """Starts at once: nothing in it needs the cluster but the association."""

    arn: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    remote_write_url: pulumi.Output[str]
    association_id: pulumi.Output[str]
    """Of the right to write."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("ManagedPrometheus", name, site)
        cluster = site.cluster
        workspace = aws.amp.Workspace(self.named(name), alias=cluster.name, opts=self.child())
        policy = workspace.arn.apply(remote_write_policy)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "remote-write", policy=policy)
        association = self.identity(account, site.control_plane_name).association
        self.ready.append(association)
        self.association_id = association.association_id
        self.arn, self.endpoint = workspace.arn, workspace.prometheus_endpoint
        self.remote_write_url = workspace.prometheus_endpoint.apply(lambda endpoint: f"{endpoint}api/v1/remote_write")
        self.register_outputs({"remote_write_url": self.remote_write_url})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return ManagedPrometheus("managed-prometheus", site)
