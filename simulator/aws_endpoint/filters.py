"""Filters of EC2's lists, as far as `trn` gives them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from simulator.aws_endpoint.entries import Entry


def passes(entry: Mapping[str, Any], filters: Iterable[Mapping[str, Any]]) -> bool:
    """Whether an entry fits all filters. Raises AssertionError for a filter that is not known: it is never ignored in silence."""
    return all(_matches(entry, item["Name"], item["Values"]) for item in filters)


def _matches(entry: Mapping[str, Any], name: str, values: Sequence[str]) -> bool:
    tags = {tag["Key"]: tag.get("Value") for tag in entry.get("Tags") or entry.get("TagSet") or []}
    if name == "tag-key":
        return bool(tags.keys() & set(values))
    if name.startswith("tag:"):
        return tags.get(name.removeprefix("tag:")) in values
    assert name in _VALUES, f"the simulated account knows no filter {name}"
    return bool(set(_VALUES[name](entry)) & set(values))


def _member(*keys: str) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda entry: [entry[key] for key in keys if isinstance(entry.get(key), str)]


def _of_list(key: str, member: str) -> Callable[[Mapping[str, Any]], list[Any]]:
    return lambda entry: [item.get(member) for item in entry.get(key) or ()]


_VALUES: Mapping[str, Callable[[Mapping[str, Any]], list[Any]]] = {
    "vpc-id": _member("VpcId"),
    "attachment.vpc-id": _of_list("Attachments", "VpcId"),
    "instance-state-name": lambda entry: [entry["State"]["Name"]],
    "status": _member("Status", "State"),
    "state": _member("Status", "State"),
    "subnet-id": _member("SubnetId"),
    "group-id": _member("GroupId"),
    "group-name": _member("GroupName"),
    "network-interface-id": _member("NetworkInterfaceId"),
    "launch-template-name": _member("LaunchTemplateName"),
    "route-table-id": _member("RouteTableId"),
    "association.subnet-id": _of_list("Associations", "SubnetId"),
    "volume-id": _member("VolumeId"),
    "file-system-id": _member("FileSystemId"),
    "auto-scaling-group": _member("ResourceId"),
    "resource-id": _member("ResourceId"),
    "key": _member("Key"),
}


def listed(entries: Mapping[str, Entry], given: Mapping[str, Any], *, ignored: bool) -> list[Entry]:
    """Entries that a request's filters let through; all of them where filters are ignored."""
    filters = given.get("Filters") or given.get("Filter") or []
    return [entry for entry in entries.values() if ignored or passes(entry, filters)]
