"""What others made in the same account, as AWS describes it, and what of it holds an object that is to be deleted.

Neighbours are not made by this program: other clusters, colleagues' resources, what was made in the console. Kinds are
those of `simulator.aws_endpoint`, entries as the service lists them.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Entry = dict[str, Any]
Entries = Callable[[str], Mapping[str, Entry]]
"""Entries of a kind, by id."""

_HELD_BY: Mapping[str, tuple[tuple[str, str], ...]] = {
    "vpc": (
        ("subnet", "VpcId"),
        ("group", "VpcId"),
        ("route table", "VpcId"),
        ("internet gateway", "Attachments"),
        ("endpoint", "VpcId"),
        ("instance", "VpcId"),
        ("lb", "VpcId"),
    ),
    "subnet": (("interface", "SubnetId"), ("nat", "SubnetId"), ("instance", "SubnetId"), ("endpoint", "SubnetIds")),
    "group": (("interface", "Groups"), ("instance", "SecurityGroups"), ("group", "IpPermissions"), ("endpoint", "Groups")),
    "address": (("nat", "NatGatewayAddresses"),),
    "placement group": (("instance", "Placement"),),
    "environment": (("queue", "computeEnvironmentOrder"),),
    "cluster": (("node group", "clusterName"),),
}
"""Kind to the kinds that hold it, and where they name it (EC2, Batch and EKS APIs, the Delete actions)."""
_CODES = {
    "environment": "ClientException",
    "address": "InvalidIPAddress.InUse",
    "placement group": "InvalidPlacementGroup.InUse",
    "cluster": "ResourceInUseException",
}


def holders(entries: Entries, kind: str, which: str) -> Iterator[tuple[str, str]]:
    """(Code, id) of each entry that holds an object; what AWS deletes along with a VPC holds nothing."""
    for other_kind, key in _HELD_BY.get(kind, ()):
        for other, entry in entries(other_kind).items():
            named = entry.get(key, which if kind == "cluster" else "")
            if (other_kind, other) != (kind, which) and not goes_along(entry) and which in _texts(named):
                yield _CODES.get(kind, "DependencyViolation"), other


def goes_along(entry: Mapping[str, Any]) -> bool:
    """Whether EC2 deletes it with its VPC: the default group and the main route table."""
    return entry.get("GroupName") == "default" or any(item.get("Main") for item in entry.get("Associations", ()))


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value; an ARN counts for its last part too."""
    if isinstance(value, str):
        yield value
        yield value.rsplit("/", 1)[-1]
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
