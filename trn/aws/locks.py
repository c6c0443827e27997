"""A lock in the account, of a cluster or of a part: a launch template that launches nothing, under a name that one template can have.

EC2 makes it or refuses the name, and deletes it by its id (EC2 API, CreateLaunchTemplate, DeleteLaunchTemplate): whoever deletes names the
very lock that was made or shown, and never one that was taken since. A template bills nothing (EC2 user guide, launch templates).
Release 0.1.0 kept a parameter of Systems Manager, which can be deleted by its name alone (SSM API, DeleteParameter).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from botocore.exceptions import ClientError

from facts.names import LOCK_TAG, lock_parameter
from facts.resources.rights import Scope
from trn.aws.api import Api, Call, Taken, tags_of
from trn.aws.errors import NOT_FOUND, code_of

_TEMPLATES, _EQUAL = "arn:{partition}:ec2:{region}:*:launch-template/*", "StringEquals"
_ASKED = (_EQUAL, f"aws:RequestTag/{LOCK_TAG}", "{cluster}")
CREATE = Call("ec2", "CreateLaunchTemplate", (Scope(_TEMPLATES, (_ASKED,)),))
TAG = Taken("ec2", "CreateTags", (Scope(_TEMPLATES, ((_EQUAL, "ec2:CreateAction", "CreateLaunchTemplate"), _ASKED)),))
"""It is made with its tags (EC2 user guide, tagging resources on creation)."""
DESCRIBE = Call("ec2", "DescribeLaunchTemplates")
DELETE = Call("ec2", "DeleteLaunchTemplate", (Scope(_TEMPLATES, ((_EQUAL, f"aws:ResourceTag/{LOCK_TAG}", "{cluster}"),)),))
GET_PARAMETER = Call("ssm", "GetParameter", (Scope("arn:{partition}:ssm:{region}:*:parameter" + lock_parameter("{cluster}")),))

LOCKING = (CREATE, TAG, DELETE)
"""What a run needs to hold a lock, beside reading it."""
_NAME_TAKEN = "InvalidLaunchTemplateName.AlreadyExistsException"
_DATA = {"MetadataOptions": {"HttpTokens": "required"}}
"""EC2 makes no template without data; with these a check of templates for IMDSv2 finds nothing to say."""
_TAG_LENGTH = 256
"""Characters of a tag's value (EC2 API, Tag)."""


@dataclass(frozen=True)
class Kept:
    """A lock as EC2 shows it."""

    id: str
    """Of the template: no other one ever has it."""
    created_by: str
    """ARN of the caller, as EC2 knows it."""
    created_at: datetime
    """By EC2's clock, UTC."""
    tags: Mapping[str, str]


def create(api: Api, name: str, cluster: str, tags: Mapping[str, str]) -> str:
    """Make the lock of this name with these tags: its id, empty where there is one. Of two that try at once one gets it.

    `cluster`: whose operators may make and delete it.

    boto3 sends a request that got no answer again, with the ClientToken of the first: EC2 answers with the template that the first has made.
    """
    marks = [{"Key": key, "Value": value[:_TAG_LENGTH]} for key, value in {LOCK_TAG: cluster, **tags}.items()]
    specifications = [{"ResourceType": "launch-template", "Tags": marks}]
    try:
        answer = api.call(CREATE, LaunchTemplateName=name, LaunchTemplateData=_DATA, TagSpecifications=specifications)
    except ClientError as error:
        if code_of(error) == _NAME_TAKEN:
            return ""
        raise
    return answer["LaunchTemplate"]["LaunchTemplateId"]


def read(api: Api, name: str) -> Kept | None:
    """The lock as it is shown now, None where none is. Of two, one of which is deleted and shown still, it is the newer one."""
    entries = api.pages(DESCRIBE, "LaunchTemplates", Filters=[{"Name": "launch-template-name", "Values": [name]}])
    found = [
        Kept(entry["LaunchTemplateId"], entry["CreatedBy"], entry["CreateTime"], tags_of(entry))
        for entry in entries
        if entry["LaunchTemplateName"] == name
    ]
    return max(found, key=lambda kept: kept.created_at, default=None)


def delete(api: Api, which: str) -> None:
    """Delete the lock with this id, and no other; one that is gone already is no error."""
    try:
        api.call(DELETE, LaunchTemplateId=which)
    except ClientError as error:
        if code_of(error) not in NOT_FOUND:
            raise


def read_parameter(api: Api, cluster: str) -> str | None:
    """What release 0.1.0 wrote into its lock, None where there is none."""
    try:
        return api.call(GET_PARAMETER, Name=lock_parameter(cluster))["Parameter"]["Value"]
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return None
        raise
