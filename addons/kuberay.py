"""KubeRay: Ray clusters and jobs."""

from dataclasses import dataclass

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import KUBERAY

NAMESPACE = "kuberay-system"
DECLARATION = Declaration(
    key="kubeRay",
    title="KubeRay",
    purpose="Ray clusters, jobs and services",
    component="kuberay",
    namespace=NAMESPACE,
    nodes="core",
    charts=(KUBERAY,),
    leaves=("4 CRDs of ray.io with all their objects; delete RayJobs and RayServices first, their finalizers need the operator",),
)


@dataclass(frozen=True)
class KubeRayArgs(AddonArgs):
    """What KubeRay is made from."""

    volcano: bool = False
    """Whether Volcano schedules the pods of a Ray cluster as a gang."""


def kuberay_values(args: KubeRayArgs) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    # The chart's limit of 100 m CPU slows the operator down; what a map does not name stays, so it is raised.
    resources = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
    values: Values = {"resources": resources}
    return {**values, "batchScheduler": {"name": "volcano"}} if args.volcano else values


class KubeRay(Addon):
    """Starts when untainted nodes are there."""

    def __init__(self, name: str, args: KubeRayArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("KubeRay", name, args, opts)
        self.release(KUBERAY, namespace=NAMESPACE, values=kuberay_values(args), timeout_s=300, after=[self.namespace(NAMESPACE)])
        self.register_outputs({})
