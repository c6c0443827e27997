"""Grafana as a component, with its dashboards as ConfigMaps."""

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon
from addons.grafana import NAMESPACE, SERVICE_ACCOUNT, GrafanaSettings
from addons.grafana.values import Workspace, dashboards, grafana_values, managed_dashboards
from addons.managed_prometheus.component import ManagedPrometheus
from addons.prometheus.component import Prometheus
from addons.site import Site
from addons.versions import GRAFANA
from components.identity import ServiceAccount
from facts.policies.watching import query_policy

DASHBOARD_LABEL = "grafana_dashboard"
"""By which the chart's sidecar finds ConfigMaps."""


class Grafana(Addon):
    """Starts when untainted nodes are there; needs Prometheus's namespace, not Prometheus."""

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Grafana", name, site)
        cluster, prometheus = site.cluster, site.find("prometheus", Prometheus)
        assert prometheus is not None, "the rules let no Grafana pass without Prometheus"
        shown, after, workspace = {**dashboards()}, list[pulumi.Resource](), None
        # Read by a plug-in from grafana.com, which a cluster with a mirror is taken not to reach.
        managed = site.find("managedPrometheus", ManagedPrometheus) if cluster.addons.mirror is None else None
        if managed is not None:
            shown |= managed_dashboards()
            policy = managed.arn.apply(query_policy)
            account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "grafana", policy=policy)
            association = self.identity(account, site.control_plane_name).association
            after.append(association)
            workspace = Workspace(cluster.region, managed.endpoint, association.association_id)
        namespace = prometheus.namespace_resource
        after += [
            k8s.core.v1.ConfigMap(
                self.named(f"dashboard-{key}"),
                metadata={"name": f"dashboard-{key}", "namespace": NAMESPACE, "labels": {DASHBOARD_LABEL: "1"}},
                data={f"{key}.json": text},
                opts=self.in_cluster(namespace),
            )
            for key, text in shown.items()
        ]
        values = grafana_values(cluster.section(GrafanaSettings), workspace)
        self.release(GRAFANA, namespace=NAMESPACE, values=values, timeout_s=600, after=[namespace, *after])
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Grafana("grafana", site)
