"""What lies outside the VPC and EKS: log groups, roles and keys."""

from collections.abc import Iterator

from facts.names import CLUSTER_TAG, control_plane_log_group, role_name
from operations.aws.api import Api, Call, Scope, tags_of
from operations.aws.found import Found, Kind, Place, deleter, per_day
from operations.cluster.iam.scopes import ROLES, TAGGED

_LOG_GROUPS = tuple(
    Scope(f"arn:{{partition}}:logs:{{region}}:*:log-group:{name}")
    for name in ("/aws/eks/{cluster}/cluster:*", "/aws/containerinsights/{cluster}/*")
)

DESCRIBE_LOG_GROUPS = Call("logs", "DescribeLogGroups")
DELETE_LOG_GROUP = Call("logs", "DeleteLogGroup", _LOG_GROUPS)
LIST_ROLES = Call("iam", "ListRoles")
LIST_ROLE_TAGS = Call("iam", "ListRoleTags", ROLES)
LIST_ATTACHED = Call("iam", "ListAttachedRolePolicies", ROLES)
LIST_INLINE = Call("iam", "ListRolePolicies", ROLES)
DETACH_POLICY = Call("iam", "DetachRolePolicy", ROLES)
DELETE_INLINE = Call("iam", "DeleteRolePolicy", ROLES)
DELETE_ROLE = Call("iam", "DeleteRole", ROLES)
GET_RESOURCES = Call("resourcegroupstaggingapi", "GetResources")
DESCRIBE_KEY = Call("kms", "DescribeKey", TAGGED)
SCHEDULE_KEY_DELETION = Call("kms", "ScheduleKeyDeletion", TAGGED)

INSIGHTS = ("application", "dataplane", "host", "performance", "prometheus")
"""Log groups that Container Insights makes below the cluster's name (CloudWatch user guide, Container Insights)."""
KEY_WINDOW_DAYS = 7


def log_group_names(cluster: str) -> tuple[str, ...]:
    """Log groups that EKS and Container Insights write to, by their exact names: those they make themselves carry no tag."""
    return (control_plane_log_group(cluster), *(f"/aws/containerinsights/{cluster}/{part}" for part in INSIGHTS))


def _log_groups(api: Api, place: Place) -> Iterator[Found]:
    for name in log_group_names(place.cluster):
        # The prefix only shortens the answer; the whole name decides.
        for entry in api.pages(DESCRIBE_LOG_GROUPS, "logGroups", logGroupNamePrefix=name):
            if entry["logGroupName"] == name:
                yield Found("log group", name, f"named {name}", usd_per_day=per_day("log storage", entry.get("storedBytes", 0) / 1e9))


def _roles(api: Api, place: Place) -> Iterator[Found]:
    """Roles are the account's, not the region's: the name must be this region's, and the tag the cluster's."""
    start = role_name(place.cluster, api.region, "")
    for entry in api.pages(LIST_ROLES, "Roles"):
        if entry["RoleName"].startswith(start):
            tags = {tag["Key"]: tag["Value"] for tag in api.pages(LIST_ROLE_TAGS, "Tags", RoleName=entry["RoleName"])}
            if tags.get(CLUSTER_TAG) == place.cluster:
                yield Found("role", entry["RoleName"], f"{CLUSTER_TAG}={place.cluster}", tags=tags)


def _keys(api: Api, place: Place) -> Iterator[Found]:
    """Keys that still bill; those that wait for their deletion do not."""
    filters = [{"Key": CLUSTER_TAG, "Values": [place.cluster]}]
    for entry in api.pages(GET_RESOURCES, "ResourceTagMappingList", TagFilters=filters, ResourceTypeFilters=["kms:key"]):
        tags, arn = tags_of(entry), entry["ResourceARN"]
        because = place.reason(tags)
        if because:
            key = api.call(DESCRIBE_KEY, KeyId=arn)["KeyMetadata"]
            if key["KeyState"] != "PendingDeletion":
                yield Found("KMS key", key["KeyId"], because, key.get("Description", ""), per_day("KMS key"), tags=tags)


def _delete_role(api: Api, found: Found) -> None:
    for policy in list(api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=found.id)):
        api.call(DETACH_POLICY, RoleName=found.id, PolicyArn=policy["PolicyArn"])
    for name in list(api.pages(LIST_INLINE, "PolicyNames", RoleName=found.id)):
        api.call(DELETE_INLINE, RoleName=found.id, PolicyName=name)
    api.call(DELETE_ROLE, RoleName=found.id)


def _delete_key(api: Api, found: Found) -> None:
    api.call(SCHEDULE_KEY_DELETION, KeyId=found.id, PendingWindowInDays=KEY_WINDOW_DAYS)


LOG_GROUPS = Kind("log group", _log_groups, deleter(DELETE_LOG_GROUP, "logGroupName"))
IAM_ROLES = Kind("role", _roles, _delete_role)
KMS_KEYS = Kind("KMS key", _keys, _delete_key)
