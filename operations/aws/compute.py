"""Instances, volumes, launch templates and placement groups that a cluster may leave."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.catalogue import instance_type
from operations.aws.api import Api, Call, tags_of
from operations.aws.found import HOURS_PER_DAY, Found, Kind, Place, deleter, finder, per_day
from operations.belonging import NAME_TAGS, owned_key
from operations.cluster.iam.scopes import OWNED, TAGGED

DESCRIBE_INSTANCES = Call("ec2", "DescribeInstances")
TERMINATE_INSTANCES = Call("ec2", "TerminateInstances", OWNED)
DESCRIBE_VOLUMES = Call("ec2", "DescribeVolumes")
DELETE_VOLUME = Call("ec2", "DeleteVolume", OWNED)
DESCRIBE_TEMPLATES = Call("ec2", "DescribeLaunchTemplates")
DELETE_TEMPLATE = Call("ec2", "DeleteLaunchTemplate", OWNED)
DESCRIBE_PLACEMENT_GROUPS = Call("ec2", "DescribePlacementGroups")
DELETE_PLACEMENT_GROUP = Call("ec2", "DeletePlacementGroup", TAGGED)

_ALIVE = ["pending", "running", "shutting-down", "stopping", "stopped"]


def _instances(api: Api, place: Place) -> Iterator[Found]:
    """Those of node groups and of Karpenter; a stopped one bills its volumes only."""
    ways = [{"Name": "tag-key", "Values": [*NAME_TAGS, owned_key(place.cluster)]}]
    if place.vpc_ids:
        ways.append({"Name": "vpc-id", "Values": sorted(place.vpc_ids)})
    seen: set[str] = set()
    for way in ways:
        for group in api.pages(DESCRIBE_INSTANCES, "Reservations", Filters=[{"Name": "instance-state-name", "Values": _ALIVE}, way]):
            for entry in group["Instances"]:
                tags = tags_of(entry)
                because = place.reason(tags, entry.get("VpcId", ""))
                if because and entry["InstanceId"] not in seen:
                    seen.add(entry["InstanceId"])
                    yield _instance(entry, tags, because)


def _instance(entry: dict[str, Any], tags: dict[str, str], because: str) -> Found:
    state = entry["State"]["Name"]
    usd = 0.0 if state in ("shutting-down", "stopped") else _instance_usd(entry["InstanceType"])
    name = f"{entry['InstanceType']} {tags.get('Name', '')}".strip()
    return Found("instance", entry["InstanceId"], because, name, usd, state == "shutting-down", tags)


def _instance_usd(name: str) -> float | None:
    try:
        price = instance_type(name).price_usd_per_hour
    except KeyError:
        return None
    return None if price is None else round(price * HOURS_PER_DAY, 2)


def _volume_usd(entry: Mapping[str, Any]) -> float | None:
    return per_day("gp3 volume", entry["Size"]) if entry["VolumeType"] == "gp3" else None


def _terminate(api: Api, found: Found) -> None:
    api.call(TERMINATE_INSTANCES, InstanceIds=[found.id])


INSTANCES = Kind("instance", _instances, _terminate)
VOLUMES = Kind(
    "volume",
    # Those that nothing uses: attached ones go with their instance.
    finder(
        "volume", DESCRIBE_VOLUMES, "Volumes", "VolumeId", cost=_volume_usd, only={"status": ["available"]},
        name=lambda entry: f"{entry['Size']} GiB {entry['VolumeType']}",
    ),
    deleter(DELETE_VOLUME, "VolumeId"),
)  # fmt: skip
LAUNCH_TEMPLATES = Kind(
    "launch template",
    finder(
        "launch template", DESCRIBE_TEMPLATES, "LaunchTemplates", "LaunchTemplateId", name=lambda entry: entry["LaunchTemplateName"],
    ),
    deleter(DELETE_TEMPLATE, "LaunchTemplateId"),
)  # fmt: skip
PLACEMENT_GROUPS = Kind(
    "placement group",
    finder(
        "placement group", DESCRIBE_PLACEMENT_GROUPS, "PlacementGroups", "GroupName", name=lambda entry: entry["GroupName"], going="deleting",
    ),
    deleter(DELETE_PLACEMENT_GROUP, "GroupName"),
)  # fmt: skip
