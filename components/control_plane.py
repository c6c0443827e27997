"""The EKS control plane, by pulumi_eks.Cluster with every default that does not suit Neuron nodes switched off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws
import pulumi_eks as eks

from components.component import Component
from components.identity import Role, RoleArgs
from facts import iam, names, regions
from facts.kubeconfig import kubeconfig_json
from facts.names import CONTROL_PLANE_ROLE
from facts.resources.rights import role_of


@dataclass(frozen=True)
class AccessEntryArgs:
    """A principal that may use the Kubernetes API."""

    principal_arn: str
    policy: str
    """EKS access policy name."""
    namespaces: Sequence[str] = ()
    """Empty means the whole cluster."""


@dataclass(frozen=True)
class ControlPlaneArgs:
    """What a control plane is made from."""

    cluster_name: str
    region: str
    vpc_id: pulumi.Input[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Private subnets by zone id, in two zones or more. A running cluster keeps its VPC and its set of zones."""
    role_name: str
    """Of the control plane's IAM role: a cluster keeps the one that it was made with."""
    kubernetes_version: str
    vpc_cni_version: str
    kube_proxy_version: str
    support_type: str = "STANDARD"
    public_access_cidrs: Sequence[str] = ()
    """Empty means no public endpoint."""
    access_entries: Mapping[str, AccessEntryArgs] = field(default_factory=dict)
    log_types: Sequence[str] = ()
    log_retention_days: int = 30
    encryption_key_arn: str | None = None
    """Without it a key of its own is made. A running cluster keeps the key that it was made with."""
    deletion_protection: bool = False


class ControlPlane(Component):
    """Cluster, vpc-cni and kube-proxy, with their role, key and log group."""

    cluster: eks.Cluster
    name: pulumi.Output[str]
    """Known in previews; carries the dependency on the whole control plane."""
    arn: pulumi.Output[str]
    created_at: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    security_group_id: pulumi.Output[str]
    """The group that EKS makes: on every node, or the node never reaches the API server."""
    kubeconfig: pulumi.Output[str]

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:ControlPlane", name, opts)
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        role, grants = self._role()
        self.cluster = self._cluster(role, grants, self._log_group())
        api = self.cluster.eks_cluster
        self.name, self.arn, self.created_at, self.endpoint = api.name, api.arn, api.created_at, api.endpoint
        self.security_group_id = self.cluster.cluster_security_group_id
        self.kubeconfig = pulumi.Output.all(api.name, api.endpoint, api.certificate_authority.data).apply(
            lambda values: kubeconfig_json(values[0], args.region, values[1], values[2])
        )
        for key, entry in args.access_entries.items():
            self._access_entry(key, entry)
        self.register_outputs({"name": self.name})

    def _role(self) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        """The control plane's role, and what it waits for. The component takes a resource and no ARN: a role that others keep is read."""
        args, name = self._args, f"{self._name}-role"
        given = self.role_rules.given.get(CONTROL_PLANE_ROLE)
        if given is not None:
            role = role_of(given)
            return aws.iam.Role.get(self.named(f"{name}-given"), role, self._child, arn=given, name=role), []
        policy = iam.managed_policy_arn(regions.partition(args.region), "AmazonEKSClusterPolicy")
        made = Role(name, RoleArgs(args.role_name, iam.service_trust("eks.amazonaws.com"), managed_policy_arns=[policy]), self._child)
        return made.role, made.grants

    def _cluster(self, role: aws.iam.Role, grants: list[pulumi.Resource], log_group: aws.cloudwatch.LogGroup) -> eks.Cluster:
        args = self._args
        # The component waits 305 s in each `up` for a public endpoint it cannot reach, unless this is a plain False.
        public = bool(args.public_access_cidrs)
        return eks.Cluster(
            self.named(self._name),
            name=args.cluster_name,
            version=args.kubernetes_version,
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type=args.support_type),
            vpc_id=args.vpc_id,
            private_subnet_ids=list(args.subnet_ids.values()),
            service_role=role,
            endpoint_private_access=True,
            endpoint_public_access=public,
            public_access_cidrs=list(args.public_access_cidrs) if public else None,
            authentication_mode=eks.AuthenticationMode.API,
            enabled_cluster_log_types=list(args.log_types),
            encryption_config_key_arn=args.encryption_key_arn or self._encryption_key(),
            deletion_protection=args.deletion_protection,
            create_oidc_provider=False,
            skip_default_node_group=True,
            skip_default_security_groups=True,
            # Pinned: unpinned, each new build of an add-on would show up as a change that no one made.
            vpc_cni_options=eks.VpcCniOptionsArgs(addon_version=args.vpc_cni_version, log_level="INFO"),
            kube_proxy_addon_options=eks.KubeProxyAddonOptionsArgs(version=args.kube_proxy_version),
            coredns_addon_options=eks.CoreDnsAddonOptionsArgs(enabled=False),
            # The attachment is no dependency of the component's cluster. Our provider comes from the parent: without it the
            # component would bring a second one of an older version, with the environment's region.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*grants, log_group]),
        )

    def _access_entry(self, key: str, entry: AccessEntryArgs) -> None:
        """Made here and not by the component, which replaces create-first: an association made over the old one is then deleted with it."""
        old_first = pulumi.ResourceOptions(parent=self, delete_before_replace=True)
        made = aws.eks.AccessEntry(
            self.named(f"{self._name}-{key}"), cluster_name=self.name, principal_arn=entry.principal_arn, opts=old_first
        )
        aws.eks.AccessPolicyAssociation(
            self.named(f"{self._name}-{key}"),
            cluster_name=self.name,
            principal_arn=made.principal_arn,
            policy_arn=iam.access_policy_arn(regions.partition(self._args.region), entry.policy),
            access_scope={"type": "namespace" if entry.namespaces else "cluster", "namespaces": list(entry.namespaces)},
            opts=old_first,
        )

    def _encryption_key(self) -> pulumi.Output[str]:
        key = aws.kms.Key(
            self.named(f"{self._name}-secrets"),
            description=f"Kubernetes secrets of {self._args.cluster_name}",
            enable_key_rotation=True,
            # The shortest that KMS takes; a key that waits for deletion is not billed.
            deletion_window_in_days=7,
            # A key has no name of its own: by this one it is found again after a run that was killed.
            tags={"Name": f"{self._args.cluster_name}-secrets"},
            opts=self._child,
        )
        alias = names.secrets_alias(self._args.cluster_name)
        aws.kms.Alias(self.named(f"{self._name}-secrets"), name=alias, target_key_id=key.key_id, opts=self._child)
        return key.arn

    def _log_group(self) -> aws.cloudwatch.LogGroup:
        # Made before the cluster: the group that EKS would make itself never expires and stays after the stack is destroyed.
        return aws.cloudwatch.LogGroup(
            self.named(f"{self._name}-logs"),
            name=names.control_plane_log_group(self._args.cluster_name),
            retention_in_days=self._args.log_retention_days,
            opts=self._child,
        )
