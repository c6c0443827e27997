"""IAM roles: one for nodes, and one for each service account that calls AWS, provided by EKS Pod Identity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from components.component import Component
from facts import iam, names, regions


@dataclass(frozen=True)
class RoleArgs:
    """What an IAM role is made from."""

    role_name: str
    trust: iam.Document
    managed_policy_arns: Sequence[str] = ()
    inline_policies: Mapping[str, pulumi.Input[iam.Document]] = field(default_factory=dict)
    """By policy name."""


class Role(Component):
    """An IAM role with its policies."""

    arn: pulumi.Output[str]
    role: aws.iam.Role
    grants: list[pulumi.Resource]
    """The role's policies: what uses the role waits for these, not for the bare role."""

    def __init__(self, name: str, args: RoleArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:Role", name, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.role = aws.iam.Role(
            self.named(name),
            name=args.role_name,
            # IAM's own default is left out: a role that was made without a path must not change.
            path=self.role_rules.path if self.role_rules.path != "/" else None,
            assume_role_policy=iam.to_json(args.trust),
            permissions_boundary=self.role_rules.permissions_boundary,
            opts=child,
        )
        self.arn = self.role.arn
        self.grants = [
            aws.iam.RolePolicyAttachment(self.named(f"{name}-{arn.rsplit('/', 1)[-1]}"), role=self.role.name, policy_arn=arn, opts=child)
            for arn in args.managed_policy_arns
        ]
        self.grants += [
            aws.iam.RolePolicy(self.named(f"{name}-{key}"), name=key, role=self.role.name, policy=_as_json(document), opts=child)
            for key, document in args.inline_policies.items()
        ]
        self.register_outputs({"arn": self.arn})


def _as_json(document: pulumi.Input[iam.Document]) -> pulumi.Input[str]:
    return document.apply(iam.to_json) if isinstance(document, pulumi.Output) else iam.to_json(document)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True)
class RoleInUse:
    """A role as those see it who use it, whoever made it."""

    arn: pulumi.Output[str]
    grants: list[pulumi.Resource]
    """What uses the role waits for these; nothing for a role that others keep."""


def role_in_use(name: str, purpose: str, args: RoleArgs, opts: pulumi.ResourceOptions | None) -> RoleInUse:
    """The role that others keep for this purpose; a new one where none is given."""
    parent = opts.parent if opts is not None else None
    given = parent.role_rules.given.get(purpose) if isinstance(parent, Component) else None
    if given is not None:
        return RoleInUse(pulumi.Output.from_input(given), [])
    made = Role(name, args, opts)
    return RoleInUse(made.arn, made.grants)


def node_role(
    name: str,
    cluster_name: str,
    region: str,
    opts: pulumi.ResourceOptions | None = None,
    *,
    purpose: str = "node",
    session_manager: bool = False,
) -> RoleInUse:
    """A role of nodes: join, pull images, provide identities to pods, and nothing more, unless Systems Manager is let in."""
    partition = regions.partition(region)
    managed = ["AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"]
    managed += [iam.SESSION_MANAGER_POLICY] if session_manager else []
    args = RoleArgs(
        role_name=names.role_name(cluster_name, region, purpose),
        trust=iam.ec2_trust(regions.dns_suffix(region)),
        managed_policy_arns=[iam.managed_policy_arn(partition, policy) for policy in managed],
        inline_policies={"nodeadm": iam.node_boot_policy()},
    )
    return role_in_use(name, purpose, args, opts)


@dataclass(frozen=True)
class ServiceAccount:
    """A Kubernetes service account of one cluster, and what it may do in AWS."""

    cluster_name: str
    region: str
    namespace: str
    name: str
    purpose: str
    """Short word that tells the role apart, at most 20 characters."""
    managed_policies: Sequence[str] = ()
    """Names of AWS managed policies."""
    policy: pulumi.Input[iam.Document] | None = None
    """A document of our own; an output where it names a resource by its ARN."""
    policies: Mapping[str, iam.Document] = field(default_factory=dict)
    """Further documents by name, where one would be too long to read."""


def service_account_role(name: str, account: ServiceAccount, opts: pulumi.ResourceOptions | None = None) -> RoleInUse:
    """The role for one service account; the trust names cluster, namespace and account."""
    partition = regions.partition(account.region)
    args = RoleArgs(
        role_name=names.role_name(account.cluster_name, account.region, account.purpose),
        trust=iam.pod_identity_trust(account.cluster_name, account.namespace, account.name),
        managed_policy_arns=[iam.managed_policy_arn(partition, policy) for policy in account.managed_policies],
        inline_policies={**({account.purpose: account.policy} if account.policy is not None else {}), **account.policies},
    )
    return role_in_use(name, account.purpose, args, opts)


class PodIdentity(Component):
    """Role and association for a service account whose pods no managed add-on looks after."""

    association: aws.eks.PodIdentityAssociation

    def __init__(
        self,
        name: str,
        account: ServiceAccount,
        *,
        cluster_name: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`cluster_name` is the control plane's output, so that the association is made after the cluster and deleted before it."""
        super().__init__("trn:components:PodIdentity", name, opts)
        role = service_account_role(name, account, pulumi.ResourceOptions(parent=self))
        self.association = aws.eks.PodIdentityAssociation(
            self.named(name),
            cluster_name=cluster_name,
            namespace=account.namespace,
            service_account=account.name,
            role_arn=role.arn,
            opts=pulumi.ResourceOptions(parent=self, depends_on=role.grants),
        )
        self.register_outputs({"association_id": self.association.association_id})
