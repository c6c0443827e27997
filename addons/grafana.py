"""Grafana with dashboards of cores, device memory, EFA, file systems and jobs.

Its administrator's password is made by the chart inside the cluster on the first install, and found again there on each
upgrade: neither configuration, state nor outputs ever hold it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.prometheus_values import NAMESPACE, URL
from addons.versions import GRAFANA, MANAGED_PROMETHEUS_PLUGIN_VERSION
from components.identity import ServiceAccount
from facts.policies.watching import query_policy

DASHBOARDS = Path(__file__).parent / "dashboards"
DASHBOARD_LABEL = "grafana_dashboard"
"""By which the chart's sidecar finds ConfigMaps."""
SERVICE_ACCOUNT = "grafana"
MANAGED = "managed-prometheus"
"""Uid of the data source that reads the workspace."""
MANAGED_PLUGIN = "grafana-amazonprometheus-datasource"
"""Grafana 13 signs nothing in its own Prometheus data source any more (Grafana documentation, aws-authentication)."""
DECLARATION = Declaration(
    key="grafana",
    title="Grafana",
    purpose="Dashboards of cores, device memory, EFA, file systems and jobs",
    component="grafana",
    namespace=NAMESPACE,
    nodes="core",
    charts=(GRAFANA,),
    needs=("prometheus",),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
)


@dataclass(frozen=True)
class WorkspaceArgs:
    """A workspace of Amazon Managed Prometheus, and who may read it."""

    cluster_name: str
    region: str
    control_plane_name: pulumi.Input[str]
    arn: pulumi.Input[str]
    endpoint: pulumi.Input[str]


@dataclass(frozen=True)
class GrafanaArgs(AddonArgs):
    """What Grafana is made from."""

    admin_secret: str | None = None
    """A Secret of your own in the namespace, with the keys `admin-user` and `admin-password`."""
    workspace: WorkspaceArgs | None = None
    """Read as a second source, for what Prometheus has forgotten."""


def grafana_values(args: GrafanaArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    sources: list[Values] = [{"name": "Prometheus", "uid": "prometheus", "type": "prometheus", "url": URL, "isDefault": True}]
    ini: Values = {"analytics": {"check_for_updates": False, "reporting_enabled": False}}
    more: Values = {}
    if args.workspace is not None:
        sources.append(_managed_source(args.workspace))
        ini["auth"] = {"sigv4_auth_enabled": True}
        # Fetched from grafana.com as Grafana starts.
        more["plugins"] = [f"{MANAGED_PLUGIN}@{MANAGED_PROMETHEUS_PLUGIN_VERSION}"]
    if args.admin_secret:
        more["admin"] = {"existingSecret": args.admin_secret}
    return {
        "datasources": {"datasources.yaml": {"apiVersion": 1, "datasources": sources}},
        "sidecar": {"dashboards": {"enabled": True}},
        # Nothing in it is worth a volume: dashboards come from files.
        "persistence": {"enabled": False},
        "grafana.ini": ini,
        "serviceAccount": {"name": SERVICE_ACCOUNT},
        "resources": {"requests": {"cpu": "50m", "memory": "192Mi"}, "limits": {"memory": "512Mi"}},
        **more,
    }


def _managed_source(workspace: WorkspaceArgs) -> Values:
    # The signature comes from the service account's Pod Identity: no keys stand here.
    signed = {"httpMethod": "POST", "sigV4Auth": True, "sigV4AuthType": "default", "sigV4Region": workspace.region}
    return {"name": "Amazon Managed Prometheus", "uid": MANAGED, "type": MANAGED_PLUGIN, "url": workspace.endpoint, "jsonData": signed}


def dashboards() -> Mapping[str, str]:
    """The dashboards' JSON by name."""
    return {path.stem: path.read_text() for path in sorted(DASHBOARDS.glob("*.json"))}


def managed_dashboards() -> Mapping[str, str]:
    """The same dashboards over the workspace, for looks at more than Prometheus keeps.

    One set with a choice of source would not do: such a choice lists the sources of one plug-in only.
    """
    return {f"{key}-managed": json.dumps(_over_workspace(json.loads(text)), indent=1) for key, text in dashboards().items()}


def _over_workspace(model: Values) -> Values:
    source = {"type": MANAGED_PLUGIN, "uid": MANAGED}
    return {
        **model,
        "uid": f"{model['uid']}-managed",
        "title": f"{model['title']} (Amazon Managed Prometheus)",
        "time": {"from": "now-14d", "to": "now"},
        "panels": [{**panel, "datasource": source} for panel in model["panels"]],
    }


class Grafana(Addon):
    """Starts when untainted nodes are there; needs Prometheus's namespace, not Prometheus."""

    def __init__(self, name: str, args: GrafanaArgs, namespace: k8s.core.v1.Namespace, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("Grafana", name, args, opts)
        shown, rights = {**dashboards()}, list[pulumi.Resource]()
        if args.workspace is not None:
            shown |= managed_dashboards()
            rights.append(self.identity(_reader(args.workspace), args.workspace.control_plane_name).association)
        maps = [
            k8s.core.v1.ConfigMap(
                f"dashboard-{key}",
                metadata={"name": f"dashboard-{key}", "namespace": NAMESPACE, "labels": {DASHBOARD_LABEL: "1"}},
                data={f"{key}.json": text},
                opts=self.in_cluster(namespace),
            )
            for key, text in shown.items()
        ]
        self.release(GRAFANA, namespace=NAMESPACE, values=grafana_values(args), timeout_s=600, after=[namespace, *maps, *rights])
        self.register_outputs({})


def _reader(workspace: WorkspaceArgs) -> ServiceAccount:
    policy = pulumi.Output.from_input(workspace.arn).apply(query_policy)
    return ServiceAccount(workspace.cluster_name, workspace.region, NAMESPACE, SERVICE_ACCOUNT, "grafana", policy=policy)
