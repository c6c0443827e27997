"""Load balancers and target groups that Services and Ingresses of a cluster made."""

from collections.abc import Iterator, Sequence
from typing import Any

from operations.aws.api import Api, Call, tags_of
from operations.aws.found import Found, Kind, Place, deleter, per_day
from operations.cluster.iam.scopes import BALANCERS

DESCRIBE_BALANCERS = Call("elbv2", "DescribeLoadBalancers")
DESCRIBE_TARGET_GROUPS = Call("elbv2", "DescribeTargetGroups")
DESCRIBE_TAGS = Call("elbv2", "DescribeTags")
DELETE_BALANCER = Call("elbv2", "DeleteLoadBalancer", BALANCERS)
DELETE_TARGET_GROUP = Call("elbv2", "DeleteTargetGroup", BALANCERS)
DESCRIBE_CLASSIC = Call("elb", "DescribeLoadBalancers")
DESCRIBE_CLASSIC_TAGS = Call("elb", "DescribeTags")
DELETE_CLASSIC = Call("elb", "DeleteLoadBalancer", BALANCERS)

TAGS_AT_ONCE = 20
"""Load balancers whose tags one call gives (Elastic Load Balancing API, DescribeTags)."""


def _balancers(api: Api, place: Place) -> Iterator[Found]:
    entries = {entry["LoadBalancerArn"]: entry for entry in api.pages(DESCRIBE_BALANCERS, "LoadBalancers")}
    for arn, tags in _tags(api, list(entries)):
        because = place.reason(tags, entries[arn].get("VpcId", ""))
        if because:
            yield Found("load balancer", arn, because, entries[arn]["LoadBalancerName"], per_day("load balancer"), tags=tags)


def _target_groups(api: Api, place: Place) -> Iterator[Found]:
    entries = {entry["TargetGroupArn"]: entry for entry in api.pages(DESCRIBE_TARGET_GROUPS, "TargetGroups")}
    for arn, tags in _tags(api, list(entries)):
        because = place.reason(tags, entries[arn].get("VpcId", ""))
        if because:
            yield Found("target group", arn, because, entries[arn]["TargetGroupName"], tags=tags)


def _classic(api: Api, place: Place) -> Iterator[Found]:
    entries: dict[str, Any] = {entry["LoadBalancerName"]: entry for entry in api.pages(DESCRIBE_CLASSIC, "LoadBalancerDescriptions")}
    names = list(entries)
    for start in range(0, len(names), TAGS_AT_ONCE):
        answer = api.call(DESCRIBE_CLASSIC_TAGS, LoadBalancerNames=names[start : start + TAGS_AT_ONCE])
        for description in answer["TagDescriptions"]:
            name, tags = description["LoadBalancerName"], tags_of(description)
            because = place.reason(tags, entries[name].get("VPCId", ""))
            if because:
                yield Found("classic load balancer", name, because, name, per_day("load balancer"), tags=tags)


def _tags(api: Api, arns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    for start in range(0, len(arns), TAGS_AT_ONCE):
        answer = api.call(DESCRIBE_TAGS, ResourceArns=list(arns[start : start + TAGS_AT_ONCE]))
        for description in answer["TagDescriptions"]:
            yield description["ResourceArn"], tags_of(description)


LOAD_BALANCERS = Kind("load balancer", _balancers, deleter(DELETE_BALANCER, "LoadBalancerArn"))
TARGET_GROUPS = Kind("target group", _target_groups, deleter(DELETE_TARGET_GROUP, "TargetGroupArn"))
CLASSIC_LOAD_BALANCERS = Kind("classic load balancer", _classic, deleter(DELETE_CLASSIC, "LoadBalancerName"))
