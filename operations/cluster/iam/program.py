"""Which IAM actions each resource type of the program takes to make, read, change and delete.

Assembled from JamesWoolfenden/pike src/mapping (2026-08-21) and the CloudFormation handlers' permissions in
pulumi/pulumi-aws-native (2026-08-07); scopes are our own. Never run against an account: the provider's own list is not public.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from facts.names import BATCH_ROLE
from operations.aws.api import ANYTHING, Scope
from operations.cluster.iam.scopes import BEING_TAGGED, CLUSTER, EVENT_RULES, IN_REGION, LOGS, QUEUE, ROLES, TAGGED, part_of_cluster


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


def _passed_to(service: str) -> Grant:
    condition = (("StringEquals", "iam:PassedToService", service),)
    return Grant("iam", "PassRole", (Scope(ROLES[0].resource, condition),))


def _linked_role(service: str) -> Grant:
    """AWS makes the service's own role on first use in an account, in the caller's name."""
    scope = Scope(f"arn:{{partition}}:iam::*:role/aws-service-role/{service}/*", (("StringEquals", "iam:AWSServiceName", service),))
    return Grant("iam", "CreateServiceLinkedRole", (scope,))


_BATCH_ROLE = f"arn:{{partition}}:iam::*:role/aws-service-role/batch.amazonaws.com/{BATCH_ROLE}"
_TAGS_AT_CREATION = (Scope("*", (("Null", "ec2:CreateAction", "false"),)), *TAGGED)
_GROUPS = (Scope("*", (("StringEquals", "aws:ResourceTag/eks:cluster-name", "{cluster}"),)),)


def _ec2(read: str, made: str, changed: str) -> tuple[Grant, ...]:
    grants = (Grant("ec2", read), Grant("ec2", made, IN_REGION), Grant("ec2", changed, TAGGED))
    tags = (Grant("ec2", "CreateTags", _TAGS_AT_CREATION), Grant("ec2", "DeleteTags", TAGGED))
    return tuple(grant for grant in (*grants, *tags) if grant.operations)


def _of_cluster(made: str, kind: str, rest: str) -> tuple[Grant, ...]:
    """EKS authorises creation on the cluster, and everything else on the thing itself."""
    return (
        Grant("eks", made, CLUSTER),
        Grant("eks", f"{rest} TagResource UntagResource ListTagsForResource", part_of_cluster(kind)),
    )


ALWAYS = (Grant("sts", "GetCallerIdentity"), Grant("ec2", "DescribeAccountAttributes"))
"""What the provider asks before the first resource."""

PROGRAM: Mapping[str, tuple[Grant, ...]] = {
    "aws:ec2/vpc:Vpc": _ec2(
        "DescribeVpcs DescribeVpcAttribute DescribeNetworkAcls DescribeSecurityGroups DescribeRouteTables",
        "CreateVpc",
        "ModifyVpcAttribute DeleteVpc",
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": _ec2(
        "DescribeVpcs", "", "AssociateVpcCidrBlock DisassociateVpcCidrBlock"
    ),
    "aws:ec2/subnet:Subnet": _ec2("DescribeSubnets DescribeNetworkInterfaces", "CreateSubnet", "ModifySubnetAttribute DeleteSubnet"),
    "aws:ec2/internetGateway:InternetGateway": _ec2(
        "DescribeInternetGateways", "CreateInternetGateway", "AttachInternetGateway DetachInternetGateway DeleteInternetGateway"
    ),
    "aws:ec2/eip:Eip": _ec2("DescribeAddresses DescribeAddressesAttribute", "AllocateAddress", "DisassociateAddress ReleaseAddress"),
    "aws:ec2/natGateway:NatGateway": _ec2("DescribeNatGateways", "CreateNatGateway", "DeleteNatGateway"),
    "aws:ec2/routeTable:RouteTable": _ec2("DescribeRouteTables", "CreateRouteTable", "DisassociateRouteTable DeleteRouteTable"),
    "aws:ec2/route:Route": _ec2("DescribeRouteTables", "", "CreateRoute ReplaceRoute DeleteRoute"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _ec2(
        "DescribeRouteTables", "", "AssociateRouteTable ReplaceRouteTableAssociation DisassociateRouteTable"
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2(
        "DescribeVpcEndpoints DescribePrefixLists", "CreateVpcEndpoint", "ModifyVpcEndpoint DeleteVpcEndpoints"
    ),
    "aws:ec2/securityGroup:SecurityGroup": _ec2(
        "DescribeSecurityGroups DescribeNetworkInterfaces",
        "CreateSecurityGroup",
        "RevokeSecurityGroupIngress RevokeSecurityGroupEgress DeleteSecurityGroup",
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ec2(
        "DescribeSecurityGroupRules", "", "AuthorizeSecurityGroupIngress ModifySecurityGroupRules RevokeSecurityGroupIngress"
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _ec2(
        "DescribeSecurityGroupRules", "", "AuthorizeSecurityGroupEgress ModifySecurityGroupRules RevokeSecurityGroupEgress"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": _ec2(
        "DescribeLaunchTemplates DescribeLaunchTemplateVersions",
        "CreateLaunchTemplate",
        "CreateLaunchTemplateVersion ModifyLaunchTemplate DeleteLaunchTemplate",
    ),
    "aws:ec2/placementGroup:PlacementGroup": _ec2("DescribePlacementGroups", "CreatePlacementGroup", "DeletePlacementGroup"),
    "aws:eks/cluster:Cluster": (
        Grant(
            "eks",
            "CreateCluster DescribeCluster UpdateClusterConfig UpdateClusterVersion DeleteCluster DescribeUpdate ListUpdates"
            " AssociateEncryptionConfig TagResource UntagResource ListTagsForResource",
            CLUSTER,
        ),
        # EKS takes these in the caller's name to encrypt the secrets with the stack's key.
        Grant("kms", "CreateGrant DescribeKey", TAGGED),
        _passed_to("eks.amazonaws.com"),
        _linked_role("eks.amazonaws.com"),
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        *_of_cluster("CreateNodegroup", "nodegroup", "DescribeNodegroup UpdateNodegroupConfig UpdateNodegroupVersion DeleteNodegroup"),
        Grant("eks", "DescribeUpdate", CLUSTER),
        # EKS asks for this of a caller that brings a launch template.
        Grant("ec2", "RunInstances", IN_REGION),
        Grant("ec2", "DescribeSubnets DescribeLaunchTemplateVersions"),
        _passed_to("ec2.amazonaws.com"),
        _linked_role("eks-nodegroup.amazonaws.com"),
        _linked_role("autoscaling.amazonaws.com"),
        _linked_role("spot.amazonaws.com"),
    ),
    "aws:eks/addon:Addon": (
        *_of_cluster("CreateAddon", "addon", "DescribeAddon UpdateAddon DeleteAddon"),
        *_of_cluster(
            "CreatePodIdentityAssociation ListPodIdentityAssociations",
            "podidentityassociation",
            "DescribePodIdentityAssociation UpdatePodIdentityAssociation DeletePodIdentityAssociation",
        ),
        _passed_to("pods.eks.amazonaws.com"),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        *_of_cluster(
            "CreatePodIdentityAssociation ListPodIdentityAssociations",
            "podidentityassociation",
            "DescribePodIdentityAssociation UpdatePodIdentityAssociation DeletePodIdentityAssociation",
        ),
        _passed_to("pods.eks.amazonaws.com"),
    ),
    "aws:eks/accessEntry:AccessEntry": _of_cluster(
        "CreateAccessEntry", "access-entry", "DescribeAccessEntry UpdateAccessEntry DeleteAccessEntry"
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _of_cluster(
        "DescribeCluster", "access-entry", "AssociateAccessPolicy DisassociateAccessPolicy ListAssociatedAccessPolicies"
    ),
    "aws:iam/role:Role": (
        Grant(
            "iam",
            "CreateRole GetRole UpdateRole UpdateAssumeRolePolicy DeleteRole TagRole UntagRole ListRolePolicies"
            " ListAttachedRolePolicies ListInstanceProfilesForRole",
            ROLES,
        ),
    ),
    "aws:iam/rolePolicy:RolePolicy": (Grant("iam", "PutRolePolicy GetRolePolicy DeleteRolePolicy", ROLES),),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (
        Grant("iam", "AttachRolePolicy DetachRolePolicy ListAttachedRolePolicies", ROLES),
    ),
    "aws:kms/key:Key": (
        Grant("kms", "CreateKey", IN_REGION),
        Grant("kms", "TagResource", BEING_TAGGED),
        Grant(
            "kms",
            "DescribeKey GetKeyPolicy PutKeyPolicy GetKeyRotationStatus EnableKeyRotation DisableKeyRotation UpdateKeyDescription"
            " ListResourceTags UntagResource ScheduleKeyDeletion",
            TAGGED,
        ),
    ),
    "aws:kms/alias:Alias": (
        Grant("kms", "CreateAlias UpdateAlias DeleteAlias", (Scope("arn:{partition}:kms:{region}:*:alias/{cluster}-*"), *TAGGED)),
        Grant("kms", "ListAliases"),
    ),
    "aws:cloudwatch/logGroup:LogGroup": (
        Grant("logs", "DescribeLogGroups"),
        Grant(
            "logs",
            "CreateLogGroup PutRetentionPolicy DeleteRetentionPolicy DeleteLogGroup TagResource UntagResource ListTagsForResource",
            LOGS,
        ),
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": (
        Grant("fsx", "DescribeFileSystems"),
        Grant("fsx", "CreateFileSystem TagResource", BEING_TAGGED),
        Grant("fsx", "UpdateFileSystem DeleteFileSystem CreateBackup UntagResource ListTagsForResource", TAGGED),
        # FSx looks at the network in the caller's name (AmazonFSxFullAccess v13).
        Grant("ec2", "DescribeSubnets DescribeSecurityGroups DescribeVpcs DescribeRouteTables GetSecurityGroupsForVpc"),
        _linked_role("fsx.amazonaws.com"),
    ),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": (
        Grant("fsx", "DescribeDataRepositoryAssociations"),
        Grant("fsx", "CreateDataRepositoryAssociation TagResource", BEING_TAGGED),
        Grant("fsx", "UpdateDataRepositoryAssociation DeleteDataRepositoryAssociation UntagResource ListTagsForResource", TAGGED),
        # FSx sets up its way to the bucket in the caller's name (FSx for Lustre guide, service-linked roles).
        Grant("s3", "ListBucket GetBucketPolicy PutBucketPolicy", (Scope("arn:{partition}:s3:::*"),)),
        _linked_role("s3.data-source.lustre.fsx.amazonaws.com"),
        Grant(
            "iam",
            "AttachRolePolicy PutRolePolicy",
            (Scope("arn:{partition}:iam::*:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/*"),),
        ),
    ),
    "aws:autoscaling/tag:Tag": (
        Grant("autoscaling", "DescribeTags"),
        Grant("autoscaling", "CreateOrUpdateTags DeleteTags", _GROUPS),
    ),
    "aws:amp/workspace:Workspace": (
        Grant("aps", "DescribeWorkspace DescribeLoggingConfiguration DescribeWorkspaceConfiguration ListTagsForResource"),
        Grant("aps", "CreateWorkspace TagResource", BEING_TAGGED),
        Grant("aps", "UpdateWorkspaceAlias DeleteWorkspace UntagResource", TAGGED),
    ),
    "aws:batch/computeEnvironment:ComputeEnvironment": (
        Grant("batch", "DescribeComputeEnvironments ListTagsForResource"),
        Grant("batch", "CreateComputeEnvironment TagResource", BEING_TAGGED),
        Grant("batch", "UpdateComputeEnvironment DeleteComputeEnvironment UntagResource", TAGGED),
        # Batch makes its way into the cluster in the caller's name (Batch user guide, eks-access-entries, required permissions).
        Grant("eks", "DescribeCluster CreateAccessEntry", CLUSTER),
        Grant("eks", "DescribeAccessEntry AssociateAccessPolicy DeleteAccessEntry", part_of_cluster("access-entry")),
        Grant("iam", "PassRole", (Scope(_BATCH_ROLE, (("StringEquals", "iam:PassedToService", "batch.amazonaws.com"),)),)),
        _linked_role("batch.amazonaws.com"),
    ),
    "aws:batch/jobQueue:JobQueue": (
        Grant("batch", "DescribeJobQueues ListTagsForResource"),
        Grant("batch", "CreateJobQueue TagResource", BEING_TAGGED),
        Grant("batch", "UpdateJobQueue DeleteJobQueue UntagResource", TAGGED),
    ),
    "aws:batch/jobDefinition:JobDefinition": (
        Grant("batch", "DescribeJobDefinitions ListTagsForResource"),
        Grant("batch", "RegisterJobDefinition TagResource", BEING_TAGGED),
        Grant("batch", "DeregisterJobDefinition UntagResource", TAGGED),
    ),
    "aws:sqs/queue:Queue": (
        Grant("sqs", "CreateQueue GetQueueAttributes GetQueueUrl SetQueueAttributes DeleteQueue TagQueue UntagQueue ListQueueTags", QUEUE),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": (Grant("sqs", "GetQueueAttributes SetQueueAttributes", QUEUE),),
    "aws:cloudwatch/eventRule:EventRule": (
        Grant("events", "PutRule DescribeRule DeleteRule TagResource UntagResource ListTagsForResource", EVENT_RULES),
    ),
    "aws:cloudwatch/eventTarget:EventTarget": (Grant("events", "PutTargets RemoveTargets ListTargetsByRule", EVENT_RULES),),
}
