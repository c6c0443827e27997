"""Zones, what is offered in them, and capacity that was reserved in them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trn.aws.api import Api, Call, tags_of

DESCRIBE_ZONES = Call("ec2", "DescribeAvailabilityZones")
DESCRIBE_OFFERINGS = Call("ec2", "DescribeInstanceTypeOfferings")
DESCRIBE_TYPES = Call("ec2", "DescribeInstanceTypes")
DESCRIBE_RESERVATIONS = Call("ec2", "DescribeCapacityReservations")


@dataclass(frozen=True)
class Zone:
    """One zone as this account sees it."""

    zone_id: str
    zone_name: str
    state: str
    opt_in_status: str

    @property
    def is_usable(self) -> bool:
        """Whether subnets can be made in it."""
        return self.state == "available" and self.opt_in_status != "not-opted-in"


def zones(api: Api) -> dict[str, Zone]:
    """All zones of the region by id, those included that the account has not opted into."""
    entries = api.pages(DESCRIBE_ZONES, "AvailabilityZones", AllAvailabilityZones=True)
    return {entry["ZoneId"]: Zone(entry["ZoneId"], entry["ZoneName"], entry["State"], entry["OptInStatus"]) for entry in entries}


def offered_zone_ids(api: Api, instance_types: Iterable[str]) -> dict[str, frozenset[str]]:
    """Zone ids that offer each type; a type that is offered nowhere in the region has none."""
    names = sorted(set(instance_types))
    filters = [{"Name": "instance-type", "Values": names}]
    found: dict[str, set[str]] = {name: set() for name in names}
    for entry in api.pages(DESCRIBE_OFFERINGS, "InstanceTypeOfferings", LocationType="availability-zone-id", Filters=filters):
        found[entry["InstanceType"]].add(entry["Location"])
    return {name: frozenset(places) for name, places in found.items()}


def vcpu_counts(api: Api, instance_types: Iterable[str]) -> dict[str, int]:
    """vCPUs of each type, the unit of EC2's quotas."""
    names = sorted(set(instance_types))
    # EC2 takes at most 100 names at once.
    chunks = [names[start : start + 100] for start in range(0, len(names), 100)]
    return {
        entry["InstanceType"]: entry["VCpuInfo"]["DefaultVCpus"]
        for chunk in chunks
        for entry in api.pages(DESCRIBE_TYPES, "InstanceTypes", InstanceTypes=chunk)
    }


@dataclass(frozen=True)
class Reservation:
    """A capacity reservation, or a capacity block."""

    id: str
    is_block: bool
    instance_type: str
    zone_id: str
    state: str
    total_count: int
    available_count: int
    starts: datetime | None
    ends: datetime | None
    """None for a reservation without an end."""
    owner: str = ""
    """Account that pays for it; another one where it is shared."""
    is_targeted: bool = False
    """Whether only launches that name it use it; into an open one any launch of the type in its zone goes."""
    tags: Mapping[str, str] = field(default_factory=dict)


def reservations(api: Api, ids: Iterable[str]) -> Mapping[str, Reservation]:
    """Reservations by id. Raises ClientError where one is not there."""
    return _by_id(api.pages(DESCRIBE_RESERVATIONS, "CapacityReservations", CapacityReservationIds=sorted(set(ids))))


def reservations_of(api: Api, instance_types: Iterable[str] = (), tags: Mapping[str, str] | None = None) -> Mapping[str, Reservation]:
    """Reservations and blocks of some types, or with some tags, by id: the account's own, those shared with it, and those that are over."""
    names = sorted(set(instance_types))
    filters: list[dict[str, Any]] = [{"Name": "instance-type", "Values": names}] if names else []
    filters += [{"Name": f"tag:{key}", "Values": [value]} for key, value in (tags or {}).items()]
    return _by_id(api.pages(DESCRIBE_RESERVATIONS, "CapacityReservations", Filters=filters))


def _by_id(entries: Iterable[Mapping[str, Any]]) -> dict[str, Reservation]:
    return {entry["CapacityReservationId"]: _reservation(entry) for entry in entries}


def _reservation(entry: Mapping[str, Any]) -> Reservation:
    return Reservation(
        id=entry["CapacityReservationId"],
        is_block=entry.get("ReservationType") == "capacity-block",
        instance_type=entry["InstanceType"],
        zone_id=entry["AvailabilityZoneId"],
        state=entry["State"],
        total_count=entry["TotalInstanceCount"],
        available_count=entry["AvailableInstanceCount"],
        starts=entry.get("StartDate"),
        ends=entry.get("EndDate"),
        owner=entry.get("OwnerId", ""),
        is_targeted=entry.get("InstanceMatchCriteria") == "targeted",
        tags=tags_of(entry),
    )
