"""Addresses that the nodes of a configuration take, at the largest sizes of its groups and pools."""

from addons.karpenter import KarpenterSettings
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.efa import addresses_per_node, plan_interfaces
from stacks.settings import CORE_ZONE_COUNT, Settings, largest_size, uses_efa


def node_addresses(settings: Settings) -> dict[str, int]:
    """Addresses by zone of the network. Zones that are not in it are left out: a rule reports them."""
    karpenter = settings.addons.of(KarpenterSettings)
    # All core nodes may end up in one of their zones.
    core = settings.core_nodes.max_size * addresses_per_node(CORE_TYPES[settings.core_nodes.instance_type], ())
    need = {zone_id: core if index < CORE_ZONE_COUNT else 0 for index, zone_id in enumerate(settings.network.zones)}
    for group in settings.node_groups.values():
        instance = NEURON_TYPES[group.instance_type]
        interfaces = plan_interfaces(instance, group.efa_layout) if uses_efa(group) and instance.has_efa else ()
        for zone_id in settings.zones_of(group):
            if zone_id in need:
                need[zone_id] += largest_size(group) * addresses_per_node(instance, interfaces)
    for pool in karpenter.neuron_pools.values() if karpenter.enabled else ():
        instance, zone_id = NEURON_TYPES[pool.instance_type], pool.zone_id or settings.network.zones[0]
        interfaces = plan_interfaces(instance, "ena-primary") if instance.has_efa else ()
        if zone_id in need:
            need[zone_id] += pool.max_nodes * addresses_per_node(instance, interfaces)
    return need


def zones_with_efa(settings: Settings) -> frozenset[str]:
    """Zones with nodes of more than one network interface."""
    karpenter = settings.addons.of(KarpenterSettings)
    groups = {zone_id for group in settings.node_groups.values() if uses_efa(group) for zone_id in settings.zones_of(group)}
    pools = karpenter.neuron_pools.values() if karpenter.enabled else ()
    return frozenset(groups | {pool.zone_id or settings.network.zones[0] for pool in pools if NEURON_TYPES[pool.instance_type].has_efa})
