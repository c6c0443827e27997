"""KubeRay: Ray clusters and jobs."""

from typing import Literal

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import KUBERAY
from facts.kubernetes_kinds import DrainStage, Resource, job_kind

NAMESPACE = "kuberay-system"


class KubeRaySettings(AddonSettings):
    """KubeRay."""

    enabled: bool = False
    """Ray clusters and jobs."""
    batch_scheduler: Literal["none", "volcano"] = "none"
    """`volcano` starts all pods of a Ray cluster together, or none."""


CRON_JOBS = Resource("RayCronJob", "/apis/ray.io/v1", "raycronjobs")
JOBS = Resource("RayJob", "/apis/ray.io/v1", "rayjobs")
SERVICES = Resource("RayService", "/apis/ray.io/v1", "rayservices")
CLUSTERS = Resource("RayCluster", "/apis/ray.io/v1", "rayclusters")
OWNER_LABEL = "ray.io/originated-from-cr-name"
"""Label of a RayCluster that holds the name of the RayJob or RayService it was made for (ray-project/kuberay utils/constant.go)."""
DRAINED = (
    job_kind(CRON_JOBS, DrainStage.SCHEDULES, "makes RayJobs"),
    # Pods bear no RayJob's name: some their RayCluster's, and those of the Job that submits it that Job's, which is the same.
    job_kind(JOBS, DrainStage.JOB_CLUSTERS, "makes a RayCluster and a Job"),
    job_kind(SERVICES, DrainStage.JOB_CLUSTERS, "makes RayClusters"),
    job_kind(
        CLUSTERS, DrainStage.JOB_CLUSTERS, "its pods hold nodes and claims", pod_label="ray.io/cluster", owner_label=OWNER_LABEL,
        asked={"top": ("list",), "logs": ("list",)},
    ),
)  # fmt: skip

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
    drained=DRAINED,
)
