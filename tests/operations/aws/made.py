"""What a killed run made, type by type: inputs as the state keeps them, and an account that holds the object among look-alikes.

The answers ignore filters: only the code's own judgement stands between a recovery and other people's things.
"""

from dataclasses import dataclass
from typing import Any

from tests.operations.aws.cloud import ACCOUNT, tag_list

Entry = dict[str, Any]
CLUSTER = "train"
ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/team"
POLICY_ARN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
OTHERS = ("train-2", "my-train", "trai")
QUEUE = f"https://sqs.us-west-2.amazonaws.com/{ACCOUNT}/train"


@dataclass(frozen=True)
class Made:
    """One object."""

    type: str
    inputs: Entry
    operation: str
    key: str
    """Key of the list in the answer; empty where the answer is one object."""
    ours: Entry
    strangers: tuple[Entry, ...]
    found: str
    more: tuple[tuple[str, Entry], ...] = ()
    """Answers of other operations that the search takes."""

    def handlers(self, *, there: bool = True) -> dict[str, Any]:
        """Answers with the object among strangers, or strangers alone."""
        entries = [*self.strangers, *([self.ours] if there else [])]
        answers = {self.operation: {self.key: entries}, **dict(self.more)}
        return {name: lambda given, answer=answer: answer for name, answer in answers.items()}


def _tags(cluster: str, name: str) -> list[Entry]:
    return tag_list({"trn:cluster": cluster, "Name": name})


def _ec2(token: str, operation: str, key: str, id_key: str, given: Entry, ours: Entry, elsewhere: Entry | None = None) -> Made:
    """An object with tags; strangers have another cluster's tag, no tag, another name, or another place."""
    tags = _tags(CLUSTER, "train-a")
    others = [{**ours, id_key: f"x-{other}", "Tags": _tags(other, "train-a")} for other in OTHERS]
    others.append({**ours, id_key: "x-bare", "Tags": []})
    if "name" not in given:
        others.append({**ours, id_key: "x-name", "Tags": _tags(CLUSTER, "train-ab")})
    if elsewhere:
        others.append({**ours, **elsewhere, id_key: "x-place", "Tags": tags})
    mine = {**ours, id_key: "x-1", "Tags": tags}
    return Made(f"aws:ec2/{token}", {**given, "tags": {"Name": "train-a"}}, f"ec2.{operation}", key, mine, tuple(others), "x-1")


def _rule(group: str, egress: bool, port: int, other: str) -> Entry:
    rule = {"GroupId": group, "IsEgress": egress, "IpProtocol": "tcp", "FromPort": port, "ToPort": port}
    which = f"sgr-{group}-{egress}-{port}-{other}"
    return {**rule, "SecurityGroupRuleId": which, "ReferencedGroupInfo": {"GroupId": other}}


def _rules(token: str, egress: bool) -> Made:
    inputs = {"securityGroupId": "sg-1", "ipProtocol": "tcp", "fromPort": 988, "toPort": 988, "referencedSecurityGroupId": "sg-2"}
    ours = _rule("sg-1", egress, 988, "sg-2")
    strangers = [("sg-9", egress, 988, "sg-2"), ("sg-1", not egress, 988, "sg-2"), ("sg-1", egress, 989, "sg-2")]
    others = tuple(_rule(*one) for one in [*strangers, ("sg-1", egress, 988, "sg-3")])
    found = ours["SecurityGroupRuleId"]
    return Made(f"aws:vpc/{token}", inputs, "ec2.DescribeSecurityGroupRules", "SecurityGroupRules", ours, others, found)


def _table(which: str, subnet: str, block: str) -> Entry:
    associations = [{"SubnetId": subnet, "AssociationState": {"State": "associated"}}]
    return {"RouteTableId": which, "Routes": [{"DestinationCidrBlock": block, "State": "active"}], "Associations": associations}


