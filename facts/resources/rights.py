"""What IAM grants, and what a grant is narrowed to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from facts.names import CLUSTER_TAG, log_group_names, secrets_alias
from facts.resources.outputs import Inputs


@dataclass(frozen=True)
class Scope:
    """What a permission is narrowed to.

    `{partition}`, `{region}`, `{cluster}` and `{role_path}`, empty or with / at its end, are filled in for one stack; other names in braces are names of the recorded
    resource, so that no scope is a pattern kept by hand.
    """

    resource: str = "*"
    condition: tuple[tuple[str, str, str], ...] = ()
    """Operator, key, value: all must hold."""


ANYTHING = Scope()
"""For calls that IAM cannot narrow: reads and lists."""
IN_REGION = (Scope("*", (("StringEquals", "aws:RequestedRegion", "{region}"),)),)
"""For what is made: it has no tag yet."""
TAGGED = (Scope("*", (("StringEquals", f"aws:ResourceTag/{CLUSTER_TAG}", "{cluster}"),)),)
"""For what exists: the provider's default tags mark everything of the cluster from its first moment."""
BEING_TAGGED = (Scope("*", (("StringEquals", f"aws:RequestTag/{CLUSTER_TAG}", "{cluster}"),)), *TAGGED)
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
ROLES_OF_CLUSTER = (Scope("arn:{partition}:iam::*:role/{role_path}{cluster}-{region}-*"),)
"""Roles that a sweep may meet: their names begin with the cluster's and the region's (facts/names.py, role_name)."""
ALIAS_OF_CLUSTER = Scope(f"arn:{{partition}}:kms:{{region}}:*:{secrets_alias('{cluster}')}")
"""The alias that a sweep may meet, by its exact name: KMS tags no aliases."""
ANY_KEY = "arn:{partition}:kms:{region}:*:key/*"
"""For calls on a key that KMS cannot know by its tag: a tag takes up to five minutes until KMS judges by it (KMS developer guide,
ABAC), and the stack's next calls come within seconds."""
LOG_GROUPS_OF_CLUSTER = tuple(Scope(f"arn:{{partition}}:logs:{{region}}:*:log-group:{name}:*") for name in log_group_names("{cluster}"))
"""Log groups that a sweep may meet, by their exact names."""


_ACTIONS: Mapping[str, Mapping[str, str]] = {
    "budgets": {
        **dict.fromkeys(("CreateBudget", "UpdateBudget", "DeleteBudget", "CreateNotification", "DeleteNotification"), "ModifyBudget"),
        **dict.fromkeys(("DescribeBudget", "DescribeBudgets"), "ViewBudget"),
    }
}
"""Operations for which IAM has another name (Service Authorization Reference, operations of AWS Budget Service, 2026-11)."""


def action_name(service: str, operation: str) -> str:
    """IAM's name of an operation, without its prefix."""
    return _ACTIONS.get(service, {}).get(operation, operation)


@dataclass(frozen=True)
class Grant:
    """Actions of one service, with the scopes any of which is enough."""

    service: str
    """IAM's prefix."""
    operations: str
    """Separated by spaces."""
    scopes: tuple[Scope, ...] = (ANYTHING,)

    @property
    def actions(self) -> tuple[str, ...]:
        """IAM's names."""
        return tuple(f"{self.service}:{operation}" for operation in self.operations.split())


def names_of_inputs(inputs: Inputs) -> dict[str, tuple[str, ...]]:
    """Every input that is a text, as a name that scopes may use."""
    return {key: (value,) for key, value in inputs.items() if isinstance(value, str)}


@dataclass(frozen=True)
class Rights:
    """What it takes to make, read, change, tag and delete a resource of a type.

    Assembled from JamesWoolfenden/pike src/mapping (2026-08-21) and the CloudFormation handlers' permissions in
    pulumi/pulumi-aws-native (2026-08-07); scopes are our own. Never run against an account: the provider's own list is not public.
    """

    grants: tuple[Grant, ...]
    names: Callable[[Inputs], Mapping[str, tuple[str, ...]]] = names_of_inputs
    """Names that the scopes use, from a recorded resource's inputs; a scope is made for each value."""


def role_of(arn: str) -> str:
    """Name of the role in its ARN."""
    return arn.rsplit("/", 1)[-1]


def passed_role(arn: str) -> str:
    """Path and name of the role in its ARN, without / at the beginning: as IAM judges who passes it."""
    return arn.partition(":role/")[2]


def passes_role(service: str) -> Grant:
    """Handing the resource's own role, `{role}`, to a service, and to no other."""
    condition = (("StringEquals", "iam:PassedToService", service),)
    return Grant("iam", "PassRole", (Scope("arn:{partition}:iam::*:role/{role}", condition),))


def linked_role(service: str) -> Grant:
    """AWS makes the service's own role on first use in an account, in the caller's name."""
    scope = Scope(f"arn:{{partition}}:iam::*:role/aws-service-role/{service}/*", (("StringEquals", "iam:AWSServiceName", service),))
    return Grant("iam", "CreateServiceLinkedRole", (scope,))


ALWAYS = (Grant("sts", "GetCallerIdentity"), Grant("ec2", "DescribeAccountAttributes"))
"""What the provider asks before the first resource."""
