"""The control plane and its node groups, as EKS describes them."""

from collections.abc import Iterator
from typing import Any

from facts.resources.rights import CLUSTER, part_of_cluster
from trn.aws import sighting
from trn.aws.api import Api, Call

DESCRIBE_CLUSTER = Call("eks", "DescribeCluster", CLUSTER)
LIST_NODE_GROUPS = Call("eks", "ListNodegroups", CLUSTER)
DESCRIBE_ADDON = Call("eks", "DescribeAddon", part_of_cluster("addon"))
DESCRIBE_SUBNETS = Call("ec2", "DescribeSubnets")
DESCRIBE_NODE_GROUP = Call("eks", "DescribeNodegroup", part_of_cluster("nodegroup"))


def described(api: Api, cluster: str) -> dict[str, Any] | None:
    """The EKS cluster of exactly this name as EKS describes it, None where there is none."""
    return sighting.described(api, DESCRIBE_CLUSTER, name=cluster).get("cluster")


def node_group_names(api: Api, cluster: str) -> Iterator[str]:
    """Managed node groups of a cluster."""
    yield from api.pages(LIST_NODE_GROUPS, "nodegroups", clusterName=cluster)


def node_group(api: Api, cluster: str, name: str) -> dict[str, Any]:
    """One managed node group as EKS describes it. Raises what botocore raises."""
    return api.call(DESCRIBE_NODE_GROUP, clusterName=cluster, nodegroupName=name)["nodegroup"]


def addon_version(api: Api, cluster: str, addon: str) -> str:
    """Version of an EKS add-on that a cluster has; empty where it has none. Raises what botocore raises."""
    return str(sighting.described(api, DESCRIBE_ADDON, clusterName=cluster, addonName=addon).get("addon", {}).get("addonVersion", ""))


def free_addresses(api: Api, subnets: list[str]) -> dict[str, int]:
    """Free addresses by subnet; one that is gone is missing."""
    entries = api.pages(DESCRIBE_SUBNETS, "Subnets", Filters=[{"Name": "subnet-id", "Values": subnets}])
    return {entry["SubnetId"]: int(entry["AvailableIpAddressCount"]) for entry in entries}
