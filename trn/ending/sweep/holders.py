"""What keeps an object of the network from going for good: something that the sweep leaves alone lies in it, or uses it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trn.aws.leftovers import Found

_PLACES = (
    "VpcId", "VPCId", "Attachments.VpcId", "resourcesVpcConfig.vpcId", "SubnetId", "SubnetIds", "resourcesVpcConfig.subnetIds",
    "Subnets", "Groups.GroupId", "SecurityGroups.GroupId", "Placement.GroupName",
)  # fmt: skip
"""Where descriptions name the VPC, subnets, security groups and placement group that an object holds (EC2, EKS, ELB and FSx APIs)."""
_HOLDS_NOTHING = frozenset({"target group"})
"""Kinds that only name a VPC."""


def holder_of(item: Found, kept: Iterable[tuple[Found, str]]) -> tuple[Found, str] | None:
    """Which of the kept objects, each with the reason, holds this one for as long as it lives.

    None where none does; one that is being deleted holds nothing for good.
    """
    for other, why in kept:
        if other.going or other.kind in _HOLDS_NOTHING or other.key == item.key:
            continue
        if item.id in _texts(other, _PLACES) or (_has_public_address(other) and other.vpc_id in _texts(item, ("Attachments.VpcId",))):
            return other, why
    return None


def _has_public_address(other: Found) -> bool:
    """While there is one in its VPC an internet gateway is not detached (EC2 API, DetachInternetGateway)."""
    is_public_gateway = "NatGatewayId" in other.entry and other.entry.get("ConnectivityType") != "private"
    return is_public_gateway or bool(other.entry.get("PublicIpAddress"))


def _texts(found: Found, places: Iterable[str]) -> Iterator[str]:
    """All texts at these places of a description."""
    for place in places:
        yield from _at(found.entry, place.split("."))


def _at(value: Any, keys: list[str]) -> Iterator[str]:
    """All texts at one place, of which every level may be a list."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _at(each, keys)
    elif keys and isinstance(value, Mapping):
        yield from _at(value.get(keys[0]), keys[1:])
    elif not keys and isinstance(value, str):
        yield value
