"""Checks of places: zones, what is offered in them, and reserved capacity."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from botocore.exceptions import ClientError

from facts.block_sales import WINDOW
from facts.typed import typed
from stacks.settings import CORE_ZONE_COUNT
from trn.aws.capacity_blocks import block_offerings, buy_command
from trn.aws.errors import NOT_FOUND, code_of
from trn.aws.zones import Reservation, offered_zone_ids, reservations, zones
from trn.before.check.subject import Subject
from trn.cli.findings import Finding, failed, passed, warned
from trn.engine.needs import Purchase, purchases

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
    places = {item.path: (item.instance_type, item.zone_ids) for item in purchases(settings)}
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
    for item in purchases(subject.settings):
        if item.capacity_reservation_id is None:
            continue
        try:
            found = reservations(subject.api, [item.capacity_reservation_id])[item.capacity_reservation_id]
        except ClientError as error:
            if code_of(error) not in NOT_FOUND:
                raise
            do = f"`{item.path}.capacityReservationId`: `aws ec2 describe-capacity-reservations --region {subject.region}`"
            yield failed("reservation", f"{item.capacity_reservation_id} is not in {subject.region} of this account", do)
            yield from _on_offer(subject, item)
            continue
        judged = list(_judged(subject, item, found))
        yield from judged
        if any(finding.verdict == "fail" for finding in judged) or _ends_soon(subject, found):
            yield from _on_offer(subject, item)


def _on_offer(subject: Subject, item: Purchase) -> Iterator[Finding]:
    """Blocks that could be bought instead, where the group is meant to be one."""
    if not item.is_block:
        return
    count = max(1, item.largest if item.count == 0 else item.count)
    found = block_offerings(subject.api, item.instance_type, count, subject.block_hours, subject.today)
    here = [offering for offering in found if offering.zone_id in item.zone_ids]
    for offering in here[:OFFERINGS_SHOWN]:
        do = f"`{buy_command(subject.region, offering)}`, then its id into `{item.path}.capacityReservationId`"
        yield warned("block on offer", str(offering), do)
    elsewhere = sorted({offering.zone_id for offering in found} - set(item.zone_ids))
    if not here:
        where = f"only in {', '.join(elsewhere)}" if elsewhere else "nowhere"
        what = f"{count} x {item.instance_type} for {subject.block_hours} h: {where} in {subject.region} before {subject.today + WINDOW:%Y-%m-%d}"
        yield warned("block on offer", what, "try another --block-hours, fewer instances, or the zones named")


def _judged(subject: Subject, item: Purchase, found: Reservation) -> Iterator[Finding]:
    wrong = list(_mismatches(subject, item, found))
    if wrong:
        yield failed("reservation", f"{found.id}: {'; '.join(wrong)}", f"fix `{item.path}`, or take another reservation")
        return
    kind = "capacity block" if found.is_block else "capacity reservation"
    until = f" until {found.ends:%Y-%m-%d %H:%M}" if found.ends else ""
    what = f"{kind} {found.id}: {found.available_count} of {found.total_count} {found.instance_type} free in {found.zone_id}{until}"
    if found.state != "active" and item.times is not None:
        yield passed("reservation", f"{what}, {found.state}: `{item.path}` goes up at {item.times.starts:%Y-%m-%d %H:%M} UTC")
    elif found.state != "active":
        starts = f"{found.starts:%Y-%m-%d %H:%M} UTC" if found.starts else "its start"
        do = f"set `{item.path}.capacityBlock`, with which it goes up then: launches fail before it, and the group with them"
        yield warned("reservation", f"{what}, {found.state} until {starts}", do)
    elif _is_unused(item, found):
        name = item.path.rpartition(".")[2]
        do = f"`{typed(f'trn scale {name} {item.count}')}` after `{typed('pulumi up')}`: a schedule that is made after the start no longer fires"
        yield warned("reservation", f"{what}, and none of them is used", do)
    elif found.available_count < item.count:
        do = "right if the missing ones are this cluster's own; else wait, or lower the group's `size`"
        yield warned("reservation", f"{what}, {item.count} wanted", do)
    elif _ends_soon(subject, found):
        yield warned("reservation", what, "save checkpoints: EKS empties the group 40 minutes before a block ends")
    else:
        yield passed("reservation", what)


def _is_unused(item: Purchase, found: Reservation) -> bool:
    """Whether the block of a node group has begun, and the group has no node."""
    return item.times is not None and item.count > 0 and found.available_count == found.total_count and item.path.startswith("nodeGroups.")


def _ends_soon(subject: Subject, found: Reservation) -> bool:
    return found.ends is not None and found.ends.date() <= subject.today + BLOCK_MARGIN


def _is_at(there: datetime | None, said: datetime) -> bool:
    """Whether two moments are one, to the minute."""
    return there is not None and abs(there - said) < timedelta(minutes=1)


def _mismatches(subject: Subject, item: Purchase, found: Reservation) -> Iterator[str]:
    if found.state not in ("active", "scheduled", "pending", "assessing"):
        yield f"it is {found.state}"
    if found.ends is not None and found.ends.date() < subject.today:
        yield f"it ended on {found.ends:%Y-%m-%d}"
    if found.is_block != item.is_block:
        yield f"it is {'a' if found.is_block else 'no'} capacity block, the group's `capacityType` is {item.capacity_type}"
    if item.times is not None and not (_is_at(found.starts, item.times.starts) and _is_at(found.ends, item.times.ends)):
        there = " to ".join(f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment else "an open end" for moment in (found.starts, found.ends))
        yield f"it is from {there}, which `capacityBlock` does not say"
    if found.instance_type != item.instance_type:
        yield f"it holds {found.instance_type}, the group wants {item.instance_type}"
    if found.zone_id not in item.zone_ids:
        yield f"it is in {found.zone_id}, the group in {', '.join(item.zone_ids)}"
    if found.total_count < item.count:
        yield f"it holds {found.total_count} instances, the group wants {item.count}"
