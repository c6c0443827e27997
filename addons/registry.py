"""All add-ons, in the order in which they are told to users."""

from addons import cluster_autoscaler, efa, etcd, karpenter, managed, metrics_server, neuron, volcano
from addons.declaration import Declaration

REGISTRY: tuple[Declaration, ...] = (
    *managed.CORE_DECLARATIONS,
    neuron.DECLARATION,
    efa.DECLARATION,
    volcano.DECLARATION,
    etcd.DECLARATION,
    metrics_server.DECLARATION,
    cluster_autoscaler.DECLARATION,
    karpenter.DECLARATION,
)
SWITCHED: dict[str, Declaration] = {declaration.key: declaration for declaration in REGISTRY if declaration.switch}
"""Add-ons with a section `addons.KEY` in the configuration."""
