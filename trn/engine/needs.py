"""What a stack needs of each quota, as plain figures."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from addons.karpenter import KarpenterSettings
from facts.capacity_blocks import Window
from facts.catalogue import CORE_TYPES, NEURON_TYPES, QUOTA_CODES
from stacks.settings import CORE_ZONE_COUNT, Settings, largest_size


@dataclass(frozen=True)
class Need:
    """What is needed of one quota."""

    service: str
    code: str
    unit: str
    count: float
    """To come up."""
    surge: float = 0
    """More while nodes are updated."""
    largest: float = 0
    """With every group at its largest; 0 where that is no question."""
    why: str = ""


@dataclass(frozen=True)
class Purchase:
    """Neuron instances that one node group, or one pool of Karpenter's, buys."""

    path: str
    """Of its section in the stack file."""
    instance_type: str
    count: int
    """From the start."""
    largest: int
    capacity_type: str
    capacity_reservation_id: str | None
    zone_ids: tuple[str, ...]
    times: Window | None = None
    """Of its capacity block, as the stack file says them."""

    @property
    def is_block(self) -> bool:
        """Whether it is a capacity block's, which draw on no quota (EC2 user guide, capacity blocks)."""
        return self.capacity_type == "CAPACITY_BLOCK"


def purchases(settings: Settings) -> Iterator[Purchase]:
    """Everything that buys Neuron instances."""
    for name, group in settings.node_groups.items():
        yield Purchase(
            f"nodeGroups.{name}", group.instance_type, group.size, largest_size(group), group.capacity_type, group.capacity_reservation_id,
            settings.zones_of(group), group.capacity_block.window if group.capacity_block is not None else None,
        )  # fmt: skip
    karpenter = settings.addons.of(KarpenterSettings)
    for name, pool in karpenter.neuron_pools.items() if karpenter.enabled else ():
        yield Purchase(
            f"addons.karpenter.neuronPools.{name}", pool.instance_type, pool.max_nodes if pool.static else 0, pool.max_nodes,
            pool.capacity_type, pool.capacity_reservation_id, (pool.zone_id or settings.network.zones[0],),
            pool.capacity_block.window if pool.capacity_block is not None else None,
        )  # fmt: skip


def vcpu_needs(settings: Settings) -> Iterator[Need]:
    """vCPUs by family and way of buying. Instances of capacity blocks draw on no quota.

    Source: EC2 user guide, on-demand instance quotas.
    """
    count: Counter[tuple[str, str]] = Counter()
    largest: Counter[tuple[str, str]] = Counter()
    why: dict[tuple[str, str], list[str]] = {}
    for item in purchases(settings):
        instance = NEURON_TYPES[item.instance_type]
        if item.is_block:
            continue
        key = (instance.family, "spot" if item.capacity_type == "SPOT" else "on-demand")
        count[key] += item.count * instance.vcpu_count
        largest[key] += item.largest * instance.vcpu_count
        why.setdefault(key, []).append(f"{item.count} x {instance.name}")
    for key in sorted(count):
        # Neuron groups are updated MINIMAL: a node is removed before the next one starts, so there is no surge.
        yield Need("ec2", QUOTA_CODES[key[0]][key[1]], "vCPU", count[key], 0, largest[key], ", ".join(why[key]))
    core, vcpus = settings.core_nodes, CORE_TYPES[settings.core_nodes.instance_type].vcpu_count
    # EKS raises the group by twice the number of its zones during an update (EKS user guide, managed node update behavior).
    surge = 2 * CORE_ZONE_COUNT * vcpus
    why_core = f"{core.desired_size} x {core.instance_type}"
    karpenter = settings.addons.of(KarpenterSettings)
    general = karpenter.general_pool.max_vcpu if karpenter.enabled and karpenter.general_pool.enabled else 0
    most = core.max_size * vcpus + general
    yield Need("ec2", QUOTA_CODES["Standard"]["on-demand"], "vCPU", core.desired_size * vcpus, surge, most, why_core)
    if general and karpenter.general_pool.spot:
        yield Need("ec2", QUOTA_CODES["Standard"]["spot"], "vCPU", 0, 0, general, "Karpenter's general pool")


VPCS, INTERNET_GATEWAYS, NAT_GATEWAYS = ("vpc", "L-F678F1CE"), ("vpc", "L-A4707A72"), ("vpc", "L-FE5A380F")
ADDRESSES, CLUSTERS, LUSTRE_STORAGE = ("ec2", "L-0263D0A3"), ("eks", "L-1194D53C"), ("fsx", "L-8F1B9C74")
NODE_GROUPS = ("eks", "L-6D54EA21")
"""Service Quotas codes, read in public infrastructure code, 2022-2026. Of node groups a cluster has 30 by default (EKS user guide,
service quotas)."""


def node_group_names(settings: Settings) -> frozenset[str]:
    """Managed node groups of the stack: the core group, and the Neuron groups."""
    return frozenset({"core", *settings.node_groups})


def nat_zone_ids(settings: Settings) -> tuple[str, ...]:
    """Zones that get a NAT gateway, each with an address; none in a network that others keep."""
    if settings.network.existing is not None:
        return ()
    return {"none": (), "single": settings.network.zones[:1], "per-zone": settings.network.zones}[settings.network.nat]
