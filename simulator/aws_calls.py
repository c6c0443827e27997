"""Which API calls make each AWS resource: Pulumi's inputs on the left, the API's own members on the right.

Only inputs that a program here sends are listed, so that a misspelt or further one is noticed.
Sources: create functions of hashicorp/terraform-provider-aws, internal/service, read 2026-11; API models of botocore 1.44.5.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Convert = Callable[[Any], Any]
Member = str | tuple[str, "Convert | Members | list[Members]"]
"""Where an input goes: `A.B` is member B of structure A, `A[]` the only entry of list A.

Alone, or with what becomes of the value: a function, the members of a structure, or a list of such structures.
"""
Members = Mapping[str, Member]


@dataclass(frozen=True)
class Call:
    """One API call and where its members come from."""

    service: str
    operation: str
    members: Members
    constants: Mapping[str, Any] = field(default_factory=dict)
    """What the provider fills in itself, by place."""
    id_member: str | None = None
    """Place of the resource's own id, in calls that follow the one that makes it."""
    needs: str | None = None
    """Input without which the call is not made."""
    unless: bool = False
    """Value of `needs` that makes no call either, since it is what AWS does by default."""


def same(*names: str) -> dict[str, Member]:
    """Inputs that the API spells alike."""
    return {name: name for name in names}


def titled(*names: str) -> dict[str, Member]:
    """Inputs that the API spells with a capital."""
    return {name: name[0].upper() + name[1:] for name in names}


_BOOLEANS: Mapping[str, bool] = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def boolean(value: Any) -> Any:
    """A boolean from the text that launch templates hold; any other text is left for the shapes to refuse.

    Source: expandLaunchTemplateEBSBlockDeviceRequest of hashicorp/terraform-provider-aws, which reads as Go's strconv.ParseBool.
    """
    return _BOOLEANS.get(value, value) if isinstance(value, str) else value


def pairs(tags: Any) -> Any:
    """Tags as a list of Key and Value, by key."""
    return [{"Key": key, "Value": tags[key]} for key in sorted(tags)] if isinstance(tags, Mapping) else tags


def ec2_tags(resource_type: str) -> dict[str, Member]:
    """`tags` of an EC2 resource, which go with the call that makes it."""
    return {"tags": ("TagSpecifications", lambda tags: [{"ResourceType": resource_type, "Tags": pairs(tags)}] if tags else None)}


def key_tags(tags: Any) -> Any:
    """Tags as KMS alone spells them."""
    return [{"TagKey": key, "TagValue": tags[key]} for key in sorted(tags)] if isinstance(tags, Mapping) else tags


