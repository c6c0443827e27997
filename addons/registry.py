"""All add-ons, in the order in which they are told to users."""

from addons import (
    cloudwatch,
    cluster_autoscaler,
    efa,
    efa_exporter,
    etcd,
    fluent_bit,
    grafana,
    karpenter,
    managed,
    managed_prometheus,
    metrics_server,
    neuron,
    neuron_monitor,
    node_monitoring,
    prometheus,
    volcano,
)
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
    prometheus.DECLARATION,
    managed_prometheus.DECLARATION,
    grafana.DECLARATION,
    neuron_monitor.DECLARATION,
    efa_exporter.DECLARATION,
    cloudwatch.DECLARATION,
    fluent_bit.DECLARATION,
    node_monitoring.DECLARATION,
)
SWITCHED: dict[str, Declaration] = {declaration.key: declaration for declaration in REGISTRY if declaration.switch}
"""Add-ons with a section `addons.KEY` in the configuration."""
