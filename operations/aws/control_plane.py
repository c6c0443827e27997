"""The control plane and its parts, as far as they can be left over."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from operations.aws.api import Api, Call, tags_of
from operations.aws.errors import NOT_FOUND, code_of
from operations.aws.found import Found, Kind, Place, per_day
from operations.cluster.iam.scopes import CLUSTER, part_of_cluster

DESCRIBE_CLUSTER = Call("eks", "DescribeCluster", CLUSTER)
DELETE_CLUSTER = Call("eks", "DeleteCluster", CLUSTER)
LIST_NODE_GROUPS = Call("eks", "ListNodegroups", CLUSTER)
DESCRIBE_NODE_GROUP = Call("eks", "DescribeNodegroup", part_of_cluster("nodegroup"))
DELETE_NODE_GROUP = Call("eks", "DeleteNodegroup", part_of_cluster("nodegroup"))
LIST_ACCESS_ENTRIES = Call("eks", "ListAccessEntries", CLUSTER)
DESCRIBE_ACCESS_ENTRY = Call("eks", "DescribeAccessEntry", part_of_cluster("access-entry"))
DELETE_ACCESS_ENTRY = Call("eks", "DeleteAccessEntry", part_of_cluster("access-entry"))


def described(api: Api, cluster: str) -> dict[str, Any] | None:
    """The EKS cluster of exactly this name as EKS describes it, None where there is none."""
    try:
        return api.call(DESCRIBE_CLUSTER, name=cluster)["cluster"]
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return None
        raise


def _clusters(api: Api, place: Place) -> Iterator[Found]:
    entry = described(api, place.cluster)
    if entry is not None:
        tags = tags_of(entry, "tags")
        because = place.reason(tags, entry.get("resourcesVpcConfig", {}).get("vpcId", ""))
        usd = per_day("control plane, standard support")
        if because:
            yield Found("EKS cluster", place.cluster, because, entry["status"], usd, entry["status"] == "DELETING", tags)


def _node_groups(api: Api, place: Place) -> Iterator[Found]:
    """What their instances cost is on the instances' lines."""
    for cluster in _clusters(api, place):
        for name in api.pages(LIST_NODE_GROUPS, "nodegroups", clusterName=cluster.id):
            entry = api.call(DESCRIBE_NODE_GROUP, clusterName=cluster.id, nodegroupName=name)["nodegroup"]
            tags, rest = tags_of(entry, "tags"), {"name": name, "cluster": cluster.id}
            yield Found("node group", f"{cluster.id}:{name}", cluster.because, name, 0.0, entry["status"] == "DELETING", tags, rest)


def _access_entries(api: Api, place: Place) -> Iterator[Found]:
    """Those with the exact tag: EKS's own for node roles have none, and go with the cluster."""
    for cluster in _clusters(api, place):
        for principal in api.pages(LIST_ACCESS_ENTRIES, "accessEntries", clusterName=cluster.id):
            entry = api.call(DESCRIBE_ACCESS_ENTRY, clusterName=cluster.id, principalArn=principal)["accessEntry"]
            tags = tags_of(entry, "tags")
            because = place.reason(tags)
            if because:
                rest = {"principal": principal, "cluster": cluster.id}
                yield Found("access entry", f"{cluster.id}:{principal}", because, principal, tags=tags, rest=rest)


def _delete_cluster(api: Api, found: Found) -> None:
    api.call(DELETE_CLUSTER, name=found.id)


def _delete_node_group(api: Api, found: Found) -> None:
    api.call(DELETE_NODE_GROUP, clusterName=found.rest["cluster"], nodegroupName=found.rest["name"])


def _delete_access_entry(api: Api, found: Found) -> None:
    api.call(DELETE_ACCESS_ENTRY, clusterName=found.rest["cluster"], principalArn=found.rest["principal"])


EKS_CLUSTERS = Kind("EKS cluster", _clusters, _delete_cluster)
NODE_GROUPS = Kind("node group", _node_groups, _delete_node_group)
ACCESS_ENTRIES = Kind("access entry", _access_entries, _delete_access_entry)
