"""An account in memory: EC2, EKS, ELB, FSx, IAM, KMS and Logs as far as sweep meets them, behind the wire's shape checks.

It refuses what AWS refuses: a subnet with an interface in it, a group that another one names, a gateway in use. Things that
take time stay for a few looks. `ignores_filters` makes every list answer with everything, so that only the code's own judgement
stands between a sweep and other people's things.
"""

from collections.abc import Callable, Iterator
from typing import Any

from operations.aws.api import BotoApi
from tests.operations.aws.wire import Refused, Wire

Entry = dict[str, Any]
ACCOUNT = "111122223333"

# Operation, key of the list, key of the id, operation that deletes, its parameter.
_EC2 = {
    "vpc": ("DescribeVpcs", "Vpcs", "VpcId", "DeleteVpc", "VpcId"),
    "subnet": ("DescribeSubnets", "Subnets", "SubnetId", "DeleteSubnet", "SubnetId"),
    "route table": ("DescribeRouteTables", "RouteTables", "RouteTableId", "DeleteRouteTable", "RouteTableId"),
    "internet gateway": (
        "DescribeInternetGateways",
        "InternetGateways",
        "InternetGatewayId",
        "DeleteInternetGateway",
        "InternetGatewayId",
    ),
    "nat": ("DescribeNatGateways", "NatGateways", "NatGatewayId", "DeleteNatGateway", "NatGatewayId"),
    "address": ("DescribeAddresses", "Addresses", "AllocationId", "ReleaseAddress", "AllocationId"),
    "interface": (
        "DescribeNetworkInterfaces",
        "NetworkInterfaces",
        "NetworkInterfaceId",
        "DeleteNetworkInterface",
        "NetworkInterfaceId",
    ),
    "group": ("DescribeSecurityGroups", "SecurityGroups", "GroupId", "DeleteSecurityGroup", "GroupId"),
    "volume": ("DescribeVolumes", "Volumes", "VolumeId", "DeleteVolume", "VolumeId"),
    "template": ("DescribeLaunchTemplates", "LaunchTemplates", "LaunchTemplateId", "DeleteLaunchTemplate", "LaunchTemplateId"),
    "placement group": ("DescribePlacementGroups", "PlacementGroups", "GroupName", "DeletePlacementGroup", "GroupName"),
}
_NOT_FOUND = {
    "vpc": "InvalidVpcID.NotFound",
    "subnet": "InvalidSubnetID.NotFound",
    "nat": "NatGatewayNotFound",
    "interface": "InvalidNetworkInterfaceID.NotFound",
    "group": "InvalidGroup.NotFound",
    "volume": "InvalidVolume.NotFound",
}
_SLOW = {
    "queue": "DELETING",
    "environment": "DELETING",
    "nat": "deleting",
    "instance": "shutting-down",
    "fsx": "DELETING",
    "cluster": "DELETING",
    "node group": "DELETING",
}
"""What takes time, and the state it shows meanwhile."""


