"""The cluster of a configuration as add-ons see it."""

from addons.cluster import Cluster, NeuronGroup
from addons.declaration import Declaration
from addons.registry import REGISTRY
from facts.catalogue import NEURON_TYPES
from stacks.idle_bill import idle_bill
from stacks.settings import Settings, largest_size, uses_efa


def cluster_of(settings: Settings) -> Cluster:
    """What the configuration says of the cluster, as far as add-ons ask."""
    lustre = settings.storage.lustre
    groups = {
        name: NeuronGroup(
            NEURON_TYPES[group.instance_type],
            group.size,
            largest_size(group),
            uses_efa(group),
            group.autoscaled,
            group.min_size,
            is_paid=group.capacity_type == "CAPACITY_BLOCK" or group.capacity_reservation_id is not None,
            is_spot=group.capacity_type == "SPOT",
        )
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
        has_existing_file_system=lustre.existing is not None,
        isolated=is_isolated(settings),
        idle_bill=idle_bill(settings),
    )


def is_isolated(settings: Settings) -> bool:
    """Whether nodes reach services of AWS by endpoints only."""
    network = settings.network
    return network.existing.isolated if network.existing is not None else network.nat == "none"


Call = tuple[Declaration, tuple[str, ...]]
"""An add-on, and the services of AWS that it calls."""


def calls_of(cluster: Cluster) -> list[Call]:
    """What the add-ons that are on call."""
    return [(item, item.endpoints_in(cluster)) for item in REGISTRY if item.is_on(cluster)]