NAMED = {"name": "train-a"}
NETWORK = (
    _ec2("vpc:Vpc", "DescribeVpcs", "Vpcs", "VpcId", {}, {"State": "available"}),
    _ec2(
        "subnet:Subnet", "DescribeSubnets", "Subnets", "SubnetId", {"vpcId": "vpc-1", "cidrBlock": "10.0.0.0/24"},
        {"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/24", "State": "available"}, {"VpcId": "vpc-2"},
    ),
    _ec2("internetGateway:InternetGateway", "DescribeInternetGateways", "InternetGateways", "InternetGatewayId", {}, {}),
    _ec2("eip:Eip", "DescribeAddresses", "Addresses", "AllocationId", {}, {}),
    _ec2(
        "natGateway:NatGateway", "DescribeNatGateways", "NatGateways", "NatGatewayId", {"subnetId": "subnet-1"},
        {"SubnetId": "subnet-1", "State": "available"}, {"SubnetId": "subnet-2"},
    ),
    _ec2(
        "routeTable:RouteTable", "DescribeRouteTables", "RouteTables", "RouteTableId", {"vpcId": "vpc-1"}, {"VpcId": "vpc-1"},
        {"VpcId": "vpc-2"},
    ),
    _ec2(
        "vpcEndpoint:VpcEndpoint", "DescribeVpcEndpoints", "VpcEndpoints", "VpcEndpointId", {"vpcId": "vpc-1", "serviceName": "s3"},
        {"VpcId": "vpc-1", "ServiceName": "s3", "State": "available"}, {"ServiceName": "s3-express"},
    ),
    _ec2(
        "securityGroup:SecurityGroup", "DescribeSecurityGroups", "SecurityGroups", "GroupId", {"vpcId": "vpc-1", **NAMED},
        {"VpcId": "vpc-1", "GroupName": "train-a"}, {"VpcId": "vpc-2"},
    ),
    _ec2(
        "launchTemplate:LaunchTemplate", "DescribeLaunchTemplates", "LaunchTemplates", "LaunchTemplateId", NAMED,
        {"LaunchTemplateName": "train-a"}, {"LaunchTemplateName": "train-ab"},
    ),
    Made(
        "aws:ec2/placementGroup:PlacementGroup", NAMED, "ec2.DescribePlacementGroups", "PlacementGroups",
        {"GroupName": "train-a", "State": "available", "Tags": _tags(CLUSTER, "x")},
        ({"GroupName": "train-ab", "State": "available", "Tags": _tags(CLUSTER, "x")}, {"GroupName": "train-a", "Tags": _tags("x", "x")}),
        "train-a",
    ),
    Made(
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", {"vpcId": "vpc-1", "cidrBlock": "100.64.0.0/16"},
        "ec2.DescribeVpcs", "Vpcs",
        {"VpcId": "vpc-1", "CidrBlockAssociationSet": [
            {"AssociationId": "a-1", "CidrBlock": "100.64.0.0/16", "CidrBlockState": {"State": "associated"}},
            {"AssociationId": "a-0", "CidrBlock": "10.0.0.0/16", "CidrBlockState": {"State": "associated"}},
        ]},
        ({"VpcId": "vpc-2", "CidrBlockAssociationSet": [
            {"AssociationId": "a-2", "CidrBlock": "100.64.0.0/16", "CidrBlockState": {"State": "associated"}},
        ]},),
        "a-1",
    ),
    Made(
        "aws:ec2/route:Route", {"routeTableId": "rtb-1", "destinationCidrBlock": "0.0.0.0/0"}, "ec2.DescribeRouteTables", "RouteTables",
        _table("rtb-1", "subnet-1", "0.0.0.0/0"), (_table("rtb-2", "subnet-2", "0.0.0.0/0"), _table("rtb-1", "s", "10.0.0.0/8")),
        "rtb-1_0.0.0.0/0",
    ),
    Made(
        "aws:ec2/routeTableAssociation:RouteTableAssociation", {"routeTableId": "rtb-1", "subnetId": "subnet-1"},
        "ec2.DescribeRouteTables", "RouteTables", _table("rtb-1", "subnet-1", "0.0.0.0/0"),
        (_table("rtb-2", "subnet-1", "0.0.0.0/0"), _table("rtb-1", "subnet-2", "0.0.0.0/0")), "subnet-1/rtb-1",
    ),
    _rules("securityGroupIngressRule:SecurityGroupIngressRule", egress=False),
    _rules("securityGroupEgressRule:SecurityGroupEgressRule", egress=True),
)  # fmt: skip


def _resource(which: str, cluster: str, name: str) -> Entry:
    return {"ResourceARN": f"arn:aws:kms:us-west-2:{ACCOUNT}:key/{which}", "Tags": _tags(cluster, name)}


def _lustre(which: str, cluster: str, subnet: str) -> Entry:
    tags = _tags(cluster, "train")
    return {"FileSystemId": f"fs-{which:0>17}", "SubnetIds": [subnet], "Lifecycle": "AVAILABLE", "Tags": tags}


def _workspace(which: str, alias: str, cluster: str) -> Entry:
    arn = f"arn:aws:aps:us-west-2:{ACCOUNT}:workspace/{which}"
    base = {"workspaceId": which, "alias": alias, "arn": arn, "status": {"statusCode": "ACTIVE"}, "tags": {"trn:cluster": cluster}}
    return {**base, "createdAt": "2026-11-01T00:00:00Z"}


