"""KubeRay as a component."""

from addons.base import Addon
from addons.images import Values
from addons.kuberay import NAMESPACE, KubeRaySettings
from addons.plain import PlainChart
from addons.site import Site
from addons.versions import KUBERAY


def kuberay_values(settings: KubeRaySettings) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    # The chart's limit of 100 m CPU slows the operator down; what a map does not name stays, so it is raised.
    resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
    values: Values = {"resources": resources}
    return {**values, "batchScheduler": {"name": "volcano"}} if settings.batch_scheduler == "volcano" else values


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    values = kuberay_values(site.cluster.section(KubeRaySettings))
    return PlainChart("KubeRay", "kuberay", KUBERAY, NAMESPACE, values, site)
