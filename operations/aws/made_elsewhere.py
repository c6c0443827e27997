"""Finds what a run made outside EC2 and EKS: roles, keys, log groups, file systems, queues, a metrics workspace."""

from collections.abc import Iterator, Mapping

from facts.names import CLUSTER_TAG
from operations.aws.account_wide import DESCRIBE_KEY, DESCRIBE_LOG_GROUPS, GET_RESOURCES, LIST_ATTACHED
from operations.aws.api import Api, Call, tags_of
from operations.aws.fsx import DESCRIBE_FILE_SYSTEMS
from operations.aws.identity import GET_ROLE
from operations.aws.sighting import Finder, Inputs, Sighting, described, filters, has, named, sighted
from operations.cluster.iam.scopes import EVENT_RULES, QUEUE, ROLES

GET_ROLE_POLICY = Call("iam", "GetRolePolicy", ROLES)
LIST_ALIASES = Call("kms", "ListAliases")
DESCRIBE_REPOSITORIES = Call("fsx", "DescribeDataRepositoryAssociations")
LIST_WORKSPACES = Call("amp", "ListWorkspaces")
GET_QUEUE_URL = Call("sqs", "GetQueueUrl", QUEUE)
GET_QUEUE_ATTRIBUTES = Call("sqs", "GetQueueAttributes", QUEUE)
DESCRIBE_RULE = Call("events", "DescribeRule", EVENT_RULES)
LIST_TARGETS = Call("events", "ListTargetsByRule", EVENT_RULES)


def _role(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    """The one that carries the cluster's tag: another one of that name is not ours."""
    if has(tags_of(described(api, GET_ROLE, RoleName=inputs["name"]).get("Role", {})), {CLUSTER_TAG: cluster}):
        yield from sighted(inputs["name"])


def _role_policy(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    role, name = inputs["role"], inputs["name"]
    if described(api, GET_ROLE_POLICY, RoleName=role, PolicyName=name):
        yield from sighted(f"{role}:{name}")


def _attachment(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    role, arn = inputs["role"], inputs["policyArn"]
    for policy in api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=role):
        if policy["PolicyArn"] == arn:
            yield from sighted(f"{role}/{arn}")


def _key(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    wanted = named(cluster, inputs)
    asked = [{"Key": key, "Values": [value]} for key, value in wanted.items()]
    for entry in api.pages(GET_RESOURCES, "ResourceTagMappingList", TagFilters=asked, ResourceTypeFilters=["kms:key"]):
        if has(tags_of(entry), wanted):
            key = api.call(DESCRIBE_KEY, KeyId=entry["ResourceARN"])["KeyMetadata"]
            yield from sighted(key["KeyId"], key["KeyState"])


def _alias(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    for entry in api.pages(LIST_ALIASES, "Aliases"):
        if entry["AliasName"] == inputs["name"]:
            yield from sighted(inputs["name"])


def _log_group(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    for entry in api.pages(DESCRIBE_LOG_GROUPS, "logGroups", logGroupNamePrefix=inputs["name"]):
        if entry["logGroupName"] == inputs["name"]:
            yield from sighted(inputs["name"])


def _file_system(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    wanted = named(cluster, inputs)
    for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems"):
        if has(tags_of(entry), wanted) and entry["SubnetIds"] == [inputs["subnetIds"]]:
            yield from sighted(entry["FileSystemId"], entry["Lifecycle"])


def _repository(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    place = (inputs["fileSystemId"], inputs["fileSystemPath"])
    for entry in api.pages(DESCRIBE_REPOSITORIES, "Associations", Filters=filters({"file-system-id": place[0]})):
        if (entry["FileSystemId"], entry["FileSystemPath"]) == place:
            yield from sighted(entry["AssociationId"], entry["Lifecycle"])


def _workspace(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    for entry in api.pages(LIST_WORKSPACES, "workspaces", alias=inputs["alias"]):
        if entry.get("alias") == inputs["alias"] and entry.get("tags", {}).get(CLUSTER_TAG) == cluster:
            yield from sighted(entry["workspaceId"], entry["status"]["statusCode"])


def _queue(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    url = described(api, GET_QUEUE_URL, QueueName=inputs["name"]).get("QueueUrl")
    if url:
        yield from sighted(url)


def _queue_policy(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    url = inputs["queueUrl"]
    if described(api, GET_QUEUE_ATTRIBUTES, QueueUrl=url, AttributeNames=["Policy"]).get("Attributes", {}).get("Policy"):
        yield from sighted(url)


def _rule(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    if described(api, DESCRIBE_RULE, Name=inputs["name"]):
        yield from sighted(inputs["name"])


def _target(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
    for entry in described(api, LIST_TARGETS, Rule=inputs["rule"]).get("Targets", ()):
        if entry["Id"] == inputs["targetId"]:
            yield from sighted(f"{inputs['rule']}/{inputs['targetId']}")


FINDERS: Mapping[str, Finder] = {
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _attachment,
    "aws:kms/key:Key": _key,
    "aws:kms/alias:Alias": _alias,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:fsx/lustreFileSystem:LustreFileSystem": _file_system,
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": _repository,
    "aws:amp/workspace:Workspace": _workspace,
    "aws:sqs/queue:Queue": _queue,
    "aws:sqs/queuePolicy:QueuePolicy": _queue_policy,
    "aws:cloudwatch/eventRule:EventRule": _rule,
    "aws:cloudwatch/eventTarget:EventTarget": _target,
}
