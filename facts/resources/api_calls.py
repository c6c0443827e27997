"""API calls that make a resource: Pulumi's inputs on the left, the API's own members on the right.

Only inputs that a program here sends are listed, so that a misspelt or further one is noticed.
Sources: create functions of hashicorp/terraform-provider-aws, internal/service, read 2026-11; API models of botocore 1.44.5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Convert = Callable[[Any], Any]
Member = str | tuple[str, "Convert | Members | list[Members]"]
"""Where an input is in the request: `A.B` is member B of structure A, `A[]` the only entry of list A.

Alone, or with what becomes of the value: a function, the members of a structure, or a list of such structures.
"""
Members = Mapping[str, Member]


@dataclass(frozen=True)
class ApiCall:
    """One API call and where its members come from."""

    service: str
    operation: str
    members: Members
    constants: Mapping[str, Any] = field(default_factory=dict)
    """What the provider fills in itself, by place."""
    id_member: str | None = None
    """Place of the resource's own id, in calls that follow the one that makes it."""
    needs: str | None = None
    """Input without which the call is not made."""
    unless: bool = False
    """Value of `needs` that makes no call either, since it is what AWS does by default."""
    computed: Mapping[str, str] = field(default_factory=dict)
    """Outputs that the call takes, such as the number of the account, by place."""
    each: str = ""
    """Input with a list, for each entry of which the call is made."""
    each_members: Members = field(default_factory=dict)
    """Members of the call that come from the entry."""


@dataclass(frozen=True)
class Creation:
    """The calls that make a resource; the first is the one that makes it, the others finish it."""

    calls: tuple[ApiCall, ...]
    later: frozenset[str] = frozenset()
    """Inputs that only an update or a deletion uses."""


def creation(*calls: ApiCall, later: tuple[str, ...] = ()) -> Creation:
    """A creation by these calls."""
    return Creation(calls, frozenset(later))


def same(*names: str) -> dict[str, Member]:
    """Inputs that the API spells alike."""
    return {name: name for name in names}


def titled(*names: str) -> dict[str, Member]:
    """Inputs that the API spells with a capital."""
    return {name: name[0].upper() + name[1:] for name in names}


_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def boolean(value: Any) -> Any:
    """A boolean from the text that launch templates hold; any other text is left for the shapes to refuse.

    Source: expandLaunchTemplateEBSBlockDeviceRequest of hashicorp/terraform-provider-aws, which reads as Go's strconv.ParseBool.
    """
    return _BOOLEANS.get(value, value) if isinstance(value, str) else value


def pairs(tags: Any) -> Any:
    """Tags as a list of Key and Value, by key."""
    return [{"Key": key, "Value": tags[key]} for key in sorted(tags)] if isinstance(tags, Mapping) else tags


def ec2_tags(resource_type: str) -> dict[str, Member]:
    """`tags` of an EC2 resource, which go with the call that makes it."""
    return {"tags": ("TagSpecifications", lambda tags: [{"ResourceType": resource_type, "Tags": pairs(tags)}] if tags else None)}


def as_text(value: Any) -> str:
    """A number or a boolean as the text that attributes of a queue are."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def put(parameters: dict[str, Any], place: str, value: Any) -> None:
    """Set a member by its place, such as `Tags[].ResourceId`; structures and lists that meet in one place are joined."""
    *parents, last = place.split(".")
    node = parameters
    for part in parents:
        node = node.setdefault(part[:-2], [{}])[0] if part.endswith("[]") else node.setdefault(part, {})
    if not last.endswith("[]"):
        before = node.get(last)
        node[last] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    elif isinstance(value, Mapping):
        node.setdefault(last[:-2], [{}])[0].update(value)
    else:
        node[last[:-2]] = [value]
