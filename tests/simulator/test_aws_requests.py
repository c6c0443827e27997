"""What the program asks of AWS satisfies the API's own shapes, and a request that does not is refused."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts.neuron_releases import AMI_RELEASES
from facts.resources.api_calls import Creation, boolean
from facts.resources.table import TYPES
from simulator.aws_requests import NotMapped, Request, aws_requests
from simulator.recording import Registration
from tests.simulator.aws_shapes import BORROWED_ENUMS, DOCUMENTED_VALUES, Shape, service_model, shape_errors
from tests.stacks import external_networks
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.test_addons import recorded
from tests.support import dev_configuration, merged, record_stack

CREATIONS = {token: item.creation for token, item in TYPES.items() if isinstance(item.creation, Creation)}
CLUSTER, NODE_GROUP, ADDON = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon"
LAUNCH_TEMPLATE, FILE_SYSTEM = "aws:ec2/launchTemplate:LaunchTemplate", "aws:fsx/lustreFileSystem:LustreFileSystem"
ROLE, LOG_GROUP, KEY, VPC = "aws:iam/role:Role", "aws:cloudwatch/logGroup:LogGroup", "aws:kms/key:Key", "aws:ec2/vpc:Vpc"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
TOPIC = "arn:aws:sns:us-west-2:123456789012:costs"
RELEASE = AMI_RELEASES["1.35"]
EXISTING = "existing network"
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "dev": {},
    "trn2 from a capacity block": {
        "region": "us-east-2",
        "network": {"zones": ["use2-az1", "use2-az2"]},
        "nodeGroups": {
            "trn2": {
                "instanceType": "trn2.48xlarge", "size": 1, "capacityType": "CAPACITY_BLOCK", "releaseVersion": RELEASE,
                "capacityReservationId": "cr-0123456789abcdef0", "logicalCoreSize": 1,
            }
        },
    },
    "empty at night": {"nodeGroups": {"trn1-32xl": {"schedule": {"downAt": "0 20 * * *", "upAt": "0 7 * * *", "timeZone": "Asia/Tokyo"}}}},
    "inf2 on spot": {
        "nodeGroups": {
            "inf2": {"instanceType": "inf2.xlarge", "size": 2, "capacityType": "SPOT", "releaseVersion": RELEASE, "autoscaled": True}
        }
    },
    "NAT in each of three zones, and backups": {
        "network": {"zones": ["usw2-az4", "usw2-az1", "usw2-az2"], "nat": "per-zone"},
        "storage": {"lustre": {"backupRetentionDays": 7, "finalBackup": True}},
    },
    "no NAT": {
        "network": {
            "nat": "none",
            "interfaceEndpoints": ["ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts", "logs", "fsx", "autoscaling", "aps-workspaces", "monitoring"],
        }
    },
    "placement group": {
        "nodeGroups": {"trn1-32xl": {"placementGroup": True, "nodeRepair": False, "rootVolumeGib": 500, "labels": {"team": "nlp"}}}
    },
    "data from S3": {
        "storage": {
            "lustre": {
                "dataRepository": {"s3Uri": "s3://corpus/wiki", "path": "/wiki"}, "capacityGib": 4800, "throughputMbpsPerTib": 1000,
                "compression": "NONE",
            }
        }
    },
    "other interface layouts": {"nodeGroups": {"trn1-32xl": {"efaLayout": "all-efa"}, "trn1n-32xl": {"efaLayout": "ena-primary"}}},
    "access entries and a key of one's own": {
        "controlPlane": {
            "accessEntries": {
                "platform": {"principalArn": "arn:aws:iam::123456789012:role/platform"},
                "nlp": {
                    "principalArn": "arn:aws:iam::123456789012:user/nlp",
                    "policy": "AmazonEKSEditPolicy",
                    "namespaces": ["training", "lab"],
                },
            },
            "encryptionKeyArn": "arn:aws:kms:us-west-2:123456789012:key/1f0e8d3c-5a2b-4c6d-8e9f-0a1b2c3d4e5f",
            "logTypes": ["api", "scheduler", "controllerManager"], "logRetentionDays": 365, "deletionProtection": True,
            "supportType": "EXTENDED", "publicAccessCidrs": [],
        },
        "tags": {"cost-centre": "4711"},
    },
    "budget alarm": {
        "budget": {
            "alarm": {"limitUsdPerMonth": 20_000, "emails": ["a@b.example"], "snsTopicArn": TOPIC}
        }
    },
    **{alternative: {} for alternative in (*ALTERNATIVES, EXISTING)},
}  # fmt: skip


@cache
def resources(configuration: str) -> tuple[Registration, ...]:
    """Every AWS resource that a configuration asks for."""
    if configuration in ALTERNATIVES:
        recording = recorded(configuration)
    elif configuration == EXISTING:
        recording = record_stack(external_networks.configuration(existing={"tagSubnets": True}))
    else:
        recording = record_stack(merged(dev_configuration(), **CONFIGURATIONS[configuration]))
    return tuple(item for item in recording.resources() if item.type.startswith("aws:"))


def changed(inputs: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy of nested inputs with one of them replaced or added; None takes it away."""
    if not path:
        return value
    key, *rest = path
    if isinstance(inputs, list):
        return [changed(item, tuple(rest), value) if index == key else item for index, item in enumerate(inputs)]
    inner = changed(inputs.get(key, {}), tuple(rest), value)
    return {**{name: item for name, item in inputs.items() if name != key}, **({} if inner is None else {key: inner})}


