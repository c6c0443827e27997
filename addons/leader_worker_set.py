"""LeaderWorkerSet: groups of pods that live and die together, for serving over several nodes."""

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.images import Values
from addons.versions import LEADER_WORKER_SET

NAMESPACE = "lws-system"
DECLARATION = Declaration(
    key="leaderWorkerSet",
    title="LeaderWorkerSet",
    purpose="Groups of pods that are made, scaled and restarted together",
    component="leader-worker-set",
    namespace=NAMESPACE,
    nodes="core",
    charts=(LEADER_WORKER_SET,),
    leaves=("3 CRDs of leaderworkerset.x-k8s.io and disaggregatedset.x-k8s.io",),
)


def leader_worker_set_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        # The chart asks for a whole CPU.
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "image": {"manager": {"pullPolicy": "IfNotPresent"}},
    }


class LeaderWorkerSet(Addon):
    """Starts when untainted nodes are there. Its webhooks guard its own kinds and labelled pods only."""

    def __init__(self, name: str, args: AddonArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("LeaderWorkerSet", name, args, opts)
        namespace = self.namespace(NAMESPACE)
        self.release(LEADER_WORKER_SET, namespace=NAMESPACE, values=leader_worker_set_values(), timeout_s=300, after=[namespace])
        self.register_outputs({})