def tag_list(tags: dict[str, str]) -> list[Entry]:
    """Tags as EC2 spells them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


class Cloud:
    """One account in one region."""

    def __init__(self, *, lag: int = 1, ignores_filters: bool = False) -> None:
        """`lag`: looks for which a thing that was deleted can still be seen."""
        self.things: dict[str, dict[str, Entry]] = {}
        self.tags: dict[str, dict[str, str]] = {}
        """Of load balancers and target groups, which do not carry theirs in their own lists."""
        self.lag, self.ignores_filters = lag, ignores_filters
        self._going: dict[tuple[str, str], int] = {}
        self.wire = Wire(dict(self._handlers()))
        self.api = BotoApi("us-west-2", self.wire.session())

    def put(self, kind: str, which: str, entry: Entry) -> None:
        """One more thing."""
        self.things.setdefault(kind, {})[which] = entry

    def of(self, kind: str) -> dict[str, Entry]:
        """Everything of a kind."""
        return self.things.setdefault(kind, {})

    def ids(self) -> set[str]:
        """Ids of all there is."""
        return {which for things in self.things.values() for which in things}

    def _handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        for kind, (describe, key, _, delete, parameter) in _EC2.items():
            yield f"ec2.{describe}", self._lister(kind, key)
            yield f"ec2.{delete}", self._deleter(kind, parameter)
        yield "ec2.DescribeInstances", self._instances
        yield "ec2.TerminateInstances", lambda given: self._delete("instance", given["InstanceIds"][0])
        yield "ec2.DescribeVpcEndpoints", self._lister("endpoint", "VpcEndpoints")
        yield "ec2.DeleteVpcEndpoints", self._delete_endpoints
        yield "ec2.RevokeSecurityGroupIngress", self._revoke("IpPermissions")
        yield "ec2.RevokeSecurityGroupEgress", self._revoke("IpPermissionsEgress")
        yield "ec2.DetachInternetGateway", self._detach
        yield "ec2.DisassociateRouteTable", self._disassociate
        yield from self._balancer_handlers()
        yield from self._eks_handlers()
        yield from self._other_handlers()
        yield from self._batch_handlers()
        yield from self._messaging_handlers()

    def _balancer_handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        for kind, key, parameter in (("lb", "LoadBalancer", "LoadBalancerArn"), ("target group", "TargetGroup", "TargetGroupArn")):
            yield f"elbv2.Describe{key}s", self._lister(kind, f"{key}s")
            yield f"elbv2.Delete{key}", self._deleter(kind, parameter)
        yield "elbv2.DescribeTags", lambda given: {"TagDescriptions": [self._tags(arn) for arn in given["ResourceArns"]]}
        yield "elb.DescribeLoadBalancers", self._lister("classic", "LoadBalancerDescriptions")
        yield "elb.DeleteLoadBalancer", self._deleter("classic", "LoadBalancerName")
        yield "elb.DescribeTags", self._classic_tags

    def _eks_handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        yield "eks.DescribeCluster", lambda given: {"cluster": self._one("cluster", given["name"], "ResourceNotFoundException")}
        yield "eks.DeleteCluster", self._deleter("cluster", "name")
        yield "eks.ListNodegroups", lambda given: {"nodegroups": sorted(self._looked("node group"))}
        yield "eks.DescribeNodegroup", lambda given: {"nodegroup": self.of("node group")[given["nodegroupName"]]}
        yield "eks.DeleteNodegroup", self._deleter("node group", "nodegroupName")
        yield "eks.ListAccessEntries", lambda given: {"accessEntries": sorted(self.of("access entry"))}
        yield "eks.DescribeAccessEntry", lambda given: {"accessEntry": self.of("access entry")[given["principalArn"]]}
        yield "eks.DeleteAccessEntry", self._deleter("access entry", "principalArn")

    def _other_handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        yield "fsx.DescribeFileSystems", self._lister("fsx", "FileSystems")
        yield "fsx.DeleteFileSystem", self._deleter("fsx", "FileSystemId")
        yield "fsx.DescribeBackups", self._lister("backup", "Backups")
        yield "fsx.DeleteBackup", self._deleter("backup", "BackupId")
        yield "logs.DescribeLogGroups", self._log_groups
        yield "logs.DeleteLogGroup", self._deleter("log group", "logGroupName")
        yield "iam.ListRoles", lambda given: {"Roles": [_role(name) for name in self.of("role")]}
        yield "iam.ListRoleTags", lambda given: {"Tags": tag_list(self.of("role")[given["RoleName"]]["tags"])}
        yield "iam.ListAttachedRolePolicies", self._attached
        yield "iam.ListRolePolicies", lambda given: {"PolicyNames": list(self.of("role")[given["RoleName"]]["inline"])}
        yield "iam.DetachRolePolicy", lambda given: self.of("role")[given["RoleName"]]["attached"].remove(given["PolicyArn"]) or {}
        yield "iam.DeleteRolePolicy", lambda given: self.of("role")[given["RoleName"]]["inline"].remove(given["PolicyName"]) or {}
        yield "iam.DeleteRole", self._deleter("role", "RoleName")
        yield "resourcegroupstaggingapi.GetResources", self._tagged_keys
        yield "kms.DescribeKey", lambda given: {"KeyMetadata": _key(given["KeyId"].rsplit("/", 1)[-1], self.of("key"))}
        yield "kms.ScheduleKeyDeletion", lambda given: self.of("key")[given["KeyId"]].update(state="PendingDeletion") or {}

    def _messaging_handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        yield "sqs.ListQueues", self._queues
        yield "sqs.ListQueueTags", lambda given: {"Tags": self.of("sqs")[given["QueueUrl"]]["tags"]}
        yield "sqs.DeleteQueue", self._deleter("sqs", "QueueUrl")
        yield "events.ListRules", self._rules
        yield "events.ListTagsForResource", lambda given: {"Tags": tag_list(self.of("rule")[given["ResourceARN"].rsplit("/")[-1]]["tags"])}
        yield "events.ListTargetsByRule", lambda given: {"Targets": list(self.of("rule")[given["Rule"]]["targets"])}
        yield "events.RemoveTargets", self._remove_targets
        yield "events.DeleteRule", self._deleter("rule", "Name")
        yield "amp.ListWorkspaces", self._lister("workspace", "workspaces")
        yield "amp.DeleteWorkspace", self._deleter("workspace", "workspaceId")

    def _queues(self, given: Entry) -> Entry:
        found = [url for url in self.of("sqs") if self.ignores_filters or url.rsplit("/")[-1].startswith(given.get("QueueNamePrefix", ""))]
        return {"QueueUrls": found}

    def _rules(self, given: Entry) -> Entry:
        found = [rule for name, rule in self.of("rule").items() if self.ignores_filters or name.startswith(given.get("NamePrefix", ""))]
        return {"Rules": [{"Name": rule["Name"], "Arn": rule["Arn"]} for rule in found]}

    def _remove_targets(self, given: Entry) -> Entry:
        rule = self.of("rule")[given["Rule"]]
        rule["targets"] = [target for target in rule["targets"] if target["Id"] not in given["Ids"]]
        return {"FailedEntryCount": 0}

    def _batch_handlers(self) -> Iterator[tuple[str, Callable[[Entry], Entry]]]:
        for kind, name, parameter in (("queue", "JobQueue", "jobQueue"), ("environment", "ComputeEnvironment", "computeEnvironment")):
            yield f"batch.Describe{name}s", self._lister(kind, f"{parameter}s")
            yield f"batch.Update{name}", self._disabler(kind, parameter)
            yield f"batch.Delete{name}", self._deleter(kind, parameter)
        yield "batch.DescribeJobDefinitions", self._lister("definition", "jobDefinitions")
        yield "batch.DeregisterJobDefinition", self._deleter("definition", "jobDefinition")

    def _disabler(self, kind: str, parameter: str) -> Callable[[Entry], Entry]:
        def answer(given: Entry) -> Entry:
            assert given["state"] == "DISABLED"
            self.of(kind)[given[parameter]]["state"] = "DISABLED"
            return {}

        return answer

    # Lists

    def _lister(self, kind: str, key: str) -> Callable[[Entry], Entry]:
        def answer(given: Entry) -> Entry:
            filters = given.get("Filters") or given.get("Filter") or []
            return {key: [entry for entry in self._looked(kind).values() if self._passes(entry, filters)]}

        return answer

    def _looked(self, kind: str) -> dict[str, Entry]:
        """Everything of a kind; what is going is one look nearer to its end."""
        for which in list(self.of(kind)):
            if (kind, which) in self._going:
                self._going[kind, which] -= 1
                if self._going[kind, which] < 0:
                    del self.of(kind)[which], self._going[kind, which]
        return self.of(kind)

    def _passes(self, entry: Entry, filters: list[Entry]) -> bool:
        return self.ignores_filters or all(_matches(entry, item["Name"], item["Values"]) for item in filters)

    def _instances(self, given: Entry) -> Entry:
        found = [entry for entry in self._looked("instance").values() if self._passes(entry, given.get("Filters", []))]
        return {"Reservations": [{"Instances": [entry]} for entry in found]}

    def _log_groups(self, given: Entry) -> Entry:
        return {"logGroups": [e for name, e in self.of("log group").items() if name.startswith(given["logGroupNamePrefix"])]}

    def _attached(self, given: Entry) -> Entry:
        return {"AttachedPolicies": [{"PolicyArn": arn} for arn in self.of("role")[given["RoleName"]]["attached"]]}

    def _tags(self, arn: str) -> Entry:
        entry = self.of("lb").get(arn) or self.of("target group").get(arn) or {}
        return {"ResourceArn": arn, "Tags": tag_list(self.tags.get(arn, {}))} if entry else {"ResourceArn": arn, "Tags": []}

    def _classic_tags(self, given: Entry) -> Entry:
        names = given["LoadBalancerNames"]
        return {"TagDescriptions": [{"LoadBalancerName": name, "Tags": tag_list(self.tags.get(name, {}))} for name in names]}

    def _tagged_keys(self, given: Entry) -> Entry:
        wanted = given["TagFilters"][0]
        entries = [
            {"ResourceARN": f"arn:aws:kms:us-west-2:{ACCOUNT}:key/{which}", "Tags": tag_list(key["tags"])}
            for which, key in self.of("key").items()
            if self.ignores_filters or key["tags"].get(wanted["Key"]) in wanted["Values"]
        ]
        return {"ResourceTagMappingList": entries}

    def _one(self, kind: str, which: str, code: str) -> Entry:
        if which not in self._looked(kind):
            raise Refused(code, f"No {kind} found for name: {which}.", 404)
        return self.of(kind)[which]

    # Deletions

    def _deleter(self, kind: str, parameter: str) -> Callable[[Entry], Entry]:
        def answer(given: Entry) -> Entry:
            return self._delete(kind, given[parameter])

        return answer

    def _delete(self, kind: str, which: str) -> Entry:
        if which not in self.of(kind):
            raise Refused(_NOT_FOUND.get(kind, "ResourceNotFoundException"), f"{which} does not exist")
        for code, holder in self._holders(kind, which):
            raise Refused(code, f"{which} is held by {holder}")
        if kind in _SLOW:
            entry, state = self.of(kind)[which], _SLOW[kind]
            field = {
                "nat": "State",
                "fsx": "Lifecycle",
                "cluster": "status",
                "node group": "status",
                "queue": "status",
                "environment": "status",
            }.get(kind)
            entry.update({field: state} if field else {"State": {"Name": state}})
            self._going.setdefault((kind, which), self.lag)
        else:
            del self.of(kind)[which]
        if kind == "lb":
            self.of("interface").pop(f"eni-of-{which}", None)
        return {}

    def _holders(self, kind: str, which: str) -> Iterator[tuple[str, str]]:
        """What must go first, with the code that AWS answers."""
        for other_kind, key in _HELD_BY.get(kind, ()):
            for other, entry in self.of(other_kind).items():
                goes_along = entry.get("GroupName") == "default" or any(item.get("Main") for item in entry.get("Associations", ()))
                if (other_kind, other) != (kind, which) and not goes_along and which in str(entry.get(key, "")):
                    yield _HOLD_CODES.get(kind, "DependencyViolation"), other
        if kind == "role" and (self.of("role")[which]["attached"] or self.of("role")[which]["inline"]):
            yield "DeleteConflict", "policies"
        if kind in ("queue", "environment") and self.of(kind)[which]["state"] == "ENABLED":
            yield "ClientException", "its state"
        if kind == "rule" and self.of("rule")[which]["targets"]:
            yield "ValidationException", "targets"
        if kind == "cluster" and self.of("node group"):
            yield "ResourceInUseException", "node groups"

    def _delete_endpoints(self, given: Entry) -> Entry:
        which = given["VpcEndpointIds"][0]
        if which not in self.of("endpoint"):
            return {"Unsuccessful": [{"ResourceId": which, "Error": {"Code": "InvalidVpcEndpointId.NotFound", "Message": "gone"}}]}
        del self.of("endpoint")[which]
        return {"Unsuccessful": []}

    def _revoke(self, key: str) -> Callable[[Entry], Entry]:
        def answer(given: Entry) -> Entry:
            entry = self.of("group")[given["GroupId"]]
            entry[key] = [rule for rule in entry[key] if rule not in given["IpPermissions"]]
            return {"Return": True}

        return answer

    def _detach(self, given: Entry) -> Entry:
        if any(entry["VpcId"] == given["VpcId"] for entry in self.of("nat").values()):
            raise Refused("DependencyViolation", "the VPC has mapped public addresses")
        self.of("internet gateway")[given["InternetGatewayId"]]["Attachments"] = []
        return {}

    def _disassociate(self, given: Entry) -> Entry:
        for entry in self.of("route table").values():
            entry["Associations"] = [item for item in entry["Associations"] if item["RouteTableAssociationId"] != given["AssociationId"]]
        return {}


_HELD_BY: dict[str, tuple[tuple[str, str], ...]] = {
    "vpc": (
        ("subnet", "VpcId"),
        ("group", "VpcId"),
        ("route table", "VpcId"),
        ("internet gateway", "Attachments"),
        ("endpoint", "VpcId"),
        ("instance", "VpcId"),
        ("lb", "VpcId"),
    ),
    "subnet": (("interface", "SubnetId"), ("nat", "SubnetId"), ("instance", "SubnetId"), ("endpoint", "SubnetIds")),
    "group": (("interface", "Groups"), ("instance", "SecurityGroups"), ("group", "IpPermissions"), ("endpoint", "Groups")),
    "address": (("nat", "NatGatewayAddresses"),),
    "placement group": (("instance", "Placement"),),
    "environment": (("queue", "computeEnvironmentOrder"),),
}
_HOLD_CODES = {"environment": "ClientException", "address": "InvalidIPAddress.InUse", "placement group": "InvalidPlacementGroup.InUse"}


def _matches(entry: Entry, name: str, values: list[str]) -> bool:
    tags = {tag["Key"] for tag in entry.get("Tags") or entry.get("TagSet") or []}
    if name == "tag-key":
        return bool(tags & set(values))
    if name.startswith("tag:"):
        return any(tag["Key"] == name.removeprefix("tag:") and tag["Value"] in values for tag in entry.get("Tags", []))
    if name in ("vpc-id", "attachment.vpc-id"):
        return any(vpc_id in values for vpc_id in (entry.get("VpcId"), *(item["VpcId"] for item in entry.get("Attachments", []))))
    if name == "instance-state-name":
        return entry["State"]["Name"] in values
    if name in ("status", "state"):
        return (entry.get("Status") or entry.get("State")) in values
    raise AssertionError(f"the fake knows no filter {name}")


def _role(name: str) -> Entry:
    return {
        "Path": "/", "RoleName": name, "RoleId": "AROAEXAMPLEEXAMPLE00", "Arn": f"arn:aws:iam::{ACCOUNT}:role/{name}",
        "CreateDate": "2026-11-01T00:00:00Z",
    }  # fmt: skip


def _key(which: str, keys: dict[str, Entry]) -> Entry:
    return {"KeyId": which, "KeyState": keys[which]["state"], "Description": "secrets"}