def with_input(resource_type: str, path: tuple[str | int, ...], value: Any) -> Registration:
    """A resource of the shipped stack, its last by name, with one input changed."""
    resource = [item for item in resources("dev") if item.type == resource_type][-1]
    return dataclasses.replace(resource, inputs=changed(resource.inputs, path, value))


def errors_of(resource: Registration) -> list[str]:
    """Shape errors of all calls for a resource."""
    return [f"{resource.name}: {error}" for request in aws_requests(resource) for error in shape_errors(request)]


def paths(inputs: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all keys that Pulumi names; those of tags and labels are the user's own."""
    entries = inputs.items() if isinstance(inputs, Mapping) else enumerate(inputs) if isinstance(inputs, list) else ()
    for key, value in entries:
        if isinstance(key, str):
            yield (*path, key)
        if key not in ("tags", "labels"):
            yield from paths(value, (*path, key))


def another_value(inputs: Any, path: tuple[str | int, ...]) -> Any:
    """A value that differs from the one at a path: the opposite of a boolean, other text for all else."""
    value = reduce(lambda inner, key: inner[key], path, inputs)
    return not value if isinstance(value, bool) else "another value"


@st.composite
def inputs_of_the_stack(draw: st.DrawFn) -> tuple[Registration, tuple[str | int, ...]]:
    """A resource of the shipped stack and the path of one of its inputs, of each type alike."""
    resource_type = draw(st.sampled_from(sorted({item.type for item in resources("dev")})))
    resource = draw(st.sampled_from([item for item in resources("dev") if item.type == resource_type]))
    return resource, draw(st.sampled_from(sorted(paths(resource.inputs), key=str)))


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_request_has_the_shape_that_aws_publishes(configuration: str) -> None:
    """AWS refuses a wrong member or value after minutes of a paid run; the published model refuses it here."""
    assert [error for resource in resources(configuration) for error in errors_of(resource)] == []


def test_the_configurations_reach_every_call() -> None:
    """A row of the table that no configuration uses could be wrong for ever."""
    assert {item.type for configuration in CONFIGURATIONS for item in resources(configuration)} == CREATIONS.keys()


def test_each_notification_of_a_budget_is_a_call_with_all_its_subscribers() -> None:
    """The call that makes a budget makes no notification: without the others no message is sent."""
    (budget,) = (item for item in resources("budget alarm") if item.type == "aws:budgets/budget:Budget")
    made, *notifications = aws_requests(budget)
    assert made.parameters["Budget"]["CostFilters"] == {"TagKeyValue": ["user:trn:cluster$trainium-dev"], "Region": ["us-west-2"]}
    assert made.parameters["Budget"]["CostTypes"] == {"IncludeCredit": False, "IncludeRefund": False}
    said = [(one.parameters["Notification"]["NotificationType"], one.parameters["Notification"]["Threshold"]) for one in notifications]
    assert said == [("ACTUAL", 80), ("ACTUAL", 100), ("FORECASTED", 100)]
    email, sns = {"SubscriptionType": "EMAIL", "Address": "a@b.example"}, {"SubscriptionType": "SNS", "Address": TOPIC}
    assert all(one.parameters["Subscribers"] == [email, sns] for one in notifications)


def test_every_resource_is_made_by_one_call_of_its_own() -> None:
    """The first request is the one that makes the resource: others only finish it."""
    assert {request.operation for item in resources("dev") for request in aws_requests(item)[:1]} >= {
        "CreateCluster", "CreateNodegroup", "CreateLaunchTemplate", "CreateVpc", "CreateInternetGateway", "CreateKey", "CreateLogGroup",
        "CreateFileSystem", "CreateOrUpdateTags",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("resource_type", "operations"),
    [
        ("aws:ec2/internetGateway:InternetGateway", ["CreateInternetGateway", "AttachInternetGateway"]),
        (VPC, ["CreateVpc", "ModifyVpcAttribute"]),
        (KEY, ["CreateKey", "EnableKeyRotation"]),
        (LOG_GROUP, ["CreateLogGroup", "PutRetentionPolicy"]),
    ],
)
def test_what_the_first_call_cannot_say_is_said_by_a_second(resource_type: str, operations: list[str]) -> None:
    """A retention or an attachment that no call carried would be believed and never happen."""
    resource = next(item for item in resources("dev") if item.type == resource_type)
    assert [request.operation for request in aws_requests(resource)] == operations


@pytest.mark.parametrize(
    ("resource_type", "key", "value", "operations"),
    [
        (KEY, "enableKeyRotation", False, ["CreateKey"]),
        (LOG_GROUP, "retentionInDays", 0, ["CreateLogGroup"]),
        (VPC, "enableDnsHostnames", False, ["CreateVpc"]),
        (VPC, "enableDnsSupport", False, ["CreateVpc", "ModifyVpcAttribute", "ModifyVpcAttribute"]),
    ],
)
def test_a_value_that_is_awss_own_default_makes_no_call(resource_type: str, key: str, value: Any, operations: list[str]) -> None:
    """The provider sends no second call then, and CloudWatch Logs would refuse a retention of 0."""
    assert [request.operation for request in aws_requests(with_input(resource_type, (key,), value))] == operations


@pytest.mark.parametrize(
    ("resource_type", "path", "value", "message"),
    [
        (NODE_GROUP, ("amiType",), "AL2023_x86_64_NEURONX", "`amiType` is `AL2023_x86_64_NEURONX`, allowed: AL2_x86_64, "),
        (NODE_GROUP, ("instanceTypes",), ["trn1.31xlarge"], "`instanceTypes` is `trn1.31xlarge`, allowed: trn1.32xlarge, "),
        (NODE_GROUP, ("nodeRoleArn",), None, "`nodeRole` is missing"),
        (NODE_GROUP, ("capacityType",), "spot", "`capacityType` is `spot`, allowed: ON_DEMAND, SPOT, CAPACITY_BLOCK"),
        (NODE_GROUP, ("scalingConfig", "maxSize"), 0, "`scalingConfig.maxSize` is `0`, allowed: at least 1"),
        (NODE_GROUP, ("scalingConfig", "minSize"), "1", "`scalingConfig.minSize` is `'1'`, allowed: integer"),
        (NODE_GROUP, ("taints", 0, "effect"), "NoSchedule", "`taints[0].effect` is `NoSchedule`, allowed: NO_SCHEDULE, "),
        (NODE_GROUP, ("taints", 0, "key"), "k" * 64, "with 64 characters, allowed: 1 to 63"),
        (NODE_GROUP, ("launchTemplate", "version"), 1, "`launchTemplate.version` is `1`, allowed: string"),
        (CLUSTER, ("name",), "-dev", "`name` is `-dev`, allowed: text that matches ^[0-9A-Za-z]"),
        (CLUSTER, ("upgradePolicy", "supportType"), "LONG", "`upgradePolicy.supportType` is `LONG`, allowed: STANDARD, EXTENDED"),
        (CLUSTER, ("enabledClusterLogTypes",), ["apis"], "`logging.clusterLogging[0].types[0]` is `apis`, allowed: api, "),
        (CLUSTER, ("encryptionConfig", "resources"), ["all"], "`encryptionConfig[0].resources` is `all`, allowed: secrets"),
        (CLUSTER, ("vpcConfig",), None, "`resourcesVpcConfig` is missing"),
        (ADDON, ("resolveConflictsOnCreate",), "FORCE", "`resolveConflicts` is `FORCE`, allowed: OVERWRITE, NONE, PRESERVE"),
        (LAUNCH_TEMPLATE, ("networkInterfaces", 1, "interfaceType"), "e", "`LaunchTemplateData.NetworkInterfaces[1].InterfaceType` is"),
        (LAUNCH_TEMPLATE, ("networkInterfaces", 1, "interfaceType"), "efa_only", " is `efa_only`, allowed: interface, efa, efa-only"),
        (LAUNCH_TEMPLATE, ("networkInterfaces", 0, "deleteOnTermination"), "yes", "[0].DeleteOnTermination` is `'yes'`, allowed: boolean"),
        (LAUNCH_TEMPLATE, ("blockDeviceMappings", 0, "ebs", "volumeType"), "gp4", "[0].Ebs.VolumeType` is `gp4`, allowed: standard, "),
        (LAUNCH_TEMPLATE, ("metadataOptions", "httpTokens"), "on", ".MetadataOptions.HttpTokens` is `on`, allowed: optional, required"),
        (LAUNCH_TEMPLATE, ("tagSpecifications", 0, "resourceType"), "subnet", "[0].ResourceType` is `subnet`, allowed: instance, volume, "),
        (LAUNCH_TEMPLATE, ("instanceMarketOptions", "marketType"), "block", ".MarketType` is `block`, allowed: spot, capacity-block, "),
        (FILE_SYSTEM, ("storageType",), "NVME", "`StorageType` is `NVME`, allowed: SSD, HDD, "),
        (FILE_SYSTEM, ("perUnitStorageThroughput",), 300, "`LustreConfiguration.PerUnitStorageThroughput` is `300`, allowed: 12, 40, 50, "),
        (FILE_SYSTEM, ("automaticBackupRetentionDays",), 91, ".AutomaticBackupRetentionDays` is `91`, allowed: 0 to 90"),
        (FILE_SYSTEM, ("subnetIds",), None, "`SubnetIds` is missing"),
        (FILE_SYSTEM, ("tags",), {"Name": "a!"}, "`Tags[0].Value` is `a!`, allowed: text that matches "),
        (ROLE, ("name",), "r" * 65, "with 65 characters, allowed: 1 to 64"),
        (LOG_GROUP, ("retentionInDays",), 31, "`retentionInDays` is `31`, allowed: 1, 3, 5, 7, 14, 30, "),
        (INGRESS, ("ipProtocol",), "all", "`IpPermissions[0].IpProtocol` is `all`, allowed: tcp, udp, icmp, icmpv6, -1"),
    ],
)  # fmt: skip
def test_a_request_that_aws_would_refuse_is_caught(resource_type: str, path: tuple[str | int, ...], value: Any, message: str) -> None:
    """A check that lets a slip of the pen through is worth nothing; its message must name path, value and what is allowed."""
    errors = errors_of(with_input(resource_type, path, value))
    assert len(errors) == 1
    assert message in errors[0]


@pytest.mark.parametrize(
    ("resource_type", "path", "message"),
    [
        (NODE_GROUP, ("amiTypes",), "trn1n-32xl: no API member is known for the input `amiTypes`; did you mean `amiType`?"),
        (NODE_GROUP, ("forceUpdateVersion",), "`forceUpdateVersion`; add it to facts/resources with its source"),
        (NODE_GROUP, ("updateConfig", "maxUnavailble"), "`updateConfig.maxUnavailble`; did you mean `updateConfig.maxUnavailable`?"),
        (LAUNCH_TEMPLATE, ("networkInterfaces", 7, "interfacetype"), "; did you mean `networkInterfaces[7].interfaceType`?"),
        (LAUNCH_TEMPLATE, ("blockDeviceMappings", 0, "ebs", "iops"), "`blockDeviceMappings[0].ebs.iops`; add it to"),
        (LAUNCH_TEMPLATE, ("imageId",), "`imageId`"),
        (CLUSTER, ("vpcConfig", "securityGroupIds"), "`vpcConfig.securityGroupIds`"),
    ],
)  # fmt: skip
def test_an_input_that_no_call_takes_is_an_error(resource_type: str, path: tuple[str | int, ...], message: str) -> None:
    """An input left out silently would look checked: the message names resource and key, and the likely spelling."""
    with pytest.raises(NotMapped, match=re.escape(message)) as refusal:
        aws_requests(with_input(resource_type, path, 1))
    assert str(refusal.value).startswith(f"{resource_type} ")


@given(drawn=inputs_of_the_stack())
def test_no_misspelt_input_goes_unnoticed(drawn: tuple[Registration, tuple[str | int, ...]]) -> None:
    """Whatever the resource and however deep the key: the table must know each input by its exact name."""
    resource, path = drawn
    misspelt = changed(resource.inputs, (*path[:-1], f"{path[-1]}x"), "1")
    with pytest.raises(NotMapped, match=f"`.*{path[-1]}x`"):
        aws_requests(dataclasses.replace(resource, inputs=misspelt))


@given(drawn=inputs_of_the_stack())
def test_every_input_taken_is_sent(drawn: tuple[Registration, tuple[str | int, ...]]) -> None:
    """A key that the table names but never sends would be checked by nothing."""
    resource, path = drawn
    other = dataclasses.replace(resource, inputs=changed(resource.inputs, path, another_value(resource.inputs, path)))
    assert (aws_requests(other) == aws_requests(resource)) == (path[0] in CREATIONS[resource.type].later)


def test_a_type_without_a_call_is_an_error() -> None:
    """A type skipped silently would count as checked."""
    bucket = dataclasses.replace(resources("dev")[0], type="aws:s3/bucket:Bucket", name="data")
    with pytest.raises(NotMapped, match="aws:s3/bucket:Bucket data: no API call is known for this type"):
        aws_requests(bucket)


def test_a_rule_without_a_peer_makes_no_call_and_is_an_error() -> None:
    """EC2 needs a block or a group to open a port to; a rule without either must not pass as an empty list of requests."""
    with pytest.raises(NotMapped, match="one of `cidrIpv4`, `referencedSecurityGroupId` is missing"):
        aws_requests(with_input(INGRESS, ("referencedSecurityGroupId",), None))


def test_what_is_no_resource_of_aws_makes_no_request() -> None:
    """Components, providers and Kubernetes objects never reach an API of AWS."""
    others = [item for item in record_stack(dev_configuration()) if not item.custom or not item.type.startswith("aws:")]
    assert {aws_requests(item) for item in others} == {()}


@pytest.mark.parametrize(
    ("value", "converted"),
    [("true", True), ("false", False), ("1", True), ("F", False), (True, True), ("yes", "yes"), ("", ""), (1, 1), (None, None)],
)
def test_text_becomes_a_boolean_as_the_provider_reads_it(value: Any, converted: Any) -> None:
    """Launch templates hold booleans as text; what the provider cannot read must stay text for the shapes to refuse."""
    assert boolean(value) is converted


@pytest.mark.parametrize(
    ("operation", "parameters", "error"),
    [
        (
            "ec2 CreateSubnet",
            {"VpcId": "v", "Cidr": "10.0.0.0/24"},
            "`Cidr` is no member of CreateSubnetRequest; did you mean `CidrBlock`?",
        ),
        ("ec2 CreateVpc", {"AmazonProvidedIpv6CidrBlock": 1}, "`AmazonProvidedIpv6CidrBlock` is `1`, allowed: boolean"),
        ("kms EnableKeyRotation", {"KeyId": "k", "RotationPeriodInDays": True}, "`RotationPeriodInDays` is `True`, allowed: integer"),
        ("kms EnableKeyRotation", {"KeyId": "k", "RotationPeriodInDays": 89}, "`RotationPeriodInDays` is `89`, allowed: 90 to 2560"),
        ("kms EnableKeyRotation", {}, "`KeyId` is missing"),
        ("kms CreateKey", {"Tags": {"a": "b"}}, "`Tags` is `{'a': 'b'}`, allowed: list"),
        ("kms CreateKey", {"Tags": ["a"]}, "`Tags[0]` is `'a'`, allowed: structure"),
        ("kms CreateKey", {"Tags": [{"TagKey": "a"}]}, "`Tags[0].TagValue` is missing"),
        ("logs CreateLogGroup", {"logGroupName": "l", "tags": {"a!": "v"}}, "`tags: key a!` is `a!`, allowed: text that matches "),
        ("logs CreateLogGroup", {"logGroupName": "l", "tags": {"k": 1}}, "`tags.k` is `1`, allowed: string"),
        ("iam CreateRole", {"RoleName": "Größe", "AssumeRolePolicyDocument": "{}"}, "`RoleName` is `Größe`, allowed: text that matches "),
    ],
)
def test_each_kind_of_limit_is_kept(operation: str, parameters: dict[str, Any], error: str) -> None:
    """Required and unknown members, types, ranges, lengths and patterns, however deep they stand."""
    service, name = operation.split()
    errors = shape_errors(Request(service, name, parameters))
    assert len(errors) == 1
    assert errors[0].startswith(f"{operation}: {error}")


@pytest.mark.parametrize("text", ["Größe", "1 TiB", "trn:cluster", "a_b"])
def test_patterns_of_java_mean_the_same_here(text: str) -> None:
    """FSx takes letters of all alphabets in a tag; read as ASCII its pattern would refuse what AWS accepts."""
    tags = [{"Key": text, "Value": text}]
    assert shape_errors(Request("fsx", "CreateFileSystem", {"FileSystemType": "LUSTRE", "SubnetIds": [], "Tags": tags})) == []


def test_characters_beyond_the_first_plane_are_one_character() -> None:
    """Auto Scaling's pattern spells them as pairs of surrogates, which Python's text does not have."""
    assert shape_errors(Request("autoscaling", "CreateOrUpdateTags", {"Tags": [{"Key": "team", "Value": "\U0001f680"}]})) == []


@pytest.mark.parametrize("member", DOCUMENTED_VALUES, ids="-".join)
def test_documented_values_stand_in_the_models_own_text(member: tuple[str, str, str]) -> None:
    """The table fills gaps of the shapes; a value that AWS's text does not list would be made up."""
    service, structure, name = member
    shape: Shape = service_model(service).shape_for(structure)
    member_shape = shape.members[name]
    words = set(re.findall(r"[\w.-]*\w", re.sub(r"<[^>]+>", " ", member_shape.documentation)))
    assert {str(value) for value in DOCUMENTED_VALUES[member]} <= words


def test_borrowed_enums_exist() -> None:
    """A borrowed list that the other service dropped would let every value pass."""
    shapes: list[Shape] = [service_model(service).shape_for(name) for service, name in BORROWED_ENUMS.values()]
    assert {bool(shape.enum) for shape in shapes} == {True}
