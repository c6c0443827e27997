"""kube-prometheus-stack: Prometheus, its operator, exporters of nodes and objects, what to scrape, and alerts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import yaml

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.prometheus_values import NAMESPACE, POD_MONITORS, SERVICE_MONITORS, PrometheusValuesArgs, prometheus_values
from addons.versions import PROMETHEUS

API_VERSION = "monitoring.coreos.com/v1"
ALERTS = Path(__file__).parent / "dashboards" / "alerts.yaml"
DECLARATION = Declaration(
    key="prometheus",
    title="kube-prometheus-stack",
    purpose="Prometheus with exporters of nodes and objects, monitors of what trains, and alerts",
    component="prometheus",
    namespace=NAMESPACE,
    nodes="all",
    charts=(PROMETHEUS,),
    kinds=tuple(f"{API_VERSION} {kind}" for kind in ("PodMonitor", "ServiceMonitor", "PrometheusRule")),
    leaves=(
        "10 CRDs of monitoring.coreos.com",
        "Service kube-prometheus-stack-kubelet in kube-system, which the operator makes",
    ),
)


@dataclass(frozen=True)
class PrometheusArgs(AddonArgs):
    """What Prometheus is made from."""

    values: PrometheusValuesArgs


def alert_rules() -> dict[str, Any]:
    """`spec` of the PrometheusRule."""
    return yaml.safe_load(ALERTS.read_text())


class Prometheus(Addon):
    """Starts when untainted nodes are there; its monitors and rules go before its CRDs lose their operator."""

    namespace_resource: k8s.core.v1.Namespace

    def __init__(
        self, name: str, args: PrometheusArgs, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource]
    ) -> None:
        """`after`: the right to write to the workspace, where there is one."""
        super().__init__("Prometheus", name, args, opts)
        self.namespace_resource = self.namespace(NAMESPACE)
        release = self.release(
            PROMETHEUS, namespace=NAMESPACE, values=prometheus_values(args.values), timeout_s=900, after=[self.namespace_resource, *after]
        )
        for kind, specs in (
            ("PodMonitor", POD_MONITORS),
            ("ServiceMonitor", SERVICE_MONITORS),
            ("PrometheusRule", {"training": alert_rules()}),
        ):
            for key, spec in specs.items():
                metadata = {"name": key, "namespace": NAMESPACE}
                self.custom_resource(f"{kind.lower()}-{key}", API_VERSION, kind, metadata=metadata, spec=spec, after=[release])
        self.register_outputs({})
