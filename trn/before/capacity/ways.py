"""Every way to get the instances, from what the regions have: when they begin, what they cost, what keeps one from working, and in what order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from facts.block_sales import COUNTS, WEEKS_H_MAX, sold_count, sold_hours
from facts.catalogue import NEURON_TYPES
from facts.names import CLUSTER_TAG
from facts.prices import PRICED_REGIONS
from stacks.settings import Settings
from trn.aws.capacity_blocks import Offering
from trn.aws.spot import SCORE_MAX
from trn.aws.zones import Reservation
from trn.before.capacity.region import RegionView
from trn.before.capacity.wanted import Wanted
from trn.engine.needs import purchases

Kind = Literal["reservation", "block", "on-demand", "spot"]
LIVING = ("active", "scheduled", "pending", "assessing", "delayed", "payment-pending")
"""States of a reservation that is there, or will be (EC2 API, CapacityReservationState)."""


@dataclass(frozen=True)
class Way:
    """One way to get all of the instances that are wanted, in one zone."""

    kind: Kind
    region: str
    zone_id: str
    starts: datetime
    ends: datetime | None
    """None where nothing ends it."""
    count: int
    """Instances that are got: of a block it may be more than are wanted."""
    usd: float | None
    """In addition to what is billed already, for as long as is wanted, or for the whole block; None where no price is known."""
    id: str = ""
    """Of the offer, or of the reservation."""
    is_block: bool = False
    """Whether it is a capacity block, bought or on offer."""
    block_starts: datetime | None = None
    """When the block itself begins, or has begun."""
    notes: tuple[str, ...] = ()
    obstacle: str = ""
    """Why it does not work as things are; empty where it does."""

    @property
    def is_promised(self) -> bool:
        """Whether EC2 keeps the instances for the account. Of others nothing but a try tells."""
        return self.kind in ("reservation", "block")


def ways(view: RegionView, wanted: Wanted, account: str, settings: Settings) -> Iterator[Way]:
    """All ways that a region has. `account`: the caller's own, beside which others may share their reservations."""
    own = f"nodeGroups.{wanted.group}"
    others = {item.capacity_reservation_id: item.path for item in purchases(settings) if item.capacity_reservation_id and item.path != own}
    for offering in view.blocks:
        yield _of_block(view, offering, wanted)
    for reservation in view.reservations:
        if reservation.state in LIVING and not _is_over(reservation, wanted):
            cluster = reservation.tags.get(CLUSTER_TAG, settings.name)
            taken = f"`{others[reservation.id]}` has it" if reservation.id in others else ""
            taken = f"it was bought for cluster `{cluster}`" if cluster != settings.name else taken
            yield _of_reservation(view, reservation, wanted, account, taken)
    if NEURON_TYPES[wanted.instance_type].price_usd_per_hour is not None:
        for zone_id in sorted(view.offered):
            yield _on_demand(view, zone_id, wanted)
            if zone_id in view.scores:
                yield _on_spot(view, zone_id, wanted)


def ranked(found: Iterable[Way], home: str) -> list[Way]:
    """What works before what does not; then the earliest, the cheapest, what is promised, and the stack's own region, `home`."""

    def key(way: Way) -> tuple[object, ...]:
        cost = way.usd if way.usd is not None else float("inf")
        return bool(way.obstacle), way.starts, cost, not way.is_promised, way.region != home, way.zone_id, way.id

    return sorted(found, key=key)


def _is_over(reservation: Reservation, wanted: Wanted) -> bool:
    return reservation.ends is not None and reservation.ends <= wanted.earliest


def _of_block(view: RegionView, offering: Offering, wanted: Wanted) -> Way:
    notes = [
        f"{offering.fee / (offering.duration_h * offering.instance_count):.2f} {offering.currency} an instance and hour, paid in advance"
    ]
    if offering.instance_count > wanted.count:
        notes.append(f"blocks have {', '.join(map(str, COUNTS))} instances: {offering.instance_count - wanted.count} more than wanted")
    if offering.duration_h > wanted.hours:
        notes.append(f"{offering.duration_h} h: blocks last whole days, from two weeks on whole weeks")
    usd = offering.fee if offering.currency == "USD" else None
    return Way(
        "block", view.region, offering.zone_id, offering.starts, offering.ends, offering.instance_count, usd, offering.id, True,
        offering.starts, tuple(notes), _zone_obstacle(view, offering.zone_id),
    )  # fmt: skip


