"""Capacity blocks that are on offer: where, when, for how much, and the command that buys one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from facts.block_sales import DAYS_H_MAX, WEEKS_H_MAX, WINDOW, is_sold
from trn.aws.api import Api, Call
from trn.aws.zones import zones
from trn.cli.errors import MISUSE, CommandError

DESCRIBE_BLOCK_OFFERINGS = Call("ec2", "DescribeCapacityBlockOfferings")
PLATFORM = "Linux/UNIX"


@dataclass(frozen=True)
class Offering:
    """One block that can be bought."""

    id: str
    instance_type: str
    instance_count: int
    zone_id: str
    starts: datetime
    ends: datetime
    duration_h: int
    fee: float
    """Of the whole block, paid in advance."""
    currency: str

    def __str__(self) -> str:
        each = self.fee / (self.duration_h * self.instance_count)
        when = f"from {self.starts:%Y-%m-%d %H:%M} to {self.ends:%Y-%m-%d %H:%M} UTC"
        price = f"{self.fee:.2f} {self.currency}, {each:.2f} an instance and hour"
        return f"{self.instance_count} x {self.instance_type} in {self.zone_id} {when} for {price}"


def refuse_hours(hours: int) -> None:
    """Raises CommandError for a length in which no block is sold (EC2 API, DescribeCapacityBlockOfferings)."""
    if not is_sold(hours):
        hint = f"whole days up to {DAYS_H_MAX}, whole weeks up to {WEEKS_H_MAX}: 24, 48, 168, 336, 504"
        raise CommandError(f"capacity blocks are not sold for {hours} hours (`--block-hours`)", hint, code=MISUSE)


def block_offerings(
    api: Api, instance_type: str, instance_count: int, hours: int, today: date, zone_id_of: Mapping[str, str] | None = None
) -> list[Offering]:
    """Blocks of a type that start on a day or later, the earliest first: EC2 gives those that come nearest to the length asked for.

    `zone_id_of`: zone ids by zone name, where they are known.
    """
    start = datetime.combine(today, time(), UTC)
    if zone_id_of is None:
        zone_id_of = {zone.zone_name: zone.zone_id for zone in zones(api).values()}
    found = api.pages(
        DESCRIBE_BLOCK_OFFERINGS, "CapacityBlockOfferings", InstanceType=instance_type, InstanceCount=instance_count,
        CapacityDurationHours=hours, StartDateRange=start, EndDateRange=start + WINDOW + timedelta(hours=hours),
    )  # fmt: skip
    made = (
        Offering(
            entry["CapacityBlockOfferingId"], entry["InstanceType"], entry["InstanceCount"],
            zone_id_of.get(str(entry["AvailabilityZone"]), str(entry["AvailabilityZone"])), entry["StartDate"], entry["EndDate"],
            entry["CapacityBlockDurationHours"], float(entry["UpfrontFee"]), entry["CurrencyCode"],
        )
        for entry in found
    )  # fmt: skip
    return sorted(made, key=lambda offering: (offering.starts, offering.fee, offering.id))


def buy_command(region: str, offering: Offering) -> str:
    """What buys it, and prints the id of the reservation. There is no way back from it."""
    block = f"--capacity-block-offering-id {offering.id} --instance-platform {PLATFORM}"
    return f"aws ec2 purchase-capacity-block --region {region} {block}"
