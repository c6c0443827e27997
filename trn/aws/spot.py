"""What EC2 says of spot instances: how likely a request is to succeed in a zone, and what they cost by the hour."""

from collections.abc import Mapping
from datetime import datetime

from trn.aws.api import Api, Call

GET_SCORES = Call("ec2", "GetSpotPlacementScores")
DESCRIBE_PRICES = Call("ec2", "DescribeSpotPriceHistory")
SCORE_MAX = 10
"""EC2 API, SpotPlacementScore: 10 is highly likely to succeed, 1 is not likely. Of one instance type alone EC2 says a low score always."""


def spot_scores(api: Api, instance_type: str, count: int) -> dict[str, int]:
    """Score of each zone id of the region, 1 to 10, for so many instances in that one zone; zones without one are left out."""
    found = api.pages(
        GET_SCORES, "SpotPlacementScores", InstanceTypes=[instance_type], TargetCapacity=count, TargetCapacityUnitType="units",
        SingleAvailabilityZone=True, RegionNames=[api.region],
    )  # fmt: skip
    return {entry["AvailabilityZoneId"]: entry["Score"] for entry in found if "AvailabilityZoneId" in entry}


def spot_prices(api: Api, instance_type: str, now: datetime, zone_id_of: Mapping[str, str]) -> dict[str, float]:
    """USD of an instance and hour by zone id, at this moment. `zone_id_of`: zone ids by zone name."""
    found = api.pages(
        DESCRIBE_PRICES, "SpotPriceHistory", InstanceTypes=[instance_type], ProductDescriptions=["Linux/UNIX"], StartTime=now, EndTime=now
    )
    latest: dict[str, tuple[datetime, float]] = {}
    for entry in found:
        zone_id = entry.get("AvailabilityZoneId") or zone_id_of.get(entry["AvailabilityZone"], entry["AvailabilityZone"])
        latest[zone_id] = max(latest.get(zone_id, (entry["Timestamp"], 0.0)), (entry["Timestamp"], float(entry["SpotPrice"])))
    return {zone_id: price for zone_id, (_, price) in latest.items()}
