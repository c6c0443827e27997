"""The calls that bringing up, changing and deleting a recorded stack takes, as IAM judges them: action, resource and context.

Nothing here reads what the documents grant: `trn check` asks IAM about these calls, and the tests ask the documents.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from facts.regions import partition
from facts.resources.authorization import (
    EC2_KINDS,
    GRANT_FOR_SERVICE,
    IN_CALLERS_NAME,
    ON_CLUSTER,
    ON_NOTHING,
    PASSED_ROLES,
    judged_by_ec2,
)
from facts.resources.queries import Deletion, Lookup, Tagging
from facts.resources.resource_type import ResourceType
from facts.resources.rights import action_name
from facts.resources.table import TYPES
from simulator.aws_requests import aws_requests
from simulator.recording import Recording, Registration
from trn.aws.api import IAM_PREFIXES

Context = Mapping[str, str]


@dataclass(frozen=True)
class Asked:
    """One call on one of the resources that it is judged on. A call is allowed where all of its are."""

    action: str
    resource: str
    """ARN; `*` where IAM knows none."""
    context: tuple[tuple[str, str], ...] = ()
    """Condition keys that IAM finds in the call, with their values, sorted."""


@dataclass(frozen=True)
class _Stack:
    cluster: str
    region: str
    account: str
    by_id: Mapping[str, Registration]

    def arn(self, service: str, resource: str, *, regional: bool = True) -> str:
        return f"arn:{partition(self.region)}:{service}:{self.region if regional else ''}:{self.account}:{resource}"


def calls(recording: Recording, cluster: str, region: str, account: str) -> list[Asked]:
    """Every call, each once, in an order that never changes. `account`: of the recording's ARNs."""
    resources = [item for item in recording.resources() if item.type.startswith("aws:")]
    stack = _Stack(cluster, region, account, {item.id: item for item in resources if item.id})
    found = {one for item in resources for one in _of(item, stack)}
    return sorted(found, key=lambda one: (one.action, one.resource, one.context))


def _of(item: Registration, stack: _Stack) -> Iterator[Asked]:
    entry = TYPES[item.type]
    first, *later = aws_requests(item)
    yield from _creation(item, entry, first.service, first.operation, stack)
    # The first calls after CreateKey: KMS judges by tags that are up to five minutes old (KMS developer guide, ABAC).
    fresh = item.type == "aws:kms/key:Key"
    for request in later:
        yield from _upon(item, request.service, request.operation, stack, tagged=not fresh)
    for service, operation in _afterwards(entry, first.service):
        yield from _upon(item, service, operation, stack, tagged=True)
        if fresh and operation.startswith(("Describe", "Get", "List")):
            yield from _upon(item, service, operation, stack, tagged=False)
    if isinstance(entry.tagging, Tagging):
        yield from _upon(item, entry.tagging.service, entry.tagging.tag, stack, tagged=True, request=_tags(item))
    if item.type in PASSED_ROLES:
        key, service = PASSED_ROLES[item.type]
        yield _asked("iam:PassRole", item.inputs[key], {"iam:PassedToService": service})


def _afterwards(entry: ResourceType, service: str) -> Iterator[tuple[str, str]]:
    """Reading, changing and deleting what is there: service and operation."""
    yield from ((service, name) for name in entry.changes.calls)
    if isinstance(entry.lookup, Lookup):
        yield entry.lookup.query.service, entry.lookup.query.operation
        if entry.lookup.detail:
            yield entry.lookup.detail.query.service, entry.lookup.detail.query.operation
    if isinstance(entry.tagging, Tagging):
        names = (entry.tagging.untag, entry.tagging.read)
        yield from ((entry.tagging.service, name) for name in names if name)
    if isinstance(entry.deletion, Deletion):
        # The steps before it are a sweep's own: in a destroy the parts are resources themselves.
        yield entry.deletion.service, entry.deletion.operation


def _creation(item: Registration, entry: ResourceType, service: str, operation: str, stack: _Stack) -> Iterator[Asked]:
    """The call that makes it, what that call does in its caller's name, and putting the tags on it in the same call."""
    action, region = _action(service, operation), {"aws:RequestedRegion": stack.region}
    tags = _tags(item)
    if service == "ec2":
        if not judged_by_ec2(operation):
            yield from (_asked(action, arn, {**region, **_request(tags)}) for arn in _arns(item, stack))
        yield from _by_ec2(item, operation, stack, tags)
        if tags:
            context = {**region, **_request(tags), "ec2:CreateAction": operation}
            yield _asked("ec2:CreateTags", _arns(item, stack)[0], context)
        return
    if action == "kms:CreateAlias":
        # On the alias and on its key, whose tags KMS does not know yet.
        yield from (_asked(action, arn, region) for arn in (item.outputs["arn"], item.outputs["targetKeyArn"]))
        return
    of_group = _of_group(item, stack) if service == "autoscaling" else {}
    yield from (_asked(action, arn, {**region, **_request(tags), **of_group}) for arn in _judged_on(action, item, stack))
    if isinstance(entry.tagging, Tagging):
        tag = _action(entry.tagging.service, entry.tagging.tag)
        yield from (_asked(tag, arn, {**region, **_request(tags)}) for arn in _arns(item, stack))
    for other in IN_CALLERS_NAME.get(action, ()):
        _, key, value = GRANT_FOR_SERVICE
        config = item.inputs.get("encryptionConfig")
        if config:
            yield _asked(other, config["provider"]["keyArn"], {**region, **({key: value} if other == "kms:CreateGrant" else {})})


