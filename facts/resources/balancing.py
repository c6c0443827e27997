"""Elastic Load Balancing: what Services and Ingresses of a cluster make."""

from facts.prices import hourly
from facts.resources.queries import Deletion, Detail, Entry, Leftover, Query, Stage
from facts.resources.resource_type import Foreign
from facts.resources.rights import BALANCERS

TAGS_AT_ONCE = 20
"""Load balancers whose tags one call gives (Elastic Load Balancing API, DescribeTags)."""


def load_balancer_path(name: str, digits: str) -> str:
    """What the ARN of a network load balancer ends with (Elastic Load Balancing user guides, identity-based policies)."""
    return f"loadbalancer/net/{name}/{digits}"


def _usd(entry: Entry) -> float:
    return hourly("load balancer")


_TAGS = Query("elbv2", "DescribeTags", "TagDescriptions", "ResourceArn")
LOAD_BALANCER = Foreign(
    Leftover(
        "load balancer",
        Stage.BALANCERS,
        Query("elbv2", "DescribeLoadBalancers", "LoadBalancers", "LoadBalancerArn", tags="", vpc="VpcId", absent="LoadBalancerNotFound"),
        "tags or VPC",
        detail=Detail(_TAGS, {"ResourceArns[]": "LoadBalancerArn"}, at_once=TAGS_AT_ONCE),
        label="{LoadBalancerName}",
        usd_per_hour=_usd,
        scopes=BALANCERS,
    ),
    Deletion("elbv2", "DeleteLoadBalancer", {"LoadBalancerArn": "LoadBalancerArn"}),
)
CLASSIC_LOAD_BALANCER = Foreign(
    Leftover(
        "classic load balancer",
        Stage.BALANCERS,
        Query(
            "elb",
            "DescribeLoadBalancers",
            "LoadBalancerDescriptions",
            "LoadBalancerName",
            tags="",
            vpc="VPCId",
            absent="LoadBalancerNotFound",
        ),
        "tags or VPC",
        detail=Detail(
            Query("elb", "DescribeTags", "TagDescriptions", "LoadBalancerName"),
            {"LoadBalancerNames[]": "LoadBalancerName"},
            at_once=TAGS_AT_ONCE,
        ),
        label="{LoadBalancerName}",
        usd_per_hour=_usd,
        scopes=BALANCERS,
    ),
    Deletion("elb", "DeleteLoadBalancer", {"LoadBalancerName": "LoadBalancerName"}),
)
TARGET_GROUP = Foreign(
    Leftover(
        "target group",
        Stage.BALANCERS,
        Query("elbv2", "DescribeTargetGroups", "TargetGroups", "TargetGroupArn", tags="", vpc="VpcId", absent="TargetGroupNotFound"),
        "tags or VPC",
        detail=Detail(_TAGS, {"ResourceArns[]": "TargetGroupArn"}, at_once=TAGS_AT_ONCE),
        label="{TargetGroupName}",
        scopes=BALANCERS,
    ),
    Deletion("elbv2", "DeleteTargetGroup", {"TargetGroupArn": "TargetGroupArn"}),
)
FOREIGN = (LOAD_BALANCER, CLASSIC_LOAD_BALANCER, TARGET_GROUP)
