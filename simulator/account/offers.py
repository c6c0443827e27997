"""What a simulated region has on offer of scarce instances: by chance, yet the same whenever it is asked for."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from facts.catalogue import NEURON_TYPES, InstanceType
from simulator import chance

STARTS_AT = time(11, 30, tzinfo=UTC)
"""Blocks begin and end at this time of day (EC2 user guide, capacity blocks)."""
SHARE_OF_DAYS = 0.3
"""Of the days on which a zone has a block of one size and length on offer; made up."""
SHOWN = 2
"""Offers of a zone that one request is answered with; made up: EC2 answers with few."""
_SPREAD = 0.15
"""Of prices around the one that is known; made up."""


@dataclass(frozen=True)
class Offer:
    """One block on offer."""

    id: str
    zone_id: str
    starts: datetime
    hours: int
    usd: float
    """Of the whole block."""

    @property
    def ends(self) -> datetime:
        """Its last moment."""
        return self.starts + timedelta(hours=self.hours)


def offers(instance_type: str, count: int, hours: int, zone_id: str, earliest: datetime, latest_end: datetime) -> Iterator[Offer]:
    """Blocks of a size and length in one zone that begin and end within a time, the earliest first; none of a type that is not sold so."""
    instance = NEURON_TYPES.get(instance_type)
    if instance is None or not instance.capacity_block:
        return
    day, found = earliest.astimezone(UTC).date(), 0
    while found < SHOWN:
        starts = datetime.combine(day, STARTS_AT)
        if starts + timedelta(hours=hours) > latest_end:
            return
        key = (zone_id, instance_type, str(count), str(hours), day.isoformat())
        if starts >= earliest and chance.fraction(0, "block", *key) < SHARE_OF_DAYS:
            found += 1
            usd = _usd_per_hour(instance) * (1 + _SPREAD * (chance.fraction(0, "price", *key) - 0.5)) * count * hours
            yield Offer(f"cb-{chance.digest(0, *key)[:17]}", zone_id, starts, hours, round(usd, 2))
        day += timedelta(days=1)


def _usd_per_hour(instance: InstanceType) -> float:
    """Of one instance: as a block was seen on offer, else as it is sold on demand."""
    return instance.block_price_usd_per_hour or instance.price_usd_per_hour or 0.0


def spot_score(instance_type: str, zone_id: str) -> int:
    """Spot placement score of a zone, 1 to 3: of a single instance type EC2 always says a low one (EC2 API, GetSpotPlacementScores)."""
    return 1 + int(3 * chance.fraction(0, "spot score", instance_type, zone_id))


def spot_price(instance_type: str, zone_id: str) -> float | None:
    """USD of an instance and hour, made up: a third to two thirds of the price on demand; None of a type that is not sold so."""
    instance = NEURON_TYPES.get(instance_type)
    if instance is None or instance.price_usd_per_hour is None:
        return None
    return round(instance.price_usd_per_hour * (1 + chance.fraction(0, "spot price", instance_type, zone_id)) / 3, 4)
