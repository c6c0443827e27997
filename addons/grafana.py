"""Grafana with dashboards of cores, device memory, EFA, file systems and jobs.

Its administrator's password is made by the chart inside the cluster on the first install, and found again there on each
upgrade: neither configuration, state nor outputs ever hold it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.prometheus_values import NAMESPACE, URL
from addons.versions import GRAFANA

DASHBOARDS = Path(__file__).parent / "dashboards"
DASHBOARD_LABEL = "grafana_dashboard"
"""By which the chart's sidecar finds ConfigMaps."""
DECLARATION = Declaration(
    key="grafana",
    title="Grafana",
    purpose="Dashboards of cores, device memory, EFA, file systems and jobs",
    component="grafana",
    namespace=NAMESPACE,
    nodes="core",
    charts=(GRAFANA,),
    needs=("prometheus",),
)


@dataclass(frozen=True)
class GrafanaArgs(AddonArgs):
    """What Grafana is made from."""

    admin_secret: str | None = None
    """A Secret of your own in the namespace, with the keys `admin-user` and `admin-password`."""


def grafana_values(args: GrafanaArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    prometheus = {"name": "Prometheus", "uid": "prometheus", "type": "prometheus", "url": URL, "isDefault": True}
    values: Values = {
        "datasources": {"datasources.yaml": {"apiVersion": 1, "datasources": [prometheus]}},
        "sidecar": {"dashboards": {"enabled": True}},
        # Nothing in it is worth a volume: dashboards come from files.
        "persistence": {"enabled": False},
        "grafana.ini": {"analytics": {"check_for_updates": False, "reporting_enabled": False}},
        "resources": {"requests": {"cpu": "50m", "memory": "192Mi"}, "limits": {"memory": "512Mi"}},
    }
    return {**values, "admin": {"existingSecret": args.admin_secret}} if args.admin_secret else values


def dashboards() -> Mapping[str, str]:
    """The dashboards' JSON by name."""
    return {path.stem: path.read_text() for path in sorted(DASHBOARDS.glob("*.json"))}


class Grafana(Addon):
    """Starts when untainted nodes are there; needs Prometheus's namespace, not Prometheus."""

    def __init__(self, name: str, args: GrafanaArgs, namespace: k8s.core.v1.Namespace, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Grafana", name, args, opts)
        maps = [
            k8s.core.v1.ConfigMap(
                f"dashboard-{key}",
                metadata={"name": f"dashboard-{key}", "namespace": NAMESPACE, "labels": {DASHBOARD_LABEL: "1"}},
                data={f"{key}.json": text},
                opts=self.in_cluster(namespace),
            )
            for key, text in dashboards().items()
        ]
        self.release(GRAFANA, namespace=NAMESPACE, values=grafana_values(args), timeout_s=600, after=[namespace, *maps])
        self.register_outputs({})
