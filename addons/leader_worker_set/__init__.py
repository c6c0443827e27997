"""LeaderWorkerSet: groups of pods that live and die together, for serving over several nodes."""

from addons.declaration import Declaration
from addons.section import AddonSettings
from addons.versions import LEADER_WORKER_SET

NAMESPACE = "lws-system"


class LeaderWorkerSetSettings(AddonSettings):
    """LeaderWorkerSet."""

    enabled: bool = False
    """Groups of pods that are made and restarted together."""


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
)
