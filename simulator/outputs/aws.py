"""Answers for AWS types, by Pulumi type token.

Shapes: schemas of hashicorp/terraform-provider-aws and property docs of pulumi-aws 7.51.1, read 2026-11.
"""

from collections.abc import Callable, Mapping
from typing import Any

from simulator.outputs.context import ACCOUNT, CREATED_AT, Context

Inputs = Mapping[str, Any]
Answer = tuple[str, dict[str, Any]]
Make = Callable[[Context, Inputs], Answer]


def _with_arn(prefix: str, service: str, resource: str, **more: Any) -> Make:
    """Types whose id is `<prefix>-<17 hex digits>` and whose ARN ends in `<resource>/<id>`."""

    def make(context: Context, _: Inputs) -> Answer:
        resource_id = f"{prefix}-{context.hex()}"
        return resource_id, {"arn": context.arn(service, f"{resource}/{resource_id}"), "ownerId": ACCOUNT, **more}

    return make


def _only_id(prefix: str, **more: Any) -> Make:
    def make(context: Context, _: Inputs) -> Answer:
        return f"{prefix}-{context.hex()}", dict(more)

    return make


def _vpc(context: Context, inputs: Inputs) -> Answer:
    vpc_id = f"vpc-{context.hex()}"
    table = f"rtb-{context.hex(what='main')}"
    return vpc_id, {
        "arn": context.arn("ec2", f"vpc/{vpc_id}"),
        "mainRouteTableId": table,
        "defaultRouteTableId": table,
        "defaultSecurityGroupId": f"sg-{context.hex(what='default')}",
        "defaultNetworkAclId": f"acl-{context.hex(what='acl')}",
        "ownerId": ACCOUNT,
    }


def _subnet(context: Context, inputs: Inputs) -> Answer:
    subnet_id = f"subnet-{context.hex()}"
    letter = "abcdef"[int(inputs["availabilityZoneId"][-1]) % 6]
    return subnet_id, {"arn": context.arn("ec2", f"subnet/{subnet_id}"), "availabilityZone": context.region + letter, "ownerId": ACCOUNT}


def _eip(context: Context, inputs: Inputs) -> Answer:
    allocation = f"eipalloc-{context.hex()}"
    return allocation, {
        "allocationId": allocation,
        "publicIp": f"198.51.100.{int(context.hex(2), 16) % 254 + 1}",
        "arn": context.arn("ec2", f"elastic-ip/{allocation}"),
    }


def _nat_gateway(context: Context, inputs: Inputs) -> Answer:
    return f"nat-{context.hex()}", {"networkInterfaceId": f"eni-{context.hex(what='eni')}", "privateIp": "10.0.0.10"}


def _route(context: Context, inputs: Inputs) -> Answer:
    return f"r-{inputs['routeTableId']}{int(context.hex(8), 16) % 10**10:010d}", {"origin": "CreateRoute", "state": "active"}


def _endpoint(context: Context, inputs: Inputs) -> Answer:
    endpoint = f"vpce-{context.hex()}"
    return endpoint, {"arn": context.arn("ec2", f"vpc-endpoint/{endpoint}"), "state": "available", "ownerId": ACCOUNT}


def _security_group_rule(context: Context, inputs: Inputs) -> Answer:
    rule = f"sgr-{context.hex()}"
    return rule, {"arn": context.arn("ec2", f"security-group-rule/{rule}"), "securityGroupRuleId": rule}


def _launch_template(context: Context, inputs: Inputs) -> Answer:
    template = f"lt-{context.hex()}"
    return template, {"arn": context.arn("ec2", f"launch-template/{template}"), "latestVersion": 1, "defaultVersion": 1}


def _placement_group(context: Context, inputs: Inputs) -> Answer:
    name = inputs["name"]
    return name, {"arn": context.arn("ec2", f"placement-group/{name}"), "placementGroupId": f"pg-{context.hex()}"}


