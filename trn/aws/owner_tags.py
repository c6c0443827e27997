"""Which objects are a cluster's own: by exact tags and by its VPC, never by a name that looks alike, and never against another owner's tag."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from facts.names import CLUSTER_TAG, STACK_TAG
from trn.aws.cluster_identity import arn_parts

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
EKS_TAGS = ("aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name", "cluster.k8s.amazonaws.com/name")
"""Those of them that only an EKS cluster's objects carry: EKS's own, Karpenter's and, where nobody sets it up by hand, the VPC CNI's."""
CLUSTER_KEY = "kubernetes.io/cluster/"
REGION_KEY = "topology.kubernetes.io/region"
"""Karpenter's, on what IAM keeps for all regions: a cluster of the same name in another region has such objects too."""
OTHER_TOOLS = ("KubernetesCluster", "kops.k8s.io/", "k8s.io/role/", "sigs.k8s.io/cluster-api-provider-aws/", "aws:cloudformation:stack-id")
"""Tags, or how they begin, of what other tools made: kOps, Cluster API, CloudFormation and with it eksctl. Nothing of this program's
clusters, nor of the controllers in them, carries one (kubernetes/kops docs, kubernetes-sigs/cluster-api-provider-aws api/v1beta2/tags.go)."""
SHARED = "shared"
OWNED = "owned"
"""Value of `kubernetes.io/cluster/NAME` on what belongs to the cluster; `shared` marks what it only uses."""


def owned_key(cluster: str) -> str:
    """The tag key that holds the cluster's name."""
    return f"{CLUSTER_KEY}{cluster}"


def other_owner(cluster: str, tags: Mapping[str, str]) -> str:
    """The tag by which something is another owner's, as `key=value`; empty where no tag says so.

    A cluster that is not EKS's may have the same name: kOps and Cluster API put a mark of their own beside the name.
    """
    for key in NAME_TAGS:
        if tags.get(key, cluster) != cluster:
            return f"{key}={tags[key]}"
    for key, value in sorted(tags.items()):
        other_cluster = key.startswith(CLUSTER_KEY) and key != owned_key(cluster) and value in (OWNED, SHARED)
        if other_cluster or key.startswith(OTHER_TOOLS) or key in OTHER_TOOLS:
            return f"{key}={value}"
    return ""


def reason(cluster: str, tags: Mapping[str, str], vpc_id: str = "", vpc_ids: Collection[str] = ()) -> str:
    """Why an object is the cluster's: the tag, or the VPC. Empty where it is not, and where any tag names another owner."""
    if other_owner(cluster, tags):
        return ""
    for key in NAME_TAGS:
        if tags.get(key) == cluster:
            return f"{key}={cluster}"
    if tags.get(owned_key(cluster)) == OWNED:
        return f"{owned_key(cluster)}={OWNED}"
    return f"in {vpc_id}" if vpc_id and vpc_id in vpc_ids else ""


def belongs(cluster: str, tags: Mapping[str, str]) -> bool:
    """Whether the tags alone make an object the cluster's."""
    return bool(reason(cluster, tags))


OWN_ARN_KEYS = (
    "arn", "Arn", "ResourceARN", "LoadBalancerArn", "TargetGroupArn", "nodegroupArn", "accessEntryArn", "computeEnvironmentArn",
    "jobQueueArn", "jobDefinitionArn",
)  # fmt: skip
"""Where descriptions have the object's own ARN."""
OWNER_KEY = "OwnerId"
"""Where EC2 has the account that owns an object: another one in a subnet that is shared."""


class Object(Protocol):
    """One object of an account that may be a cluster's."""

    @property
    def id(self) -> str:
        """Name, id or ARN."""
        ...

    @property
    def tags(self) -> Mapping[str, str]:
        """All of them."""
        ...

    @property
    def vpc_id(self) -> str:
        """Empty for what is in no VPC."""
        ...

    @property
    def entry(self) -> Mapping[str, Any]:
        """As its service describes it."""
        ...

    @property
    def is_by_name(self) -> bool:
        """Its exact name makes it the cluster's, or the EKS cluster that it is a part of does."""
        ...


@dataclass(frozen=True)
class Owner:
    """The cluster whose objects a command may delete, as it was shown and confirmed."""

    cluster: str
    account: str
    region: str
    stack: str = ""
    """As in the tag `trn:stack`; empty for a cluster of a release that did not set it."""
    vpc_ids: frozenset[str] = frozenset()
    """Its VPC, and others that carry its tags: those of runs that were killed."""
    has_name: bool = True
    """Whether the name is its own: no EKS cluster of another stack has it now. Else what only a name tells is the other's."""
    used_vpc_ids: frozenset[str] = frozenset()
    """VPCs that it uses and others keep: in these only the exact tags of its controllers tell what is its own, and never the VPC."""
    given_ids: frozenset[str] = frozenset()
    """Ids and ARNs that the stack file gives as others' to keep, whatever their tags say."""
    since: str = ""
    """When the cluster was made, or else its stack, UTC: what goes by its name and is older is another cluster's. Empty where it is not known."""

    def objection(self, item: Object) -> str:
        """Why an object with the cluster's name is not this cluster's all the same; empty where it is."""
        if self.given_ids & {item.id, *(str(item.entry.get(key, "")) for key in OWN_ARN_KEYS)}:
            return "the stack file says that others keep it"
        other = other_owner(self.cluster, item.tags)
        if other:
            return f"{other} says that it is another owner's"
        if item.tags.get(REGION_KEY, self.region) != self.region:
            return f"{REGION_KEY}={item.tags[REGION_KEY]}: it is of a cluster in another region"
        for arn in (item.id, *(str(item.entry.get(key, "")) for key in OWN_ARN_KEYS)):
            account, region = arn_parts(arn)
            if account not in ("", self.account) or region not in ("", self.region):
                return f"in account {account or self.account}, region {region or self.region}: {arn}"
        if item.entry.get(OWNER_KEY, self.account) != self.account:
            return f"owned by account {item.entry[OWNER_KEY]}"
        return self._stack_objection(item)

    def _stack_objection(self, item: Object) -> str:
        stack = item.tags.get(STACK_TAG)
        if stack is not None:
            return "" if stack == self.stack else f"{STACK_TAG}={stack}: another stack made it"
        if item.is_by_name:
            return "" if self.has_name else "it goes by its name with the cluster that another stack has now"
        if item.vpc_id in self.vpc_ids:
            return ""
        if item.vpc_id in self.used_vpc_ids and self.has_name and belongs(self.cluster, item.tags):
            # Cloud controllers of kubeadm, RKE and others mark their objects by the name as EKS's do.
            is_of_eks = any(key in item.tags for key in EKS_TAGS)
            return "" if is_of_eks else f"in {item.vpc_id}, which others keep, and no tag of EKS or {STACK_TAG} says which cluster it is of"
        if item.vpc_id:
            return f"in {item.vpc_id}, which is not this cluster's, and no tag {STACK_TAG}"
        if not self.stack and item.tags.get(CLUSTER_TAG) == self.cluster:
            return ""
        return f"no tag {STACK_TAG} says which stack made it"
