"""What a way changes in the stack file, key by key, and what does not move along with a zone or a region by itself."""

from collections.abc import Iterator, Sequence
from typing import Any

from facts.regions import zone_ids
from facts.typed import typed
from stacks.settings import NodeGroup, Settings, existing_vpc, largest_size
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import Way
from trn.before.init.offers import second_zone
from trn.engine.needs import purchases
from trn.engine.stack_edit import Edit

RESERVATION_ID = "cr-..."
"""Stands for the id of a block that is not bought yet."""
_REPLACING = ("instanceType", "capacityType", "capacityReservationId", "zoneIds")
"""Keys of a group whose change replaces its nodes: the group itself, or its launch template."""
MAX_ZONES = 4
"""Of a network (stacks.settings, Network.zones)."""


def edits(settings: Settings, wanted: Wanted, way: Way, reservation_id: str = "") -> list[Edit]:
    """Keys that differ from what the settings say now. `reservation_id`: of the block, where it is bought."""
    return [*_place_edits(settings, way), *_group_edits(settings, wanted, way, reservation_id)]


def _place_edits(settings: Settings, way: Way) -> Iterator[Edit]:
    zones = settings.network.zones
    if way.region != settings.region:
        second = second_zone(way.zone_id, way.region, zone_ids(way.region))
        yield Edit(("region",), way.region)
        yield Edit(("network", "zones"), [way.zone_id, second])
        for name, group in settings.node_groups.items():
            if group.zone_ids:
                yield Edit(("nodeGroups", name, "zoneIds"), None)
        if settings.storage.lustre.zone_id is not None:
            yield Edit(("storage", "lustre", "zoneId"), None)
        if settings.control_plane.zones:
            yield Edit(("controlPlane", "zones"), None)
    elif way.zone_id not in zones and len(zones) < MAX_ZONES:
        yield Edit(("network", "zones"), [*zones, way.zone_id])


def _group_edits(settings: Settings, wanted: Wanted, way: Way, reservation_id: str) -> Iterator[Edit]:
    group = settings.node_groups.get(wanted.group)
    now = _now(settings, group)
    target: dict[str, Any] = {"instanceType": wanted.instance_type, "size": wanted.count}
    target["maxSize"] = max(wanted.count, now.get("maxSize") or 1) if now.get("maxSize") or wanted.count == 0 else None
    target["capacityType"] = "CAPACITY_BLOCK" if way.is_block else "SPOT" if way.kind == "spot" else "ON_DEMAND"
    target["capacityReservationId"] = (
        reservation_id or (RESERVATION_ID if way.kind == "block" else way.id) if way.kind in ("block", "reservation") else None
    )
    target["zoneIds"] = [way.zone_id] if way.region == settings.region else None
    if group is None:
        # Without a pinned release the newest driver would come, which the stack's toolchain may not know.
        target["releaseVersion"] = next((other.release_version for other in settings.node_groups.values() if other.release_version), None)
    if group is not None and group.placement_group and target["capacityReservationId"]:
        target["placementGroup"] = False
    for key, value in target.items():
        if value != now.get(key) and not (value is None and key in ("maxSize", "zoneIds", "releaseVersion")):
            yield Edit(("nodeGroups", wanted.group, key), value)
    yield from _time_edits(wanted.group, group, way)


def _time_edits(name: str, group: NodeGroup | None, way: Way) -> Iterator[Edit]:
    """Times of the block: with them the group has no node before the start, and none at the end."""
    place, had = ("nodeGroups", name), group.capacity_block if group is not None else None
    if not way.is_block or way.block_starts is None or way.ends is None:
        if had is not None:
            yield Edit((*place, "capacityBlock"), None)
        return
    now = (had.window.starts, had.window.ends) if had is not None else (None, None)
    for key, moment, before in zip(("startsAt", "endsAt"), (way.block_starts, way.ends), now, strict=True):
        if moment != before:
            yield Edit((*place, "capacityBlock", key), f"{moment:%Y-%m-%dT%H:%M:%SZ}")
    if group is not None and group.autoscaled:
        yield Edit((*place, "autoscaled"), False)


