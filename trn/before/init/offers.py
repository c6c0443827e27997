"""What there is to choose from: as the catalogue has seen it, or with `--live` as the account says."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

from facts.catalogue import NEURON_TYPES, is_seen_in, known_zone_ids
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, zone_id_prefix, zone_ids
from trn.aws.api import Api

REGIONS = (
    "us-west-2", "us-east-1", "us-east-2", "ap-south-1", "ap-south-2", "ap-southeast-2", "ap-southeast-4", "sa-east-1",
)  # fmt: skip
"""Regions in which the catalogue has seen a Neuron type."""
CAPACITY = {"on-demand": "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}


class Offers(Protocol):
    """Zones that offer a type, and zones that can be used."""

    is_live: bool
    """Whether an account was asked: what it does not offer cannot be had."""

    def zones(self, instance_type: str, region: str, /) -> list[str]:
        """Zone ids that offer the type, the best first; none where that is not known."""
        ...

    def usable(self, region: str, /) -> Sequence[str]:
        """All zone ids in which subnets can be made; none where that is not known."""
        ...

    def blocks(self, instance_type: str, region: str, zone: str, count: int, /) -> tuple[list[str], str]:
        """Capacity blocks that are sold in the zone, in words, and the command that buys the first."""
        ...


class Catalogue:
    """The tables of `facts`."""

    is_live = False

    def zones(self, instance_type: str, region: str, /) -> list[str]:
        """The highest first: AWS's own samples take those."""
        return sorted(known_zone_ids(NEURON_TYPES[instance_type], zone_id_prefix(region)), reverse=True)

    def usable(self, region: str, /) -> Sequence[str]:
        """Those of the guide."""
        return zone_ids(region)

    def blocks(self, _type: str, _region: str, _zone: str, _count: int, /) -> tuple[list[str], str]:
        """What is sold changes by the hour."""
        return [], ""


class Account:
    """An account that is asked."""

    is_live = True

    def __init__(self, connect: "Connect", block_hours: int) -> None:
        self._connect, self._hours = connect, block_hours

    def zones(self, instance_type: str, region: str, /) -> list[str]:
        """As EC2 says it to this account."""
        from trn.aws.zones import offered_zone_ids

        return sorted(offered_zone_ids(self._connect(region), [instance_type])[instance_type], reverse=True)

    def usable(self, region: str, /) -> Sequence[str]:
        """Zones that the account has, and has opted into."""
        from trn.aws.zones import zones

        return [zone.zone_id for zone in zones(self._connect(region)).values() if zone.is_usable]

    def blocks(self, instance_type: str, region: str, zone: str, count: int, /) -> tuple[list[str], str]:
        """Of the length asked for."""
        from trn.aws.capacity_blocks import block_offerings, buy_command

        today = datetime.now(UTC).date()
        sold = block_offerings(self._connect(region), instance_type, max(1, count), self._hours, today)
        here = [offering for offering in sold if offering.zone_id == zone]
        if not here:
            others = ", ".join(sorted({offering.zone_id for offering in sold})) or "no zone"
            return [f"no block of {self._hours} h is on offer in {zone}, but in {others}"], ""
        return [f"{offering}: `{buy_command(region, offering)}`" for offering in here], buy_command(region, here[0])


class Connect(Protocol):
    """AWS in a region."""

    def __call__(self, region: str, /) -> Api:
        """The connection."""
        ...


def regions_offering(instance_type: str) -> list[str]:
    """Regions in which the catalogue has seen the type."""
    instance = NEURON_TYPES[instance_type]
    return [region for region in REGIONS if is_seen_in(instance, region, zone_id_prefix(region))]


def types_in(region: str) -> list[str]:
    """Neuron types that the catalogue has seen in a region; all of them for a region that it does not know."""
    return [name for name in NEURON_TYPES if region in regions_offering(name)] or list(NEURON_TYPES)


def capacity_kinds(instance_type: str) -> list[str]:
    """How the type is sold."""
    return [kind for kind in CAPACITY if kind != "capacity-block" or NEURON_TYPES[instance_type].capacity_block]


def second_zone(zone: str, region: str, known: Sequence[str] = ()) -> str:
    """Another zone for the control plane: the first of the account's, or of the region's, that EKS takes."""
    others = known or zone_ids(region) or [f"{zone_id_prefix(region)}-az{number}" for number in range(1, 4)]
    return next(other for other in sorted(others) if other != zone and other not in CONTROL_PLANE_REFUSED_ZONES)
