"""LeaderWorkerSet: groups of pods that live and die together, for serving over several nodes."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import LEADER_WORKER_SET
from facts.kubernetes_kinds import DrainStage, Resource, job_kind

NAMESPACE = "lws-system"


class LeaderWorkerSetSettings(AddonSettings):
    """LeaderWorkerSet."""

    enabled: bool = False
    """Groups of pods that are made and restarted together."""


DISAGGREGATED_SETS = Resource("DisaggregatedSet", "/apis/disaggregatedset.x-k8s.io/v1", "disaggregatedsets")
LEADER_WORKER_SETS = Resource("LeaderWorkerSet", "/apis/leaderworkerset.x-k8s.io/v1", "leaderworkersets")
DRAINED = (
    job_kind(DISAGGREGATED_SETS, DrainStage.JOBS, "makes LeaderWorkerSets"),
    job_kind(LEADER_WORKER_SETS, DrainStage.JOBS, "makes StatefulSets", pod_label="leaderworkerset.sigs.k8s.io/name"),
)

DECLARATION = Declaration(
    key="leaderWorkerSet",
    title="LeaderWorkerSet",
    purpose="Groups of pods that are made, scaled and restarted together",
    component="leader-worker-set",
    namespace=NAMESPACE,
    nodes="core",
    settings=LeaderWorkerSetSettings,
    charts=(LEADER_WORKER_SET,),
    leaves=("3 CRDs of leaderworkerset.x-k8s.io and disaggregatedset.x-k8s.io",),
    drained=DRAINED,
)
