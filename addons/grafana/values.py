"""Helm values of Grafana, and its dashboards, as plain data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi

from addons.grafana import SERVICE_ACCOUNT, GrafanaSettings
from addons.images import Values
from addons.manifests import POD_IDENTITY_ANNOTATION
from addons.prometheus import SCRAPE_INTERVAL, URL
from addons.versions import MANAGED_PROMETHEUS_PLUGIN_VERSION

DASHBOARDS = Path(__file__).parent / "dashboards"
MANAGED = "managed-prometheus"
"""Uid of the data source that reads the workspace."""
MANAGED_PLUGIN = "grafana-amazonprometheus-datasource"
"""Grafana 13 signs nothing in its own Prometheus data source any more (Grafana documentation, aws-authentication)."""


INTERVAL = {"timeInterval": SCRAPE_INTERVAL}
"""Without it Grafana takes 15 s between samples, and `$__rate_interval` may hold one of them only."""


@dataclass(frozen=True)
class Workspace:
    """A workspace of Amazon Managed Prometheus, read as a second source."""

    region: str
    endpoint: pulumi.Input[str]
    association_id: pulumi.Input[str]
    """Of the Pod Identity association of Grafana's service account."""


def grafana_values(settings: GrafanaSettings, workspace: Workspace | None = None) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    sources: list[Values] = [
        {"name": "Prometheus", "uid": "prometheus", "type": "prometheus", "url": URL, "isDefault": True, "jsonData": INTERVAL}
    ]
    ini: Values = {"analytics": {"check_for_updates": False, "reporting_enabled": False}}
    more: Values = {}
    if workspace is not None:
        sources.append(_managed_source(workspace))
        ini["auth"] = {"sigv4_auth_enabled": True}
        # Fetched from grafana.com as Grafana starts.
        more["podAnnotations"] = {POD_IDENTITY_ANNOTATION: workspace.association_id}
        more["plugins"] = [f"{MANAGED_PLUGIN}@{MANAGED_PROMETHEUS_PLUGIN_VERSION}"]
    if settings.admin_secret:
        more["admin"] = {"existingSecret": settings.admin_secret}
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


def _managed_source(workspace: Workspace) -> Values:
    # The signature comes from the service account's Pod Identity: no keys stand here.
    signed = {"httpMethod": "POST", "sigV4Auth": True, "sigV4AuthType": "default", "sigV4Region": workspace.region, **INTERVAL}
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