def _now(settings: Settings, group: NodeGroup | None) -> dict[str, Any]:
    """What the settings say of the group, defaults filled in; of a new one nothing but what does nothing."""
    if group is None:
        return {"capacityType": "ON_DEMAND", "zoneIds": list(settings.network.zones[:1])}
    return {
        "instanceType": group.instance_type,
        "size": group.size,
        "maxSize": group.max_size,
        "capacityType": group.capacity_type,
        "capacityReservationId": group.capacity_reservation_id,
        "zoneIds": list(settings.zones_of(group)),
        "placementGroup": group.placement_group,
    }


def followers(settings: Settings, way: Way, group: str, made: Sequence[Edit]) -> list[str]:
    """What has to be done by hand, or said: where the way is in another region or zone than the stack, and of nodes that there are.

    `group`: the one that moves. `made`: the keys that it changes.
    """
    if way.region != settings.region:
        return list(_of_region(settings, way, group))
    return [*_of_nodes(settings, made), *_of_zone(settings, way)]


def _of_nodes(settings: Settings, made: Sequence[Edit]) -> Iterator[str]:
    for edit in made:
        group = settings.node_groups.get(edit.path[1]) if edit.path[0] == "nodeGroups" else None
        if group is not None and largest_size(group) and edit.path[-1] in _REPLACING:
            yield (
                f"nodes that `nodeGroups.{edit.path[1]}` has now: the next `{typed('pulumi up')}` replaces them, and jobs on them stop;"
                f" `{typed('trn plan')}` names the jobs, and a new group leaves them alone: --group NAME --type TYPE"
            )
            return


def _of_region(settings: Settings, way: Way, group: str) -> Iterator[str]:
    lustre, region = settings.storage.lustre, way.region
    yield f"the cluster: a stack that is up is destroyed first; in {region} another one is made"
    if lustre.enabled:
        yield f"FSx for Lustre: a new file system in {way.zone_id}, empty; the one in {settings.region} goes with its stack"
        if lustre.data_repository is not None:
            yield f"data: `storage.lustre.dataRepository.s3Uri`: copy {lustre.data_repository.s3_uri} to a bucket in {region}, and name that one"
        else:
            yield f"data: no data repository is set, so nothing fills the new file system; `{typed('trn data stage')}` does"
    yield f"images: what `trn image` pushed is in the registry of {settings.region}; push it again in {region}"
    for item in purchases(settings):
        if item.capacity_reservation_id is not None and item.path != f"nodeGroups.{group}":
            yield f"`{item.path}.capacityReservationId`: {item.capacity_reservation_id} is in {settings.region}, and billed there all the same"
    if settings.control_plane.encryption_key_arn is not None:
        yield f"`controlPlane.encryptionKeyArn`: a KMS key of {region}"
    if existing_vpc(settings):
        yield f"`network.existing`: VPC and subnets of {region}, by `trn network describe`"
    yield "Pulumi: the backend stays; a secrets provider `awskms://` names a key with its region"
    yield f"quotas and rights: those of {region}; `{typed('trn check')}` and `{typed('trn iam')}` after the change"


def _of_zone(settings: Settings, way: Way) -> Iterator[str]:
    if way.zone_id not in settings.network.zones:
        if len(settings.network.zones) >= MAX_ZONES:
            yield f"`network.zones` has {MAX_ZONES} zones already: {way.zone_id} cannot be one of them in this stack"
        elif existing_vpc(settings):
            yield f"`network.existing.nodes`: a subnet in {way.zone_id}, by `trn network describe`"
    if settings.storage.lustre.enabled and settings.lustre_zone != way.zone_id:
        yield f"FSx for Lustre stays in {settings.lustre_zone}: reads from {way.zone_id} cross zones, which is slower and billed by the GB"
