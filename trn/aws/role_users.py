"""Which clusters of the region use which IAM role: reads only."""

from collections.abc import Iterator, Mapping

from botocore.exceptions import ClientError

from facts.resources.rights import Scope, role_of
from trn.aws.api import Api, Call
from trn.aws.errors import NOT_FOUND, code_of
from trn.aws.sighting import described

EVERY_CLUSTER = (Scope("arn:{partition}:eks:{region}:*:*"),)
"""And its parts: what only reads them is not narrowed to the stack's own."""
LIST_CLUSTERS = Call("eks", "ListClusters")
DESCRIBE_CLUSTER = Call("eks", "DescribeCluster", EVERY_CLUSTER)
LIST_NODE_GROUPS = Call("eks", "ListNodegroups", EVERY_CLUSTER)
DESCRIBE_NODE_GROUP = Call("eks", "DescribeNodegroup", EVERY_CLUSTER)
LIST_IDENTITIES = Call("eks", "ListPodIdentityAssociations", EVERY_CLUSTER)
DESCRIBE_IDENTITY = Call("eks", "DescribePodIdentityAssociation", EVERY_CLUSTER)


def role_users(api: Api) -> Mapping[str, frozenset[str]]:
    """Names of the clusters that use a role, by the role's name: control planes, node groups and pods. Raises what botocore raises.

    A role's name is its own in an account, whatever its path (IAM API, CreateRole).
    """
    found: dict[str, set[str]] = {}
    for cluster in api.pages(LIST_CLUSTERS, "clusters"):
        try:
            for arn in _roles(api, cluster):
                found.setdefault(role_of(arn), set()).add(cluster)
        except ClientError as error:
            # A list of the parts of a cluster that is gone by now.
            if code_of(error) not in NOT_FOUND:
                raise
    return {role: frozenset(users) for role, users in found.items() if role}


def _roles(api: Api, cluster: str) -> Iterator[str]:
    """ARNs of a cluster's roles; empty where one has none, or is gone."""
    yield str(described(api, DESCRIBE_CLUSTER, name=cluster).get("cluster", {}).get("roleArn", ""))
    for name in api.pages(LIST_NODE_GROUPS, "nodegroups", clusterName=cluster):
        group = described(api, DESCRIBE_NODE_GROUP, clusterName=cluster, nodegroupName=name)
        yield str(group.get("nodegroup", {}).get("nodeRole", ""))
    for entry in api.pages(LIST_IDENTITIES, "associations", clusterName=cluster):
        identity = described(api, DESCRIBE_IDENTITY, clusterName=cluster, associationId=entry["associationId"])
        yield str(identity.get("association", {}).get("roleArn", ""))
