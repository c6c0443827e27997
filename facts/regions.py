"""Regions, partitions and zone ids: what follows from a region's name alone, so no account is asked."""

import difflib
from functools import cache

REGIONS = (
    "af-south-1", "ap-east-1", "ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2",
    "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7",
    "ca-central-1", "ca-west-1", "cn-north-1", "cn-northwest-1", "eu-central-1", "eu-central-2", "eu-isoe-west-1", "eu-north-1",
    "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "eusc-de-east-1", "il-central-1", "me-central-1",
    "me-south-1", "mx-central-1", "sa-east-1", "us-east-1", "us-east-2", "us-gov-east-1", "us-gov-west-1", "us-iso-east-1",
    "us-iso-west-1", "us-isob-east-1", "us-isob-west-1", "us-isof-east-1", "us-isof-south-1", "us-west-1", "us-west-2",
)  # fmt: skip
"""Regions with EKS, in all partitions (botocore 1.44.5 endpoints; a test compares)."""
_ZONE_NUMBERS = {
    "us-east-1": (1, 2, 3, 4, 5, 6), "us-west-2": (1, 2, 3, 4), "ca-central-1": (1, 2, 4), "ap-northeast-1": (1, 2, 3, 4),
    "ap-northeast-2": (1, 2, 3, 4), "eu-west-2": (1, 2, 3, 4),
}  # fmt: skip
_THREE_ZONES = (1, 2, 3)
"""All other regions of the partition `aws` (AWS Availability Zones, global infrastructure guide, read 2026-11)."""
CONTROL_PLANE_REFUSED_ZONES = ("use1-az3", "usw1-az2", "cac1-az3")
"""Zones in which EKS places no control plane (EKS user guide, network requirements)."""

_DIRECTIONS = {
    "north": "n", "south": "s", "east": "e", "west": "w", "central": "c",
    "northeast": "ne", "southeast": "se", "northwest": "nw", "southwest": "sw",
}  # fmt: skip


def partition(region: str) -> str:
    """Partition of a region: `aws`, `aws-us-gov`, `aws-cn` or `aws-eusc` (botocore partitions.json, 2026-11)."""
    for prefix, name in (("us-gov-", "aws-us-gov"), ("cn-", "aws-cn"), ("eusc-", "aws-eusc")):
        if region.startswith(prefix):
            return name
    return "aws"


def dns_suffix(region: str) -> str:
    """Domain of the region's endpoints."""
    return {"aws-cn": "amazonaws.com.cn", "aws-eusc": "amazonaws.eu"}.get(partition(region), "amazonaws.com")


def zone_ids(region: str) -> tuple[str, ...]:
    """Zone ids of a region; empty outside the partition `aws`, whose guide alone lists them."""
    if partition(region) != "aws" or "iso" in region:
        return ()
    return tuple(f"{zone_id_prefix(region)}-az{number}" for number in _ZONE_NUMBERS.get(region, _THREE_ZONES))


def near_regions(region: str) -> list[str]:
    """Regions whose names are nearest to one that there is not, the nearest first; none where nothing is like it."""
    return difflib.get_close_matches(region.strip().lower().replace("_", "-"), REGIONS, n=3, cutoff=0.6)


def near_zone(zone_id: str, region: str) -> str | None:
    """The zone id of the region that is nearest to a wrong one: of a zone name such as `us-west-2d`, and of another region's id, too."""
    known = zone_ids(region)
    letter = zone_id.removeprefix(region)
    if not known or (len(letter) == 1 and zone_id != letter):
        # A zone name: which id it means differs from account to account.
        return None
    same_number = [zone for zone in known if zone.rpartition("-")[2] == zone_id.rpartition("-")[2]]
    return next(iter(difflib.get_close_matches(zone_id, known, n=1, cutoff=0.6)), None) or next(iter(same_number), None)


@cache
def zone_exists(zone_id: str) -> bool:
    """Whether some region has the zone; true as well where the guide does not list the region's zones."""
    regions = [region for region in REGIONS if zone_id.startswith(f"{zone_id_prefix(region)}-az")]
    return any(not zone_ids(region) or zone_id in zone_ids(region) for region in regions)


def zone_id_prefix(region: str) -> str:
    """What the region's zone ids start with: `usw2` for `us-west-2`, `apse4` for `ap-southeast-4`, `usgw1` for GovCloud."""
    area, *directions, number = region.split("-")
    return area + "".join(_DIRECTIONS.get(word, word[0]) for word in directions) + number
