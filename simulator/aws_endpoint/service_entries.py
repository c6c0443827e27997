"""Objects outside EC2 and EKS as their services describe them: roles, keys, logs, file systems, queues, metrics, Batch."""

from collections.abc import Iterator, Mapping

from facts.resources import amp, autoscaling, batch, budgets, events, fsx, iam, kms, logs, scheduler, sns, sqs
from simulator.account.state import AccountState
from simulator.aws_endpoint.entries import Derive, Entry, Kind, chosen, made_id, tag_list, tags_of
from simulator.aws_endpoint.network_entries import vpc_of
from simulator.outputs import CREATED_AT
from simulator.recording import Registration


def _role(state: AccountState, item: Registration) -> Entry:
    path = item.inputs.get("path", "/")
    plain = {"Path": path, "RoleName": item.id, "RoleId": item.outputs.get("uniqueId", "AROAEXAMPLEEXAMPLE00")}
    return {**plain, "Arn": item.outputs["arn"], "CreateDate": CREATED_AT, "tags": tags_of(item)}


def _role_policy(state: AccountState, item: Registration) -> Entry:
    policy = item.inputs.get("policy", "{}")
    return {"RoleName": item.inputs["role"], "PolicyName": item.inputs["name"], "PolicyDocument": str(policy)}


def _attachment(state: AccountState, item: Registration) -> Entry:
    arn = str(item.inputs["policyArn"])
    return {"RoleName": item.inputs["role"], "PolicyName": arn.rsplit("/", 1)[-1], "PolicyArn": arn}


def _key(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, Description="description")
    return {"KeyId": item.id, **members, **chosen(item.outputs, Arn="arn"), "tags": tags_of(item)}


def _alias(state: AccountState, item: Registration) -> Entry:
    return {"AliasName": item.id, **chosen(item.outputs, AliasArn="arn"), **chosen(item.inputs, TargetKeyId="targetKeyId")}


def _log_group(state: AccountState, item: Registration) -> Entry:
    return {"logGroupName": item.id, "storedBytes": 0, **chosen(item.inputs, retentionInDays="retentionInDays"), "tags": tags_of(item)}