def _role(context: Context, inputs: Inputs) -> Answer:
    name = inputs["name"]
    unique = "AROA" + context.letters(17).upper()
    return name, {"arn": context.arn("iam", f"role/{name}", regional=False), "uniqueId": unique, "createDate": CREATED_AT}


def _role_policy(context: Context, inputs: Inputs) -> Answer:
    return f"{inputs['role']}:{inputs['name']}", {}


def _role_policy_attachment(context: Context, inputs: Inputs) -> Answer:
    return f"{inputs['role']}/{inputs['policyArn']}", {}


def _cluster(context: Context, inputs: Inputs) -> Answer:
    name, suffix = inputs["name"], context.dns_suffix
    issuer = context.hex(32, "oidc").upper()
    return name, {
        "arn": context.arn("eks", f"cluster/{name}"),
        "endpoint": f"https://{issuer}.gr7.{context.region}.eks.{suffix}",
        # Not a certificate: base64 of a sentence that says so.
        "certificateAuthority": {"data": "c2ltdWxhdGVkIGNlcnRpZmljYXRlIGF1dGhvcml0eQ=="},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{context.region}.{suffix}/id/{issuer}"}]}],
        "vpcConfig": {**inputs["vpcConfig"], "clusterSecurityGroupId": f"sg-{context.hex(what='cluster')}"},
        "platformVersion": "eks.5",
        "status": "ACTIVE",
        "createdAt": CREATED_AT,
    }


def _node_group(context: Context, inputs: Inputs) -> Answer:
    cluster, name = inputs["clusterName"], inputs["nodeGroupName"]
    return f"{cluster}:{name}", {
        "arn": context.arn("eks", f"nodegroup/{cluster}/{name}/{context.uuid()}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{context.uuid('asg')}"}], "remoteAccessSecurityGroupId": ""}],
        "status": "ACTIVE",
    }


def _addon(context: Context, inputs: Inputs) -> Answer:
    cluster, name = inputs["clusterName"], inputs["addonName"]
    return f"{cluster}:{name}", {"arn": context.arn("eks", f"addon/{cluster}/{name}/{context.uuid()}"), "createdAt": CREATED_AT}


def _access_entry(context: Context, inputs: Inputs) -> Answer:
    cluster, principal = inputs["clusterName"], inputs["principalArn"]
    role = principal.rsplit("/", 1)[-1]
    arn = context.arn("eks", f"access-entry/{cluster}/role/{ACCOUNT}/{role}/{context.uuid()}")
    return f"{cluster}:{principal}", {"accessEntryArn": arn, "createdAt": CREATED_AT}


def _access_policy_association(context: Context, inputs: Inputs) -> Answer:
    return f"{inputs['clusterName']}#{inputs['principalArn']}#{inputs['policyArn']}", {"associatedAt": CREATED_AT}


def _pod_identity_association(context: Context, inputs: Inputs) -> Answer:
    association = f"a-{context.letters(17)}"
    arn = context.arn("eks", f"podidentityassociation/{inputs['clusterName']}/{association}")
    return association, {"associationId": association, "associationArn": arn}


def _lustre(context: Context, inputs: Inputs) -> Answer:
    file_system = f"fs-{context.hex()}"
    return file_system, {
        "arn": context.arn("fsx", f"file-system/{file_system}"),
        "dnsName": f"{file_system}.fsx.{context.region}.{context.dns_suffix}",
        "mountName": context.letters(8, "mount"),
        "networkInterfaceIds": [f"eni-{context.hex(what=f'eni{index}')}" for index in range(2)],
        "ownerId": ACCOUNT,
    }


def _data_repository_association(context: Context, inputs: Inputs) -> Answer:
    association = f"dra-{context.hex()}"
    arn = context.arn("fsx", f"association/{inputs['fileSystemId']}/{association}")
    return association, {"arn": arn, "associationId": association}


def _key(context: Context, inputs: Inputs) -> Answer:
    key = context.uuid()
    return key, {"keyId": key, "arn": context.arn("kms", f"key/{key}")}


