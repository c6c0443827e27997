"""LeaderWorkerSet as a component."""

from addons.base import Addon
from addons.images import Values
from addons.leader_worker_set import NAMESPACE
from addons.plain import PlainChart
from addons.site import Site
from addons.versions import LEADER_WORKER_SET


def leader_worker_set_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    return {
        # The chart asks for a whole CPU.
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}},
        "image": {"manager": {"pullPolicy": "IfNotPresent"}},
    }


def make(site: Site) -> Addon:
    """The add-on of a cluster. Its webhooks guard its own kinds and labelled pods only."""
    return PlainChart("LeaderWorkerSet", "leader-worker-set", LEADER_WORKER_SET, NAMESPACE, leader_worker_set_values(), site)
