"""Checks of places: zones, what is offered in them, and reserved capacity."""

from collections.abc import Iterator
from datetime import timedelta

from botocore.exceptions import ClientError

from operations.aws.capacity_blocks import WINDOW, block_offerings, buy_command
from operations.aws.errors import NOT_FOUND, code_of
from operations.aws.zones import Reservation, offered_zone_ids, reservations, zones
from operations.check.subject import Subject
from operations.findings import Finding, failed, passed, warned
from stacks.settings import CORE_ZONE_COUNT, NodeGroup

BLOCK_MARGIN = timedelta(hours=24)
"""A reservation that ends within this is worth a word: EKS empties the group 40 minutes before a block ends."""

OFFERINGS_SHOWN = 3


def zone_ids(subject: Subject) -> Iterator[Finding]:
    """The network's zones exist and can be used."""
    known = zones(subject.api)
    for zone_id in subject.settings.network.zones:
        zone = known.get(zone_id)
        if zone is None:
            yield failed("zone", f"{zone_id} is no zone of {subject.region}", f"`network.zones`: take of {', '.join(sorted(known))}")
        elif not zone.is_usable:
            yield failed("zone", f"{zone_id} ({zone.zone_name}) is {zone.state}, {zone.opt_in_status}", "opt in, or take another zone")
        else:
            yield passed("zone", f"{zone_id} is {zone.zone_name} in this account")


def offerings(subject: Subject) -> Iterator[Finding]:
    """Each group's instance type is offered in each of the group's zones."""
    settings = subject.settings
    places = {f"nodeGroups.{name}": (group.instance_type, settings.zones_of(group)) for name, group in settings.node_groups.items()}
    places["coreNodes"] = (settings.core_nodes.instance_type, settings.network.zones[:CORE_ZONE_COUNT])
    offered = offered_zone_ids(subject.api, [instance for instance, _ in places.values()])
    for path, (instance, wanted) in places.items():
        missing = [zone_id for zone_id in wanted if zone_id not in offered[instance]]
        there = ", ".join(sorted(offered[instance])) or f"nowhere in {subject.region}"
        if missing:
            do = f"`{path}`: take a zone that offers it, or another region: without capacity the group fails after 33 minutes"
            yield failed("offering", f"{instance} is not offered in {', '.join(missing)}, but in {there}", do)
        else:
            yield passed("offering", f"{instance} is offered in {', '.join(wanted)}")


def reserved(subject: Subject) -> Iterator[Finding]:
    """Capacity reservations and blocks are there, right, large enough, and in their time."""
    for name, group in subject.settings.node_groups.items():
        if group.capacity_reservation_id is None:
            continue
        try:
            found = reservations(subject.api, [group.capacity_reservation_id])[group.capacity_reservation_id]
        except ClientError as error:
            if code_of(error) not in NOT_FOUND:
                raise
            do = f"`nodeGroups.{name}.capacityReservationId`: `aws ec2 describe-capacity-reservations --region {subject.region}`"
            yield failed("reservation", f"{group.capacity_reservation_id} is not in {subject.region} of this account", do)
            yield from _on_offer(subject, name, group)
            continue
        judged = list(_judged(subject, name, group, found))
        yield from judged
        if any(finding.verdict == "fail" for finding in judged) or _ends_soon(subject, found):
            yield from _on_offer(subject, name, group)


def _on_offer(subject: Subject, name: str, group: NodeGroup) -> Iterator[Finding]:
    """Blocks that could be bought instead, where the group is meant to be one."""
    if group.capacity_type != "CAPACITY_BLOCK":
        return
    wanted = f"{max(1, group.size)} x {group.instance_type} for {subject.block_hours} h"
    found = block_offerings(subject.api, group.instance_type, max(1, group.size), subject.block_hours, subject.today)
    here = [offering for offering in found if offering.zone_id in subject.settings.zones_of(group)]
    for offering in here[:OFFERINGS_SHOWN]:
        do = f"`{buy_command(subject.region, offering)}`, then its id into `nodeGroups.{name}.capacityReservationId`"
        yield warned("block on offer", str(offering), do)
    elsewhere = sorted({offering.zone_id for offering in found} - set(subject.settings.zones_of(group)))
    if not here:
        where = f"only in {', '.join(elsewhere)}" if elsewhere else "nowhere"
        what = f"{wanted}: {where} in {subject.region} before {subject.today + WINDOW:%Y-%m-%d}"
        yield warned("block on offer", what, "try another --block-hours, fewer instances, or the zones named")


def _judged(subject: Subject, name: str, group: NodeGroup, found: Reservation) -> Iterator[Finding]:
    wrong = list(_mismatches(subject, group, found))
    if wrong:
        yield failed("reservation", f"{found.id}: {'; '.join(wrong)}", f"mend `nodeGroups.{name}`, or take another reservation")
        return
    kind = "capacity block" if found.is_block else "capacity reservation"
    until = f" until {found.ends:%Y-%m-%d %H:%M}" if found.ends else ""
    what = f"{kind} {found.id}: {found.available_count} of {found.total_count} {found.instance_type} free in {found.zone_id}{until}"
    if found.state != "active":
        starts = f"{found.starts:%Y-%m-%d %H:%M} UTC" if found.starts else "its start"
        do = f"`trn scale {name} 0` until then: launches fail before it, and the group with them"
        yield warned("reservation", f"{what}, {found.state} until {starts}", do)
    elif found.available_count < group.size:
        do = "right if the missing ones are this cluster's own; else wait, or lower the group's `size`"
        yield warned("reservation", f"{what}, {group.size} wanted", do)
    elif _ends_soon(subject, found):
        yield warned("reservation", what, "save checkpoints: EKS empties the group 40 minutes before a block ends")
    else:
        yield passed("reservation", what)


def _ends_soon(subject: Subject, found: Reservation) -> bool:
    return found.ends is not None and found.ends.date() <= subject.today + BLOCK_MARGIN


def _mismatches(subject: Subject, group: NodeGroup, found: Reservation) -> Iterator[str]:
    if found.state not in ("active", "scheduled", "pending", "assessing"):
        yield f"it is {found.state}"
    if found.ends is not None and found.ends.date() < subject.today:
        yield f"it ended on {found.ends:%Y-%m-%d}"
    if found.is_block != (group.capacity_type == "CAPACITY_BLOCK"):
        yield f"it is {'a' if found.is_block else 'no'} capacity block, the group's `capacityType` is {group.capacity_type}"
    if found.instance_type != group.instance_type:
        yield f"it holds {found.instance_type}, the group wants {group.instance_type}"
    if found.zone_id not in subject.settings.zones_of(group):
        yield f"it is in {found.zone_id}, the group in {', '.join(subject.settings.zones_of(group))}"
    if found.total_count < group.size:
        yield f"it holds {found.total_count} instances, the group wants {group.size}"
