"""Kueue: queues with quotas for jobs of all kinds but Volcano's."""

from pydantic import Field

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import KUEUE
from facts.kubernetes_kinds import DrainedKind, DrainStage, Resource
from facts.section import KUBERNETES_NAME

NAMESPACE = "kueue-system"
API_VERSION = "kueue.x-k8s.io/v1beta2"


class KueueSettings(AddonSettings):
    """Kueue: quotas for whole jobs."""

    enabled: bool = False
    """Install Kueue, with a flavor for each Neuron node group and the queue `training` over all of them."""
    namespace: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Namespace of its jobs. Without it, `training.namespace`; beside Volcano it must be another, since both would admit the same pods."""


CLUSTER_QUEUES = Resource("ClusterQueue", f"/apis/{API_VERSION}", "clusterqueues")
LOCAL_QUEUES = Resource("LocalQueue", f"/apis/{API_VERSION}", "localqueues")
_HOLD = {"stopPolicy": "HoldAndDrain"}
DRAINED = (
    DrainedKind(CLUSTER_QUEUES, DrainStage.QUEUES, "close", "it would admit the next job", "admitting queues", spec=_HOLD),
    DrainedKind(LOCAL_QUEUES, DrainStage.QUEUES, "close", "says in each namespace why jobs wait", "admitting queues", spec=_HOLD),
)

DECLARATION = Declaration(
    key="kueue",
    title="Kueue",
    purpose="Admits whole jobs when their quota is free: Jobs, JobSets, TrainJobs, MPIJobs, Ray, LeaderWorkerSets",
    component="kueue",
    namespace=NAMESPACE,
    nodes="core",
    settings=KueueSettings,
    charts=(KUEUE,),
    kinds=tuple(f"{API_VERSION} {kind}" for kind in ("ResourceFlavor", "ClusterQueue", "LocalQueue")),
    fenced="its webhooks fail closed on Jobs: a release with a hook Job beside it fails while Kueue's pods start or stop",
    leaves=("suspended jobs stay suspended",),
    drained=DRAINED,
)