def _upon(
    item: Registration, service: str, operation: str, stack: _Stack, *, tagged: bool, request: Context | None = None
) -> Iterator[Asked]:
    """A call on what is there. `tagged`: whether IAM knows its tags."""
    action = _action(service, operation)
    if service == "ec2" and judged_by_ec2(operation):
        yield from _by_ec2(item, operation, stack, {})
        return
    own = _tags(item) if tagged else {}
    context = {"aws:RequestedRegion": stack.region, **_own(own), **_request(request or {})}
    if service == "autoscaling":
        context |= _of_group(item, stack)
    if item.type == "aws:kms/alias:Alias" and operation != "ListAliases":
        key = stack.by_id.get(item.inputs["targetKeyId"])
        yield _asked(action, item.outputs["arn"], context)
        yield _asked(action, item.outputs["targetKeyArn"], {**context, **_own(_tags(key) if key else {})})
        return
    yield from (_asked(action, arn, context) for arn in _judged_on(action, item, stack))


def _by_ec2(item: Registration, operation: str, stack: _Stack, tags: Context) -> Iterator[Asked]:
    """EC2 shows the tags of the request only to what is made, and those of a resource only to itself."""
    action, region = f"ec2:{operation}", {"aws:RequestedRegion": stack.region}
    for judged in judged_by_ec2(operation):
        if judged.made:
            yield _asked(action, _arns(item, stack)[0], {**region, **_request(tags)})
            continue
        for named in _named(item, judged.kind, stack):
            yield _asked(action, _arns(named, stack)[0], {**region, **_own(_tags(named))})


def _named(item: Registration, kind: str, stack: _Stack) -> Iterator[Registration]:
    """Resources of a kind that a resource is, or names in its inputs. The peer of a rule is not judged."""
    found = [value for key, value in item.inputs.items() if key != "referencedSecurityGroupId"]
    ids = [one for value in (item.id, *found) for one in (value if isinstance(value, list) else [value])]
    for one in ids:
        if isinstance(one, str) and one in stack.by_id and EC2_KINDS.get(one.rsplit("-", 1)[0]) == kind:
            yield stack.by_id[one]


def _judged_on(action: str, item: Registration, stack: _Stack) -> list[str]:
    if action in ON_NOTHING:
        return ["*"]
    return [stack.arn("eks", f"cluster/{stack.cluster}")] if action in ON_CLUSTER else _arns(item, stack)


def _arns(item: Registration, stack: _Stack) -> list[str]:
    """The resource as IAM names it; several where all of them are judged."""
    inputs, outputs = item.inputs, item.outputs
    match item.type.split(":")[1].split("/")[-1]:
        case "rolePolicy" | "rolePolicyAttachment":
            return [stack.by_id[inputs["role"]].outputs["arn"]]
        case "queuePolicy":
            return [stack.arn("sqs", inputs["queueUrl"].rsplit("/")[-1])]
        case "topicSubscription":
            return [inputs["topic"]]
        case "eventTarget":
            return [stack.arn("events", f"rule/{inputs['rule']}")]
        case "logGroup":
            return [outputs["arn"], f"{outputs['arn']}:*"]
        case "accessPolicyAssociation":
            return [stack.arn("eks", f"access-entry/{stack.cluster}/role/{stack.account}/team/1a2b")]
        case "tag" if "resourceId" in inputs:
            return [stack.arn("ec2", f"{EC2_KINDS[inputs['resourceId'].rsplit('-', 1)[0]]}/{inputs['resourceId']}")]
        case "tag":
            return [stack.arn("autoscaling", f"autoScalingGroup:any:autoScalingGroupName/{inputs['autoscalingGroupName']}")]
    known = next((outputs[key] for key in ("arn", "accessEntryArn", "associationArn") if outputs.get(key)), None)
    prefix = (item.id or "").rsplit("-", 1)[0]
    return [known or stack.arn("ec2", f"{EC2_KINDS.get(prefix, 'any')}/{item.id}")]


def _tags(item: Registration) -> Context:
    """Its tags, the provider's and its own; none where the type takes none."""
    return item.outputs.get("tagsAll") or {}


def _of_group(item: Registration, stack: _Stack) -> Context:
    """EKS marks the Auto Scaling groups that it makes (EKS user guide, managed node groups)."""
    return {"aws:ResourceTag/eks:cluster-name": stack.cluster} if "autoscalingGroupName" in item.inputs else {}


def _action(service: str, operation: str) -> str:
    return f"{IAM_PREFIXES.get(service, service)}:{action_name(service, operation)}"


def _request(tags: Context) -> dict[str, str]:
    return {f"aws:RequestTag/{key}": value for key, value in tags.items()}


def _own(tags: Context) -> dict[str, str]:
    return {f"aws:ResourceTag/{key}": value for key, value in tags.items()}


def _asked(action: str, resource: Any, context: Context) -> Asked:
    return Asked(action, resource, tuple(sorted(context.items())))


def alike(asked: Iterable[Asked]) -> list[Asked]:
    """One of all that differ in nothing but the id that AWS will give: IAM answers the same for each of them."""
    kept: dict[tuple[str, str, tuple[tuple[str, str], ...]], Asked] = {}
    for one in asked:
        service = one.resource.split(":")[2] if one.resource != "*" else ""
        kind = one.resource.rsplit("/", 1)[0] if service in ("ec2", "kms", "fsx", "aps") and "/alias/" not in one.resource else one.resource
        kept.setdefault((one.action, kind, tuple(pair for pair in one.context if not pair[0].endswith("Tag/Name"))), one)
    return list(kept.values())