def as_text(value: Any) -> str:
    """A number or a boolean as the text that attributes of a queue are."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def log_setups(enabled: Any) -> Any:
    """The log types that are on; the provider also lists the others as off."""
    return [{"types": enabled, "enabled": True}]


def _security_group_rule(operation: str) -> tuple[Call, ...]:
    def call(peer: str, place: str) -> Call:
        ports: Members = {
            "securityGroupId": "GroupId",
            "ipProtocol": "IpPermissions[].IpProtocol",
            "fromPort": "IpPermissions[].FromPort",
            "toPort": "IpPermissions[].ToPort",
        }
        entry = place.rsplit(".", 1)[0]
        return Call("ec2", operation, {**ports, peer: place, "description": f"{entry}.Description"}, needs=peer)

    return (
        call("cidrIpv4", "IpPermissions[].IpRanges[].CidrIp"),
        call("referencedSecurityGroupId", "IpPermissions[].UserIdGroupPairs[].GroupId"),
    )


_INTERFACE: Members = {
    **titled("networkCardIndex", "deviceIndex", "interfaceType"),
    "deleteOnTermination": ("DeleteOnTermination", boolean),
    "securityGroups": "Groups",
}
_BLOCK_DEVICE: Members = {
    "deviceName": "DeviceName",
    "ebs": (
        "Ebs",
        {
            **titled("volumeType", "volumeSize"),
            "encrypted": ("Encrypted", boolean),
            "deleteOnTermination": ("DeleteOnTermination", boolean),
        },
    ),
}
_RESERVATION: Members = {"capacityReservationTarget": ("CapacityReservationTarget", titled("capacityReservationId"))}
_LAUNCH_TEMPLATE: Members = {
    "name": "LaunchTemplateName",
    "description": "VersionDescription",
    "instanceType": "LaunchTemplateData.InstanceType",
    "userData": "LaunchTemplateData.UserData",
    "vpcSecurityGroupIds": "LaunchTemplateData.SecurityGroupIds",
    "blockDeviceMappings": ("LaunchTemplateData.BlockDeviceMappings", [_BLOCK_DEVICE]),
    "networkInterfaces": ("LaunchTemplateData.NetworkInterfaces", [_INTERFACE]),
    "metadataOptions": ("LaunchTemplateData.MetadataOptions", titled("httpEndpoint", "httpTokens", "httpPutResponseHopLimit")),
    "placement": ("LaunchTemplateData.Placement", titled("groupName")),
    "instanceMarketOptions": ("LaunchTemplateData.InstanceMarketOptions", titled("marketType")),
    "capacityReservationSpecification": ("LaunchTemplateData.CapacityReservationSpecification", _RESERVATION),
    "tagSpecifications": ("LaunchTemplateData.TagSpecifications", [{"resourceType": "ResourceType", "tags": ("Tags", pairs)}]),
}
_CLUSTER: Members = {
    **same("name", "roleArn", "version", "tags", "bootstrapSelfManagedAddons", "deletionProtection"),
    "accessConfig": ("accessConfig", same("authenticationMode", "bootstrapClusterCreatorAdminPermissions")),
    "enabledClusterLogTypes": ("logging.clusterLogging", log_setups),
    "encryptionConfig": ("encryptionConfig[]", {"provider": ("provider", same("keyArn")), "resources": "resources"}),
    "upgradePolicy": ("upgradePolicy", same("supportType")),
    "vpcConfig": ("resourcesVpcConfig", same("subnetIds", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs")),
}
_NODE_GROUP: Members = {
    **same("clusterName", "amiType", "capacityType", "instanceTypes", "labels", "releaseVersion", "tags", "version"),
    "nodeGroupName": "nodegroupName",
    "nodeRoleArn": "nodeRole",
    "subnetIds": "subnets",
    "launchTemplate": ("launchTemplate", same("id", "version")),
    "nodeRepairConfig": ("nodeRepairConfig", same("enabled")),
    "scalingConfig": ("scalingConfig", same("desiredSize", "minSize", "maxSize")),
    "taints": ("taints", [same("key", "value", "effect")]),
    "updateConfig": ("updateConfig", same("maxUnavailable", "updateStrategy")),
}
_ADDON: Members = {
    **same("clusterName", "addonName", "addonVersion", "configurationValues"),
    "resolveConflictsOnCreate": "resolveConflicts",
    "podIdentityAssociations": ("podIdentityAssociations", [same("roleArn", "serviceAccount")]),
}
_LUSTRE: Members = {
    **titled("storageCapacity", "storageType", "securityGroupIds", "fileSystemTypeVersion"),
    # The provider takes one subnet and the API a list.
    "subnetIds": "SubnetIds[]",
    "tags": ("Tags", pairs),
    **{
        name: f"LustreConfiguration.{name[0].upper()}{name[1:]}"
        for name in ("deploymentType", "perUnitStorageThroughput", "dataCompressionType", "automaticBackupRetentionDays")
    },
}
_EVENTS: Members = titled("events")
_REPOSITORY: Members = {
    **titled("fileSystemId", "fileSystemPath", "dataRepositoryPath", "batchImportMetaDataOnCreate"),
    "s3": ("S3", {"autoImportPolicy": ("AutoImportPolicy", _EVENTS), "autoExportPolicy": ("AutoExportPolicy", _EVENTS)}),
}
_GROUP_TAG: Members = {
    "autoscalingGroupName": "Tags[].ResourceId",
    "tag": ("Tags[]", titled("key", "value", "propagateAtLaunch")),
}
_ENDPOINT = titled("vpcId", "serviceName", "vpcEndpointType", "privateDnsEnabled", "routeTableIds", "subnetIds", "securityGroupIds")
_KEY_ROTATION = Call("kms", "EnableKeyRotation", {}, id_member="KeyId", needs="enableKeyRotation")

_POD: Members = {
    **same("hostNetwork"),
    "containers": (
        "containers",
        [
            {
                **same("name", "image"),
                "resources": ("resources", same("limits", "requests")),
                "volumeMounts": ("volumeMounts", [same("name", "mountPath")]),
            }
        ],
    ),
    "volumes": ("volumes", [{**same("name"), "emptyDir": ("emptyDir", same("medium", "sizeLimit"))}]),
}

CALLS: Mapping[str, tuple[Call, ...]] = {
    "aws:ec2/vpc:Vpc": (
        Call("ec2", "CreateVpc", {**titled("cidrBlock"), **ec2_tags("vpc")}),
        # One attribute per call (EC2 API, ModifyVpcAttribute).
        Call("ec2", "ModifyVpcAttribute", {"enableDnsSupport": "EnableDnsSupport.Value"}, {}, "VpcId", "enableDnsSupport", unless=True),
        Call("ec2", "ModifyVpcAttribute", {"enableDnsHostnames": "EnableDnsHostnames.Value"}, {}, "VpcId", "enableDnsHostnames"),
    ),
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": (
        Call("ec2", "AssociateVpcCidrBlock", titled("vpcId", "cidrBlock")),
    ),
    "aws:ec2/subnet:Subnet": (Call("ec2", "CreateSubnet", {**titled("vpcId", "availabilityZoneId", "cidrBlock"), **ec2_tags("subnet")}),),
    "aws:ec2/internetGateway:InternetGateway": (
        Call("ec2", "CreateInternetGateway", ec2_tags("internet-gateway")),
        Call("ec2", "AttachInternetGateway", titled("vpcId"), id_member="InternetGatewayId", needs="vpcId"),
    ),
    "aws:ec2/eip:Eip": (Call("ec2", "AllocateAddress", {**titled("domain"), **ec2_tags("elastic-ip")}),),
    "aws:ec2/natGateway:NatGateway": (Call("ec2", "CreateNatGateway", {**titled("subnetId", "allocationId"), **ec2_tags("natgateway")}),),
    "aws:ec2/routeTable:RouteTable": (Call("ec2", "CreateRouteTable", {**titled("vpcId"), **ec2_tags("route-table")}),),
    "aws:ec2/route:Route": (Call("ec2", "CreateRoute", titled("routeTableId", "destinationCidrBlock", "gatewayId", "natGatewayId")),),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": (Call("ec2", "AssociateRouteTable", titled("subnetId", "routeTableId")),),
    "aws:ec2/vpcEndpoint:VpcEndpoint": (Call("ec2", "CreateVpcEndpoint", {**_ENDPOINT, **ec2_tags("vpc-endpoint")}),),
    "aws:ec2/securityGroup:SecurityGroup": (
        Call("ec2", "CreateSecurityGroup", {"name": "GroupName", **titled("description", "vpcId"), **ec2_tags("security-group")}),
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _security_group_rule("AuthorizeSecurityGroupIngress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _security_group_rule("AuthorizeSecurityGroupEgress"),
    "aws:ec2/launchTemplate:LaunchTemplate": (Call("ec2", "CreateLaunchTemplate", _LAUNCH_TEMPLATE),),
    "aws:ec2/placementGroup:PlacementGroup": (Call("ec2", "CreatePlacementGroup", {"name": "GroupName", "strategy": "Strategy"}),),
    "aws:iam/role:Role": (Call("iam", "CreateRole", {"name": "RoleName", "assumeRolePolicy": "AssumeRolePolicyDocument"}),),
    "aws:iam/rolePolicy:RolePolicy": (
        Call("iam", "PutRolePolicy", {"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"}),
    ),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (Call("iam", "AttachRolePolicy", {"role": "RoleName", "policyArn": "PolicyArn"}),),
    "aws:eks/cluster:Cluster": (Call("eks", "CreateCluster", _CLUSTER),),
    "aws:eks/nodeGroup:NodeGroup": (Call("eks", "CreateNodegroup", _NODE_GROUP),),
    "aws:eks/addon:Addon": (Call("eks", "CreateAddon", _ADDON),),
    "aws:eks/accessEntry:AccessEntry": (Call("eks", "CreateAccessEntry", same("clusterName", "principalArn", "type")),),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (
        Call(
            "eks",
            "AssociateAccessPolicy",
            {**same("clusterName", "principalArn", "policyArn"), "accessScope": ("accessScope", same("type", "namespaces"))},
        ),
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        Call("eks", "CreatePodIdentityAssociation", same("clusterName", "namespace", "serviceAccount", "roleArn")),
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": (Call("fsx", "CreateFileSystem", _LUSTRE, {"FileSystemType": "LUSTRE"}),),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": (Call("fsx", "CreateDataRepositoryAssociation", _REPOSITORY),),
    "aws:kms/key:Key": (Call("kms", "CreateKey", {**titled("description"), "tags": ("Tags", key_tags)}), _KEY_ROTATION),
    "aws:kms/alias:Alias": (Call("kms", "CreateAlias", {"name": "AliasName", "targetKeyId": "TargetKeyId"}),),
    "aws:cloudwatch/logGroup:LogGroup": (
        Call("logs", "CreateLogGroup", {"name": "logGroupName"}),
        Call("logs", "PutRetentionPolicy", same("retentionInDays"), id_member="logGroupName", needs="retentionInDays"),
    ),
    "aws:amp/workspace:Workspace": (Call("amp", "CreateWorkspace", same("alias")),),
    "aws:sqs/queue:Queue": (
        Call(
            "sqs",
            "CreateQueue",
            {
                "name": "QueueName",
                "messageRetentionSeconds": ("Attributes.MessageRetentionPeriod", as_text),
                "sqsManagedSseEnabled": ("Attributes.SqsManagedSseEnabled", as_text),
            },
        ),
    ),
    "aws:sqs/queuePolicy:QueuePolicy": (Call("sqs", "SetQueueAttributes", {"queueUrl": "QueueUrl", "policy": "Attributes.Policy"}),),
    "aws:cloudwatch/eventRule:EventRule": (Call("events", "PutRule", titled("name", "eventPattern")),),
    "aws:cloudwatch/eventTarget:EventTarget": (
        Call("events", "PutTargets", {"rule": "Rule", "targetId": "Targets[].Id", "arn": "Targets[].Arn"}),
    ),
    "aws:batch/computeEnvironment:ComputeEnvironment": (
        Call(
            "batch",
            "CreateComputeEnvironment",
            {
                **same("type", "serviceRole"),
                "name": "computeEnvironmentName",
                "eksConfiguration": ("eksConfiguration", same("eksClusterArn", "kubernetesNamespace")),
            },
        ),
    ),
    "aws:batch/jobQueue:JobQueue": (
        Call(
            "batch",
            "CreateJobQueue",
            {
                **same("state", "priority"),
                "name": "jobQueueName",
                "computeEnvironmentOrders": ("computeEnvironmentOrder", [same("order", "computeEnvironment")]),
            },
        ),
    ),
    "aws:batch/jobDefinition:JobDefinition": (
        Call(
            "batch",
            "RegisterJobDefinition",
            {**same("type"), "name": "jobDefinitionName", "eksProperties": ("eksProperties", {"podProperties": ("podProperties", _POD)})},
        ),
    ),
    "aws:autoscaling/tag:Tag": (Call("autoscaling", "CreateOrUpdateTags", _GROUP_TAG, {"Tags[].ResourceType": "auto-scaling-group"}),),
}
"""By type token; the first call is the one that makes the resource."""

LATER: Mapping[str, frozenset[str]] = {
    "aws:ec2/securityGroup:SecurityGroup": frozenset({"revokeRulesOnDelete"}),
    "aws:ec2/launchTemplate:LaunchTemplate": frozenset({"updateDefaultVersion"}),
    "aws:eks/addon:Addon": frozenset({"preserve", "resolveConflictsOnUpdate"}),
    "aws:fsx/lustreFileSystem:LustreFileSystem": frozenset({"skipFinalBackup"}),
    "aws:kms/key:Key": frozenset({"deletionWindowInDays"}),
}
"""Inputs that only an update or a deletion uses."""
