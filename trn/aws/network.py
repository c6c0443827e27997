"""VPCs of a cluster, and the rules of its security groups."""

from collections.abc import Iterator, Mapping
from typing import Any

from trn.aws.api import Api, Call
from trn.aws.leftovers import Place, kind_named
from trn.aws.sighting import filters

DESCRIBE_RULES = Call("ec2", "DescribeSecurityGroupRules")


def cluster_vpcs(api: Api, cluster: str) -> dict[str, Mapping[str, str]]:
    """Tags of the VPCs that carry the cluster's exact tag, by id. Most often one or none."""
    return {found.id: found.tags for found in kind_named("VPC").find(api, Place(cluster))}


def group_rules(api: Api, group_id: str) -> Iterator[dict[str, Any]]:
    """The rules of one security group."""
    yield from api.pages(DESCRIBE_RULES, "SecurityGroupRules", Filters=filters({"group-id": group_id}))