def _attached(arn: str) -> Entry:
    return {"policyArn": arn, "accessScope": {"type": "cluster"}}


def _asg_tag(group: str, key: str) -> Entry:
    return {"ResourceId": group, "Key": key, "Value": "x", "ResourceType": "auto-scaling-group", "PropagateAtLaunch": False}


SUBNET = "subnet-00000001"
IN_CLUSTER = {"clusterName": CLUSTER}


def _batch(what: str, name: str, cluster: str, status: str = "VALID") -> Entry:
    entry = {f"{what}Name": name, f"{what}Arn": f"arn:{what}/{name}", "status": status, "tags": {"trn:cluster": cluster}}
    more: dict[str, Entry] = {
        "computeEnvironment": {"state": "ENABLED"},
        "jobQueue": {"state": "ENABLED", "priority": 1, "computeEnvironmentOrder": []},
        "jobDefinition": {"revision": 1, "type": "container"},
    }
    return {**entry, **more[what]}


LISTED = (
    Made(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation", {**IN_CLUSTER, "namespace": "n", "serviceAccount": "s"},
        "eks.ListPodIdentityAssociations", "associations", {"namespace": "n", "serviceAccount": "s", "associationId": "a-1"},
        ({"namespace": "n", "serviceAccount": "s2", "associationId": "a-2"},), "train,a-1",
    ),
    Made(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        {**IN_CLUSTER, "principalArn": ROLE_ARN, "policyArn": POLICY_ARN}, "eks.ListAssociatedAccessPolicies", "associatedAccessPolicies",
        _attached(POLICY_ARN), (_attached(f"{POLICY_ARN}2"),), f"train#{ROLE_ARN}#{POLICY_ARN}",
        (("eks.DescribeAccessEntry", {"accessEntry": {"principalArn": ROLE_ARN}}),),
    ),
    Made(
        "aws:autoscaling/tag:Tag", {"autoscalingGroupName": "g", "tag": {"key": "k"}}, "autoscaling.DescribeTags", "Tags",
        _asg_tag("g", "k"), (_asg_tag("g", "k2"), _asg_tag("g2", "k")), "g,k",
    ),
    Made(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment", {"role": "r", "policyArn": f"{POLICY_ARN}"}, "iam.ListAttachedRolePolicies",
        "AttachedPolicies", {"PolicyArn": POLICY_ARN}, ({"PolicyArn": f"{POLICY_ARN}2"},), f"r/{POLICY_ARN}",
    ),
    Made(
        "aws:kms/key:Key", {"tags": {"Name": "train-secrets"}}, "resourcegroupstaggingapi.GetResources", "ResourceTagMappingList",
        _resource("1", CLUSTER, "train-secrets"), (_resource("2", "train-2", "train-secrets"), _resource("3", CLUSTER, "other")), "1",
        (("kms.DescribeKey", {"KeyMetadata": {"KeyId": "1", "KeyState": "Enabled"}}),),
    ),
    Made(
        "aws:kms/alias:Alias", {"name": "alias/train"}, "kms.ListAliases", "Aliases", {"AliasName": "alias/train"},
        ({"AliasName": "alias/train-2"}, {"AliasName": "alias/a"}), "alias/train",
    ),
    Made(
        "aws:cloudwatch/logGroup:LogGroup", {"name": "/a"}, "logs.DescribeLogGroups", "logGroups", {"logGroupName": "/a"},
        ({"logGroupName": "/a/b"},), "/a",
    ),
    Made(
        "aws:fsx/lustreFileSystem:LustreFileSystem", {"subnetIds": SUBNET, "tags": {"Name": "train"}}, "fsx.DescribeFileSystems",
        "FileSystems", _lustre("1", CLUSTER, SUBNET), (_lustre("2", "my-train", SUBNET), _lustre("3", CLUSTER, f"{SUBNET}2")),
        f"fs-{1:0>17}",
    ),
    Made(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation", {"fileSystemId": f"fs-{1:0>17}", "fileSystemPath": "/d"},
        "fsx.DescribeDataRepositoryAssociations", "Associations",
        {"FileSystemId": f"fs-{1:0>17}", "FileSystemPath": "/d", "AssociationId": f"dra-{1:0>17}", "Lifecycle": "AVAILABLE"},
        ({"FileSystemId": f"fs-{2:0>17}", "FileSystemPath": "/d", "AssociationId": f"dra-{2:0>17}", "Lifecycle": "AVAILABLE"},),
        f"dra-{1:0>17}",
    ),
    Made(
        "aws:amp/workspace:Workspace", {"alias": "train"}, "amp.ListWorkspaces", "workspaces", _workspace("ws-1", "train", CLUSTER),
        (_workspace("ws-2", "train-2", CLUSTER), _workspace("ws-3", "train", "my-train")), "ws-1",
    ),
    Made(
        "aws:batch/computeEnvironment:ComputeEnvironment", {"name": "train"}, "batch.DescribeComputeEnvironments", "computeEnvironments",
        _batch("computeEnvironment", "train", CLUSTER),
        (_batch("computeEnvironment", "train-2", CLUSTER), _batch("computeEnvironment", "train", "my-train")), "train",
    ),
    Made(
        "aws:batch/jobQueue:JobQueue", {"name": "train"}, "batch.DescribeJobQueues", "jobQueues", _batch("jobQueue", "train", CLUSTER),
        (_batch("jobQueue", "train-2", CLUSTER), _batch("jobQueue", "train", CLUSTER, status="DELETING")), "arn:jobQueue/train",
    ),
    Made(
        "aws:batch/jobDefinition:JobDefinition", {"name": "train"}, "batch.DescribeJobDefinitions", "jobDefinitions",
        _batch("jobDefinition", "train", CLUSTER), (_batch("jobDefinition", "train-2", CLUSTER),), "arn:jobDefinition/train",
    ),
    Made(
        "aws:cloudwatch/eventTarget:EventTarget", {"rule": "r", "targetId": "t"}, "events.ListTargetsByRule", "Targets",
        {"Id": "t", "Arn": ROLE_ARN}, ({"Id": "t2", "Arn": ROLE_ARN},), "r/t",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class One:
    """One object that a service describes by its name."""

    type: str
    inputs: Entry
    operation: str
    answer: Entry
    found: str
    absent: str = "ResourceNotFoundException"
    """The code for one that is not there."""


_ROLE = {"Path": "/", "RoleName": "r", "RoleId": "AROAEXAMPLEEXAMPLE00", "Arn": ROLE_ARN, "CreateDate": "2026-11-01T00:00:00Z"}
_POLICY = {"RoleName": "r", "PolicyName": "p", "PolicyDocument": "{}"}
DESCRIBED = (
    One(
        "aws:eks/cluster:Cluster", {"name": CLUSTER}, "eks.DescribeCluster",
        {"cluster": {"name": CLUSTER, "status": "ACTIVE", "tags": {"trn:cluster": CLUSTER}}}, CLUSTER,
    ),
    One(
        "aws:eks/nodeGroup:NodeGroup", {**IN_CLUSTER, "nodeGroupName": "core"}, "eks.DescribeNodegroup",
        {"nodegroup": {"nodegroupName": "core", "status": "ACTIVE"}}, "train:core",
    ),
    One(
        "aws:eks/addon:Addon", {**IN_CLUSTER, "addonName": "vpc-cni"}, "eks.DescribeAddon",
        {"addon": {"addonName": "vpc-cni", "status": "ACTIVE"}}, "train:vpc-cni",
    ),
    One(
        "aws:eks/accessEntry:AccessEntry", {**IN_CLUSTER, "principalArn": ROLE_ARN}, "eks.DescribeAccessEntry",
        {"accessEntry": {"principalArn": ROLE_ARN}}, f"train:{ROLE_ARN}",
    ),
    One(
        "aws:iam/role:Role", {"name": "r"}, "iam.GetRole", {"Role": {**_ROLE, "Tags": tag_list({"trn:cluster": CLUSTER})}}, "r",
        "NoSuchEntity",
    ),
    One("aws:iam/rolePolicy:RolePolicy", {"role": "r", "name": "p"}, "iam.GetRolePolicy", _POLICY, "r:p", "NoSuchEntity"),
    One("aws:sqs/queue:Queue", {"name": CLUSTER}, "sqs.GetQueueUrl", {"QueueUrl": QUEUE}, QUEUE, "AWS.SimpleQueueService.NonExistentQueue"),
    One(
        "aws:sqs/queuePolicy:QueuePolicy", {"queueUrl": QUEUE}, "sqs.GetQueueAttributes", {"Attributes": {"Policy": "{}"}}, QUEUE,
        "QueueDoesNotExist",
    ),
    One("aws:cloudwatch/eventRule:EventRule", {"name": "r"}, "events.DescribeRule", {"Name": "r"}, "r"),
)  # fmt: skip
