"""Finds what a run made in EKS and Auto Scaling: all of it has names."""

from collections.abc import Iterator, Mapping

from facts.names import CLUSTER_TAG
from operations.aws.api import Api, Call
from operations.aws.control_plane import DESCRIBE_ACCESS_ENTRY, DESCRIBE_CLUSTER, DESCRIBE_NODE_GROUP
from operations.aws.sighting import Finder, Inputs, Sighting, described, filters, sighted
from operations.cluster.iam.scopes import CLUSTER, part_of_cluster

DESCRIBE_ADDON = Call("eks", "DescribeAddon", part_of_cluster("addon"))
LIST_ASSOCIATED_POLICIES = Call("eks", "ListAssociatedAccessPolicies", part_of_cluster("access-entry"))
LIST_IDENTITIES = Call("eks", "ListPodIdentityAssociations", CLUSTER)
DESCRIBE_GROUP_TAGS = Call("autoscaling", "DescribeTags")


def _cluster(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    """The one that carries the cluster's tag: another one of that name is not ours."""
    entry = described(api, DESCRIBE_CLUSTER, name=inputs["name"]).get("cluster", {})
    if entry.get("tags", {}).get(CLUSTER_TAG) == cluster:
        yield from sighted(inputs["name"], entry["status"])


def _node_group(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    owner, name = inputs["clusterName"], inputs["nodeGroupName"]
    entry = described(api, DESCRIBE_NODE_GROUP, clusterName=owner, nodegroupName=name).get("nodegroup")
    if entry:
        yield from sighted(f"{owner}:{name}", entry["status"])


def _addon(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    owner, name = inputs["clusterName"], inputs["addonName"]
    entry = described(api, DESCRIBE_ADDON, clusterName=owner, addonName=name).get("addon")
    if entry:
        yield from sighted(f"{owner}:{name}", entry["status"])


def _access_entry(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    owner, principal = inputs["clusterName"], inputs["principalArn"]
    if described(api, DESCRIBE_ACCESS_ENTRY, clusterName=owner, principalArn=principal):
        yield from sighted(f"{owner}:{principal}")


def _policy_association(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    owner, principal, policy = inputs["clusterName"], inputs["principalArn"], inputs["policyArn"]
    # Asked before the list, which refuses for an entry that is not there.
    if described(api, DESCRIBE_ACCESS_ENTRY, clusterName=owner, principalArn=principal):
        for entry in api.pages(LIST_ASSOCIATED_POLICIES, "associatedAccessPolicies", clusterName=owner, principalArn=principal):
            if entry["policyArn"] == policy:
                yield from sighted(f"{owner}#{principal}#{policy}")


def _pod_identity(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    owner, account = inputs["clusterName"], (inputs["namespace"], inputs["serviceAccount"])
    for entry in api.pages(LIST_IDENTITIES, "associations", clusterName=owner, namespace=account[0], serviceAccount=account[1]):
        if (entry["namespace"], entry["serviceAccount"]) == account:
            yield from sighted(f"{owner},{entry['associationId']}")


def _group_tag(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    group, key = inputs["autoscalingGroupName"], inputs["tag"]["key"]
    for entry in api.pages(DESCRIBE_GROUP_TAGS, "Tags", Filters=filters({"auto-scaling-group": group, "key": key})):
        if (entry["ResourceId"], entry["Key"]) == (group, key):
            yield from sighted(f"{group},{key}")


FINDERS: Mapping[str, Finder] = {
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _policy_association,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity,
    "aws:autoscaling/tag:Tag": _group_tag,
}
