"""Rules on the places that a node group may be moved to."""

from collections.abc import Iterator

from facts.catalogue import NEURON_TYPES, InstanceType, is_seen_in, known_zone_ids
from facts.problems import Problem
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, REGIONS, near_regions, near_zone, partition, zone_id_prefix, zone_ids
from stacks.candidates import Candidate
from stacks.settings import Settings


def candidates(settings: Settings) -> Iterator[Problem]:
    """Places exist, are named once, offer the type as far as the catalogue knows, and can be taken by this stack."""
    if settings.region not in REGIONS:
        return  # the rule on regions says so
    for name, group in settings.node_groups.items():
        seen: set[tuple[str, str]] = set()
        for index, candidate in enumerate(group.candidates):
            base, region = f"nodeGroups.{name}.candidates[{index}]", candidate.region or settings.region
            if (region, candidate.zone_id) in seen:
                yield Problem(f"{base}.zoneId", candidate.zone_id, "a candidate named twice", hint="remove one of the two")
            seen.add((region, candidate.zone_id))
            yield from _place(settings, base, region, candidate, NEURON_TYPES[group.instance_type])


def _place(settings: Settings, base: str, region: str, candidate: Candidate, instance: InstanceType) -> Iterator[Problem]:
    if region not in REGIONS:
        close = near_regions(region)
        hint = f"set it to {close[0]}, the nearest" if close else "`aws ec2 describe-regions --all-regions` lists all"
        yield Problem(f"{base}.region", region, "no region that has EKS", ", ".join(close or REGIONS), hint)
        return
    if partition(region) != partition(settings.region):
        hint = "remove it: accounts of one partition do not exist in another"
        yield Problem(f"{base}.region", region, f"another partition than that of {settings.region}", partition(settings.region), hint)
        return
    prefix, known, zone_id = zone_id_prefix(region), zone_ids(region), candidate.zone_id
    if not zone_id.startswith(f"{prefix}-az") or (known and zone_id not in known):
        near = near_zone(zone_id, region)
        hint = f"the nearest is {near}" if near else f"`aws ec2 describe-availability-zones --region {region}` lists them as ZoneId"
        yield Problem(f"{base}.zoneId", zone_id, f"no zone id of {region}", ", ".join(known) or f"{prefix}-az1 and the like", hint)
        return
    yield from _offered(base, region, zone_id, instance)
    if region == settings.region and zone_id not in settings.network.zones:
        yield Problem(
            f"{base}.zoneId", zone_id, "not in `network.zones`", ", ".join(settings.network.zones), "append it to `network.zones`"
        )
    elif region != settings.region and zone_id in CONTROL_PLANE_REFUSED_ZONES:
        hint = "take another zone: the first of `network.zones`, which it would be, holds the control plane too"
        yield Problem(f"{base}.zoneId", zone_id, "a zone in which EKS places no control plane", hint=hint)


def _offered(base: str, region: str, zone_id: str, instance: InstanceType) -> Iterator[Problem]:
    prefix = zone_id_prefix(region)
    if not is_seen_in(instance, region, prefix):
        there = [other for other in REGIONS if is_seen_in(instance, other, zone_id_prefix(other))]
        yield Problem(f"{base}.region", region, f"{instance.name} is not offered there", ", ".join(there), "take one of these regions")
        return
    zones = known_zone_ids(instance, prefix)
    if zones and zone_id not in zones:
        yield Problem(f"{base}.zoneId", zone_id, f"{instance.name} is not offered there", ", ".join(zones), "take one of these zones")
