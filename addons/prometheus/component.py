"""kube-prometheus-stack as a component, with what it scrapes and its alerts."""

from functools import cache
from pathlib import Path
from typing import Any

import pulumi_kubernetes as k8s
import yaml

from addons.base import Addon
from addons.managed_prometheus.component import ManagedPrometheus
from addons.prometheus import API_VERSION, NAMESPACE
from addons.prometheus.values import POD_MONITORS, SERVICE_MONITORS, RemoteWrite, prometheus_values
from addons.site import Site
from addons.versions import PROMETHEUS

ALERTS = Path(__file__).parent / "alerts.yaml"


@cache
def alert_rules() -> dict[str, Any]:
    """`spec` of the PrometheusRule, read once: not to be changed."""
    return yaml.safe_load(ALERTS.read_text())


class Prometheus(Addon):
    """Starts when untainted nodes are there; its monitors and rules go before its CRDs lose their operator."""

    namespace_resource: k8s.core.v1.Namespace

    def __init__(self, name: str, site: Site) -> None:
        super().__init__("Prometheus", name, site)
        self.namespace_resource = self.namespace(NAMESPACE)
        workspace = site.find("managedPrometheus", ManagedPrometheus)
        values = prometheus_values(site.cluster, RemoteWrite(workspace.remote_write_url, workspace.association_id) if workspace else None)
        # The workspace's right to write comes first, where there is one.
        after = [self.namespace_resource, *site.ready("managedPrometheus")]
        release = self.release(PROMETHEUS, namespace=NAMESPACE, values=values, timeout_s=900, after=after)
        for kind, specs in (
            ("PodMonitor", POD_MONITORS),
            ("ServiceMonitor", SERVICE_MONITORS),
            ("PrometheusRule", {"training": alert_rules()}),
        ):
            for key, spec in specs.items():
                metadata = {"name": key, "namespace": NAMESPACE}
                self.custom_resource(f"{kind.lower()}-{key}", API_VERSION, kind, metadata=metadata, spec=spec, after=[release])
        self.register_outputs({})


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    return Prometheus("prometheus", site)
