"""Which things are a cluster's own: by exact tags and by its VPC, never by a name that looks alike."""

from collections.abc import Collection, Mapping

from facts.names import CLUSTER_TAG

NAME_TAGS = (
    CLUSTER_TAG,
    "aws:eks:cluster-name",
    "eks:cluster-name",
    "eks:eks-cluster-name",
    "cluster.k8s.amazonaws.com/name",
    "elbv2.k8s.aws/cluster",
    "ebs.csi.aws.com/cluster-name",
)
"""Tags whose value is the cluster's name: ours, EKS's (cluster security group, node groups, Karpenter), the VPC CNI's, the load
balancer controller's, the EBS driver's. `karpenter.sh/discovery` is none of them: it marks what Karpenter may use, a shared
subnet say, not what is the cluster's own."""
OWNED = "owned"
"""Value of `kubernetes.io/cluster/NAME` on what belongs to the cluster; `shared` marks what it only uses."""


def owned_key(cluster: str) -> str:
    """The tag key that holds the cluster's name."""
    return f"kubernetes.io/cluster/{cluster}"


def reason(cluster: str, tags: Mapping[str, str], vpc_id: str = "", vpc_ids: Collection[str] = ()) -> str:
    """Why a thing is the cluster's: the tag, or the VPC. Empty where it is not."""
    for key in NAME_TAGS:
        if tags.get(key) == cluster:
            return f"{key}={cluster}"
    if tags.get(owned_key(cluster)) == OWNED:
        return f"{owned_key(cluster)}={OWNED}"
    return f"in {vpc_id}" if vpc_id and vpc_id in vpc_ids else ""


def belongs(cluster: str, tags: Mapping[str, str]) -> bool:
    """Whether the tags alone make a thing the cluster's."""
    return bool(reason(cluster, tags))
