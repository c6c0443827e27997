"""KubeRay: Ray clusters and jobs."""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import KUBERAY

NAMESPACE = "kuberay-system"


class KubeRaySettings(AddonSettings):
    """KubeRay."""

    enabled: bool = False
    """Ray clusters and jobs."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts all pods of a Ray cluster together, or none."""


DECLARATION = Declaration(
    key="kubeRay",
    title="KubeRay",
    purpose="Ray clusters, jobs and services",
    component="kuberay",
    namespace=NAMESPACE,
    nodes="core",
    settings=KubeRaySettings,
    charts=(KUBERAY,),
    leaves=("4 CRDs of ray.io with all their objects; delete RayJobs and RayServices first, their finalizers need the operator",),
)
