"""The cluster of a configuration as add-ons see it."""

from addons.cluster import Cluster, NeuronGroup
from facts.catalogue import NEURON_TYPES
from stacks.settings import Settings, largest_size, uses_efa


def cluster_of(settings: Settings) -> Cluster:
    """What the configuration says of the cluster, as far as add-ons ask."""
    lustre = settings.storage.lustre
    groups = {
        name: NeuronGroup(NEURON_TYPES[group.instance_type], group.size, largest_size(group), uses_efa(group), group.autoscaled)
        for name, group in settings.node_groups.items()
    }
    return Cluster(
        name=settings.name,
        region=settings.region,
        kubernetes_version=settings.control_plane.kubernetes_version,
        zones=settings.network.zones,
        training_namespace=settings.training.namespace,
        claim_name=lustre.claim_name if lustre.enabled else None,
        node_groups=groups,
        addons=settings.addons,
        session_manager=settings.nodes.session_manager,
        isolated=settings.network.nat == "none",
    )
