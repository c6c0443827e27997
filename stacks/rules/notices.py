"""What a configuration may say but its user should know before money is spent."""

from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from facts.catalogue import NEURON_TYPES, known_zone_ids
from facts.lustre import ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS, ORIGINAL_MBPS_PER_TIB, throughput_mbps, usd_per_hour
from facts.regions import zone_id_prefix
from facts.typed import typed
from stacks.cluster import is_isolated
from stacks.rules.addons import addon_notices
from stacks.rules.money import money_notices
from stacks.rules.network import documentation_addresses
from stacks.rules.node_groups import release_notices
from stacks.rules.scaling import scaling_notices
from stacks.rules.times import time_notices
from stacks.settings import NodeGroup, Settings, largest_size, uses_efa

FEW_NODES = 4
"""Nodes up to which a job hardly notices where they stand; ours: AWS names no number (EC2 user guide, EFA and placement groups)."""


def notices(settings: Settings) -> list[str]:
    """What is allowed but should be known before money is spent, one sentence each."""
    said: list[str] = []
    plane, prefix = settings.control_plane, zone_id_prefix(settings.region)
    if any(True for _ in documentation_addresses(settings)):
        said.append("publicAccessCidrs holds a documentation address: it is accepted in a rehearsal and in practice, and refused on AWS")
    if not plane.public_access_cidrs:
        said.append(
            f"there is no public endpoint: `{typed('pulumi up')}` and kubectl must run inside the VPC; docs/private.md has the steps"
        )
    said += _slow_file_system(settings)
    if is_isolated(settings):
        said.append(
            "there is no NAT gateway: endpoints reach AWS's own registries only, so docker.io (Volcano), quay.io (etcd) and public.ecr.aws"
            " (Neuron) need a way of your own, or these releases fail after 10 minutes"
        )
    for name, group in settings.node_groups.items():
        instance = NEURON_TYPES[group.instance_type]
        known = known_zone_ids(instance, prefix)
        for zone_id in settings.zones_of(group):
            if zone_id not in known and (known or settings.region not in instance.offered_regions):
                where = f"seen in {', '.join(known)}" if known else f"not seen in {settings.region}"
                said.append(
                    f"nodeGroups.{name}: {instance.name} was {where}, not in {zone_id}; a group without capacity fails after 33 minutes"
                )
        if _wants_placement(settings, group):
            said.append(
                f"nodeGroups.{name} may have {largest_size(group)} nodes without a placement group: with `placementGroup: true` they stand close"
                " together, which AWS recommends for EFA; capacity for all of them in one place is harder to get"
            )
        if group.capacity_type == "SPOT":
            said.append(f"nodeGroups.{name} is bought as spot: its price moves by the hour and is not in the sum")
        if group.capacity_type == "ON_DEMAND" and group.capacity_reservation_id is None and instance.price_usd_per_hour is None:
            said.append(f"nodeGroups.{name}: {instance.name} has no on-demand list price; it is sold as capacity block or spot")
        if uses_efa(group) and settings.storage.lustre.is_own and settings.zones_of(group)[0] != settings.lustre_zone:
            said.append(
                f"nodeGroups.{name} is in {settings.zones_of(group)[0]}, the file system in {settings.lustre_zone}: traffic between them costs per GB"
            )
        if uses_efa(group) and not settings.addons.of(EfaSettings).enabled:
            said.append(f"nodeGroups.{name} has EFA interfaces, but `addons.efa` is off: no pod can ask for them")
    if settings.node_groups and not settings.addons.of(NeuronSettings).enabled:
        said.append("`addons.neuron` is off: no pod can ask for Neuron devices")
    said += [
        *release_notices(settings),
        *scaling_notices(settings),
        *time_notices(settings),
        *addon_notices(settings),
        *money_notices(settings),
    ]
    return said


def _slow_file_system(settings: Settings) -> list[str]:
    """The throughput, where groups of whole nodes share a file system that is slower than the original blueprint's."""
    lustre = settings.storage.lustre
    mbps = throughput_mbps(lustre.capacity_gib, lustre.throughput_mbps_per_tib)
    if not lustre.is_own or mbps >= ORIGINAL_MBPS or not any(uses_efa(group) for group in settings.node_groups.values()):
        return []
    keys = f"`storage.lustre.capacityGib: {ORIGINAL_CAPACITY_GIB}` and `storage.lustre.throughputMbpsPerTib: {ORIGINAL_MBPS_PER_TIB}`"
    usd = usd_per_hour(lustre.capacity_gib, lustre.throughput_mbps_per_tib)
    costs = f"{usd_per_hour(ORIGINAL_CAPACITY_GIB, ORIGINAL_MBPS_PER_TIB):.2f} USD an hour (price not verified) in place of {usd:.2f}"
    share = f"{mbps / ORIGINAL_MBPS:.0%}" if round(ORIGINAL_MBPS / mbps) != 8 else "an eighth"
    return [
        f"the file system gives {mbps:.0f} MB/s, {share} of the original blueprint's {ORIGINAL_MBPS:,.0f}: {keys} give as much, for {costs}"
    ]


def _wants_placement(settings: Settings, group: NodeGroup) -> bool:
    """Whether a cluster placement group would serve: a reservation decides itself where its instances run."""
    placed = group.placement_group or group.capacity_reservation_id is not None
    return uses_efa(group) and not placed and largest_size(group) > FEW_NODES and len(settings.zones_of(group)) == 1
