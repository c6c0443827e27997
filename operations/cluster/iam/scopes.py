"""What permissions are narrowed to: the region, or the tag that marks everything of one cluster."""

from facts.names import CLUSTER_TAG
from operations.aws.api import Scope

IN_REGION = (Scope("*", (("StringEquals", "aws:RequestedRegion", "{region}"),)),)
"""For what is made: it has no tag yet."""
TAGGED = (Scope("*", (("StringEquals", f"aws:ResourceTag/{CLUSTER_TAG}", "{cluster}"),)),)
"""For what exists: the provider's default tags mark everything of the cluster from its first moment."""
BEING_TAGGED = (Scope("*", (("StringEquals", f"aws:RequestTag/{CLUSTER_TAG}", "{cluster}"),)), *TAGGED)
ROLES = (Scope("arn:{partition}:iam::*:role/{cluster}-{region}-*"),)
LOGS = tuple(Scope(f"arn:{{partition}}:logs:{{region}}:*:log-group:/aws/eks/{{cluster}}/cluster{end}") for end in ("", ":*"))
QUEUE = (Scope("arn:{partition}:sqs:{region}:*:{cluster}"),)
"""Karpenter's queue of interruptions bears the cluster's name."""
EVENT_RULES = (Scope("arn:{partition}:events:{region}:*:rule/{cluster}-*"),)
CLUSTER = (Scope("arn:{partition}:eks:{region}:*:cluster/{cluster}"),)


def part_of_cluster(kind: str) -> tuple[Scope, ...]:
    """Node groups, add-ons and the like: EKS puts them below their cluster."""
    return (Scope(f"arn:{{partition}}:eks:{{region}}:*:{kind}/{{cluster}}/*"),)


def _owned_by(key: str, value: str = "{cluster}") -> Scope:
    return Scope("*", (("StringEquals", f"aws:ResourceTag/{key}", value),))


OWNED = (*TAGGED, _owned_by("kubernetes.io/cluster/{cluster}", "owned"))
"""For what controllers in the cluster made as well."""
INTERFACES = (*OWNED, _owned_by("cluster.k8s.amazonaws.com/name"))
"""The VPC CNI's mark on the interfaces it makes."""
BALANCERS = (*OWNED, _owned_by("elbv2.k8s.aws/cluster"))
"""The load balancer controller's mark."""
