"""The workspace of Amazon Managed Prometheus as a component."""

import pulumi
import pulumi_aws as aws

from addons.base import Addon
from addons.managed_prometheus import ManagedPrometheusSettings
from addons.prometheus import NAMESPACE, SERVICE_ACCOUNT
from addons.site import Site
from components.identity import ServiceAccount
from facts.external.workspace import endpoint
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
        given = cluster.section(ManagedPrometheusSettings).workspace_arn
        if given is None:
            workspace = aws.amp.Workspace(self.named(name), alias=cluster.name, opts=self.child())
            self.arn, self.endpoint = workspace.arn, workspace.prometheus_endpoint
        else:
            self.arn, self.endpoint = pulumi.Output.from_input(given), pulumi.Output.from_input(endpoint(given))
        policy = self.arn.apply(remote_write_policy)
        account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "remote-write", policy=policy)
        association = self.identity(account, site.control_plane_name).association
        self.ready.append(association)
        self.association_id = association.association_id
        self.remote_write_url = self.endpoint.apply(lambda url: f"{url}api/v1/remote_write")
        self.register_outputs({"remote_write_url": self.remote_write_url})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return ManagedPrometheus("managed-prometheus", site)