def _of_reservation(view: RegionView, found: Reservation, wanted: Wanted, account: str, taken: str) -> Way:
    starts = max(found.starts, wanted.earliest) if found.starts is not None and found.state != "active" else wanted.earliest
    notes = [
        f"{found.available_count} of {found.total_count} idle, {'for launches that name it' if found.is_targeted else 'open to any launch'}"
    ]
    if found.owner not in ("", account):
        notes.append(f"shared by account {found.owner}, which pays for it")
    count = found.available_count if found.state == "active" else found.total_count
    return Way(
        "reservation", view.region, found.zone_id, starts, found.ends, count, 0.0, found.id, found.is_block, found.starts, tuple(notes),
        taken or _reservation_obstacle(found, wanted, starts) or _zone_obstacle(view, found.zone_id),
    )  # fmt: skip


def _reservation_obstacle(found: Reservation, wanted: Wanted, starts: datetime) -> str:
    if found.state == "active" and found.available_count < wanted.count:
        return f"{found.available_count} of its {found.total_count} instances are idle"
    if found.total_count < wanted.count:
        return f"it has {found.total_count} instances"
    if found.ends is not None and found.ends < starts + timedelta(hours=wanted.hours):
        return f"it ends on {found.ends:%Y-%m-%d %H:%M}"
    return ""


def _on_demand(view: RegionView, zone_id: str, wanted: Wanted) -> Way:
    price, notes = view.price, ["not promised: only a launch shows whether EC2 has the instances"]
    if price is None and view.region in PRICED_REGIONS:
        price = NEURON_TYPES[wanted.instance_type].price_usd_per_hour
        notes.append("list price of the catalogue: the price list gave none")
    usd = None if price is None else price * wanted.count * wanted.hours
    obstacle = _quota_obstacle(view, "on-demand", wanted) or _zone_obstacle(view, zone_id)
    return Way("on-demand", view.region, zone_id, wanted.earliest, None, wanted.count, usd, notes=tuple(notes), obstacle=obstacle)


def _on_spot(view: RegionView, zone_id: str, wanted: Wanted) -> Way:
    price = view.spot_prices.get(zone_id)
    usd = None if price is None else price * wanted.count * wanted.hours
    notes = (
        f"score {view.scores[zone_id]} of {SCORE_MAX}; of one type alone EC2 always gives a low one",
        "EC2 takes spot nodes away with two minutes' notice: not for a gang of workers",
    )
    obstacle = _quota_obstacle(view, "spot", wanted) or _zone_obstacle(view, zone_id)
    return Way("spot", view.region, zone_id, wanted.earliest, None, wanted.count, usd, notes=notes, obstacle=obstacle)


def _quota_obstacle(view: RegionView, how: str, wanted: Wanted) -> str:
    room, vcpus = view.rooms.get(how), wanted.count * NEURON_TYPES[wanted.instance_type].vcpu_count
    if room is None or not room.lacks(vcpus):
        return ""
    return f"quota {room.code} allows {room.allowed:g} vCPU, {room.used:g} in use; this needs {vcpus}"


def _zone_obstacle(view: RegionView, zone_id: str) -> str:
    zone = view.zones.get(zone_id)
    return "" if zone is None or zone.is_usable else f"{zone_id} is {zone.state}, {zone.opt_in_status}"


def unsold(wanted: Wanted) -> str:
    """Why no block of this size, length and type is sold; empty where some is."""
    if not NEURON_TYPES[wanted.instance_type].capacity_block:
        sold = ", ".join(name for name, entry in NEURON_TYPES.items() if entry.capacity_block)
        return f"{wanted.instance_type} is not sold in capacity blocks; {sold} are"
    if sold_count(wanted.count) is None:
        return f"a block has at most {COUNTS[-1]} instances: look for several smaller ones"
    if sold_hours(wanted.hours) is None:
        return f"a block lasts at most {WEEKS_H_MAX} h: look for several after one another"
    return ""