def _alias(context: Context, inputs: Inputs) -> Answer:
    return inputs["name"], {"arn": context.arn("kms", inputs["name"]), "targetKeyArn": context.arn("kms", f"key/{inputs['targetKeyId']}")}


def _log_group(context: Context, inputs: Inputs) -> Answer:
    return inputs["name"], {"arn": context.arn("logs", f"log-group:{inputs['name']}")}


def _workspace(context: Context, inputs: Inputs) -> Answer:
    workspace = f"ws-{context.uuid()}"
    endpoint = f"https://aps-workspaces.{context.region}.{context.dns_suffix}/workspaces/{workspace}/"
    return workspace, {"arn": context.arn("aps", f"workspace/{workspace}"), "prometheusEndpoint": endpoint}


def _queue(context: Context, inputs: Inputs) -> Answer:
    name = inputs["name"]
    url = f"https://sqs.{context.region}.{context.dns_suffix}/{ACCOUNT}/{name}"
    return url, {"url": url, "arn": context.arn("sqs", name)}


def _queue_policy(context: Context, inputs: Inputs) -> Answer:
    return inputs["queueUrl"], {}


def _event_rule(context: Context, inputs: Inputs) -> Answer:
    return inputs["name"], {"arn": context.arn("events", f"rule/{inputs['name']}"), "eventBusName": "default", "state": "ENABLED"}


def _event_target(context: Context, inputs: Inputs) -> Answer:
    return f"{inputs['rule']}-{inputs['targetId']}", {"eventBusName": "default"}


def _autoscaling_tag(context: Context, inputs: Inputs) -> Answer:
    return f"{inputs['autoscalingGroupName']},{inputs['tag']['key']}", {}


def _compute_environment(context: Context, inputs: Inputs) -> Answer:
    name = inputs["name"]
    healthy = {"status": "VALID", "statusReason": "ComputeEnvironment Healthy"}
    return name, {"arn": context.arn("batch", f"compute-environment/{name}"), "ecsClusterArn": "", **healthy}


def _job_queue(context: Context, inputs: Inputs) -> Answer:
    arn = context.arn("batch", f"job-queue/{inputs['name']}")
    return arn, {"arn": arn}


def _job_definition(context: Context, inputs: Inputs) -> Answer:
    prefix = context.arn("batch", f"job-definition/{inputs['name']}")
    return f"{prefix}:1", {"arn": f"{prefix}:1", "arnPrefix": prefix, "revision": 1}


ANSWERS: Mapping[str, Make] = {
    "aws:ec2/vpc:Vpc": _vpc,
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": _only_id("vpc-cidr-assoc"),
    "aws:ec2/subnet:Subnet": _subnet,
    "aws:ec2/internetGateway:InternetGateway": _with_arn("igw", "ec2", "internet-gateway"),
    "aws:ec2/eip:Eip": _eip,
    "aws:ec2/natGateway:NatGateway": _nat_gateway,
    "aws:ec2/routeTable:RouteTable": _with_arn("rtb", "ec2", "route-table"),
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _only_id("rtbassoc"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _endpoint,
    "aws:ec2/securityGroup:SecurityGroup": _with_arn("sg", "ec2", "security-group"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _security_group_rule,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _security_group_rule,
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/placementGroup:PlacementGroup": _placement_group,
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _role_policy_attachment,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _access_policy_association,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity_association,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _lustre,
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": _data_repository_association,
    "aws:kms/key:Key": _key,
    "aws:kms/alias:Alias": _alias,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:autoscaling/tag:Tag": _autoscaling_tag,
    "aws:amp/workspace:Workspace": _workspace,
    "aws:sqs/queue:Queue": _queue,
    "aws:sqs/queuePolicy:QueuePolicy": _queue_policy,
    "aws:cloudwatch/eventRule:EventRule": _event_rule,
    "aws:cloudwatch/eventTarget:EventTarget": _event_target,
    "aws:batch/computeEnvironment:ComputeEnvironment": _compute_environment,
    "aws:batch/jobQueue:JobQueue": _job_queue,
    "aws:batch/jobDefinition:JobDefinition": _job_definition,
}