def log_groups_made_anew(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Log groups that a control plane wrote to after they had been deleted: without retention and without a tag."""
    for stray in state.strays.values():
        if stray.name.startswith("log group "):
            name = stray.name.removeprefix("log group ")
            yield name, {"logGroupName": name, "storedBytes": 0}


def _file_system(state: AccountState, item: Registration) -> Entry:
    inputs, outputs = item.inputs, item.outputs
    subnet_ids = [inputs["subnetIds"]] if isinstance(inputs["subnetIds"], str) else list(inputs["subnetIds"])
    lustre = chosen(inputs, DeploymentType="deploymentType", PerUnitStorageThroughput="perUnitStorageThroughput")
    return {
        "FileSystemId": item.id,
        "FileSystemType": "LUSTRE",
        **chosen(outputs, ResourceARN="arn", DNSName="dnsName", NetworkInterfaceIds="networkInterfaceIds"),
        **chosen(inputs, StorageCapacity="storageCapacity", StorageType="storageType", FileSystemTypeVersion="fileSystemTypeVersion"),
        "SubnetIds": subnet_ids,
        "VpcId": vpc_of(state, subnet_ids),
        "LustreConfiguration": {**lustre, **chosen(outputs, MountName="mountName")},
        "Tags": tag_list(tags_of(item)),
    }


def backups(state: AccountState, _region: str) -> Iterator[tuple[str, Entry]]:
    """Backups that file systems left, without a tag: `CopyTagsToBackups` is off unless asked for (FSx API)."""
    for stray in state.strays.values():
        if stray.name.startswith(("backup of ", "daily backups of ")):
            backup = made_id("backup", stray.name)
            kind = "AUTOMATIC" if stray.name.startswith("daily") else "USER_INITIATED"
            plain = {"BackupId": backup, "Lifecycle": "AVAILABLE", "Type": kind, "CreationTime": CREATED_AT}
            yield backup, {**plain, "FileSystem": {"FileSystemId": stray.what.split()[-1][:21]}, "Tags": []}


def _association(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, FileSystemId="fileSystemId", FileSystemPath="fileSystemPath", DataRepositoryPath="dataRepositoryPath")
    events = ((item.inputs.get("s3") or {}).get("autoExportPolicy") or {}).get("events")
    return {"AssociationId": item.id, **members, **({"S3": {"AutoExportPolicy": {"Events": list(events)}}} if events else {})}


def _workspace(state: AccountState, item: Registration) -> Entry:
    members = {"workspaceId": item.id, "createdAt": CREATED_AT, **chosen(item.outputs, arn="arn"), **chosen(item.inputs, alias="alias")}
    return {**members, "tags": tags_of(item)}


def _queue(state: AccountState, item: Registration) -> Entry:
    return {"QueueUrl": item.id, "QueueName": item.inputs["name"], "tags": tags_of(item)}


def _queue_policy(state: AccountState, item: Registration) -> Entry:
    return {"QueueUrl": item.id, "Policy": str(item.inputs["policy"])}


def _rule(state: AccountState, item: Registration) -> Entry:
    return {"Name": item.id, **chosen(item.outputs, Arn="arn", State="state"), "tags": tags_of(item)}


def _target(state: AccountState, item: Registration) -> Entry:
    return {"Rule": item.inputs["rule"], "Id": item.inputs["targetId"], "Arn": item.inputs["arn"]}


def _schedule_group(state: AccountState, item: Registration) -> Entry:
    return {"Name": item.id, "State": "ACTIVE", **chosen(item.outputs, Arn="arn"), "tags": tags_of(item)}


def _schedule(state: AccountState, item: Registration) -> Entry:
    target = chosen(item.inputs["target"], Arn="arn", RoleArn="roleArn", Input="input")
    members = chosen(
        item.inputs,
        Name="name",
        GroupName="groupName",
        ScheduleExpression="scheduleExpression",
        ScheduleExpressionTimezone="scheduleExpressionTimezone",
        Description="description",
    )
    return {**members, **chosen(item.outputs, Arn="arn", State="state"), "Target": target}


def _group_tag(state: AccountState, item: Registration) -> Entry:
    tag = item.inputs["tag"]
    given = chosen(tag, Key="key", Value="value", PropagateAtLaunch="propagateAtLaunch")
    return {"ResourceId": item.inputs["autoscalingGroupName"], "ResourceType": "auto-scaling-group", **given}


def _environment(state: AccountState, item: Registration) -> Entry:
    members = chosen(item.inputs, computeEnvironmentName="name", type="type", serviceRole="serviceRole")
    arn = chosen(item.outputs, computeEnvironmentArn="arn", ecsClusterArn="ecsClusterArn")
    return {**members, **arn, "state": item.inputs.get("state", "ENABLED"), "tags": tags_of(item)}


def _job_queue(state: AccountState, item: Registration) -> Entry:
    orders = [
        {"order": int(each["order"]), "computeEnvironment": each["computeEnvironment"]} for each in item.inputs["computeEnvironmentOrders"]
    ]
    members = {"jobQueueName": item.inputs["name"], "jobQueueArn": item.id, "priority": int(item.inputs["priority"])}
    return {**members, "computeEnvironmentOrder": orders, "state": item.inputs.get("state", "ENABLED"), "tags": tags_of(item)}


def _job_definition(state: AccountState, item: Registration) -> Entry:
    members = {"jobDefinitionName": item.inputs["name"], "jobDefinitionArn": item.id, "revision": int(item.outputs.get("revision", 1))}
    return {**members, "type": item.inputs["type"], "tags": tags_of(item)}


def _topic(state: AccountState, item: Registration) -> Entry:
    return {"ResourceARN": item.id, "TopicArn": item.id, "attributes": {}, "tags": tags_of(item)}


def _subscription(state: AccountState, item: Registration) -> Entry:
    members = {"SubscriptionArn": item.id, "TopicArn": item.inputs["topic"], "Protocol": item.inputs["protocol"]}
    return {**members, "Endpoint": item.inputs["endpoint"]}


def _budget(state: AccountState, item: Registration) -> Entry:
    inputs = item.inputs
    limit = {"Amount": str(inputs["limitAmount"]), "Unit": inputs["limitUnit"]}
    members = {"AccountId": item.outputs["accountId"], "BudgetName": inputs["name"], "BudgetLimit": limit}
    return {**members, **chosen(inputs, TimeUnit="timeUnit", BudgetType="budgetType"), "tags": tags_of(item)}


KINDS = (
    Kind("role", iam.ROLE, _role, hidden=("attached", "inline")),
    Kind("role policy", iam.ROLE_POLICY, _role_policy),
    Kind("role attachment", iam.ROLE_ATTACHMENT, _attachment),
    Kind("instance profile", iam.INSTANCE_PROFILE),
    Kind("key", kms.KEY, _key),
    Kind("alias", kms.ALIAS, _alias),
    Kind("log group", logs.LOG_GROUP, _log_group),
    Kind("fsx", fsx.FILE_SYSTEM, _file_system),
    Kind("backup", fsx.BACKUP),
    Kind("repository association", fsx.DATA_REPOSITORY, _association),
    Kind("workspace", amp.WORKSPACE, _workspace),
    Kind("sqs", sqs.QUEUE, _queue, hidden=("QueueName",)),
    Kind("sqs policy", sqs.QUEUE_POLICY, _queue_policy),
    Kind("topic", sns.TOPIC, _topic, hidden=("attributes",)),
    Kind("subscription", sns.SUBSCRIPTION, _subscription),
    Kind("schedule group", scheduler.GROUP, _schedule_group),
    Kind("schedule", scheduler.SCHEDULE, _schedule),
    Kind("budget", budgets.BUDGET, _budget, hidden=("AccountId",)),
    Kind("rule", events.RULE, _rule, hidden=("targets",)),
    Kind("event target", events.TARGET, _target),
    Kind("group tag", autoscaling.GROUP_TAG, _group_tag),
    Kind("environment", batch.COMPUTE_ENVIRONMENT, _environment),
    Kind("queue", batch.JOB_QUEUE, _job_queue),
    Kind("definition", batch.JOB_DEFINITION, _job_definition),
)
DERIVED: Mapping[str, tuple[Derive, ...]] = {"log group": (log_groups_made_anew,), "backup": (backups,)}
"""What services make of these kinds by themselves."""
