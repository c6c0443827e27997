"""Addresses that the nodes of a configuration take, at the largest sizes of its groups and pools."""

from dataclasses import dataclass

from addons.karpenter import KarpenterSettings
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.efa import addresses_per_node, plan_interfaces
from stacks.settings import CORE_ZONE_COUNT, Settings, largest_size, uses_efa


@dataclass(frozen=True)
class Need:
    """What the nodes of one group or pool need in a zone, at the most nodes that it may have."""

    key: str
    """Of the configuration: what says how many nodes."""
    zone_id: str
    nodes: int
    per_node: int

    @property
    def addresses(self) -> int:
        """Of all its nodes."""
        return self.nodes * self.per_node


def address_needs(settings: Settings) -> list[Need]:
    """Of all groups and pools. Zones that are not in the network are left out: a rule reports them."""
    core = settings.core_nodes
    per_core = addresses_per_node(CORE_TYPES[core.instance_type], ())
    # All core nodes may end up in one of their zones.
    found = [Need("coreNodes.maxSize", zone_id, core.max_size, per_core) for zone_id in settings.network.zones[:CORE_ZONE_COUNT]]
    for name, group in settings.node_groups.items():
        instance = NEURON_TYPES[group.instance_type]
        interfaces = plan_interfaces(instance, group.efa_layout) if uses_efa(group) and instance.has_efa else ()
        key, each = "size" if group.max_size is None else "maxSize", addresses_per_node(instance, interfaces)
        found += [Need(f"nodeGroups.{name}.{key}", zone_id, largest_size(group), each) for zone_id in settings.zones_of(group)]
    karpenter = settings.addons.of(KarpenterSettings)
    for name, pool in karpenter.neuron_pools.items() if karpenter.enabled else ():
        instance, zone_id = NEURON_TYPES[pool.instance_type], pool.zone_id or settings.network.zones[0]
        each = addresses_per_node(instance, plan_interfaces(instance, "ena-primary") if instance.has_efa else ())
        found.append(Need(f"addons.karpenter.neuronPools.{name}.maxNodes", zone_id, pool.max_nodes, each))
    return [need for need in found if need.zone_id in settings.network.zones]


def node_addresses(settings: Settings) -> dict[str, int]:
    """Addresses by zone of the network."""
    needs = address_needs(settings)
    return {zone_id: sum(need.addresses for need in needs if need.zone_id == zone_id) for zone_id in settings.network.zones}


def zones_with_efa(settings: Settings) -> frozenset[str]:
    """Zones with nodes of more than one network interface."""
    karpenter = settings.addons.of(KarpenterSettings)
    groups = {zone_id for group in settings.node_groups.values() if uses_efa(group) for zone_id in settings.zones_of(group)}
    pools = karpenter.neuron_pools.values() if karpenter.enabled else ()
    return frozenset(groups | {pool.zone_id or settings.network.zones[0] for pool in pools if NEURON_TYPES[pool.instance_type].has_efa})
