"""A file system, a bucket, a workspace and a role that others keep, as their services describe them: reads only."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from botocore.exceptions import ClientError

from facts.external.file_system import ClientGroup, FileSystem
from facts.external.role import Role
from facts.external.workspace import Workspace
from trn.aws.api import Api, Call
from trn.aws.errors import DENIED, code_of
from trn.aws.external_network import DESCRIBE_GROUPS, DESCRIBE_SUBNETS, described_group
from trn.aws.fsx import DESCRIBE_FILE_SYSTEMS
from trn.aws.identity import GET_ROLE
from trn.aws.sighting import described, filters

DESCRIBE_INTERFACES = Call("ec2", "DescribeNetworkInterfaces")
_Listed = tuple[Call, str, str, str]
"""A call, where its entries are, the filter by id, and where an entry holds it."""
_INTERFACES: _Listed = (DESCRIBE_INTERFACES, "NetworkInterfaces", "network-interface-id", "NetworkInterfaceId")
_SUBNETS: _Listed = (DESCRIBE_SUBNETS, "Subnets", "subnet-id", "SubnetId")
_GROUPS: _Listed = (DESCRIBE_GROUPS, "SecurityGroups", "group-id", "GroupId")


def described_file_system(api: Api, file_system_id: str, client_group: str = "") -> FileSystem | None:
    """The file system with all that decides whether nodes can mount it; None where the region has no such one.

    `client_group`: the security group that the nodes are to get for it; empty for none.
    """
    entry = file_system_entry(api, file_system_id)
    if entry is None:
        return None
    lustre, subnets = entry.get("LustreConfiguration", {}), entry.get("SubnetIds", ())
    interfaces = _found(api, _INTERFACES, entry.get("NetworkInterfaceIds", ()))
    groups = sorted({group["GroupId"] for interface in interfaces for group in interface.get("Groups", ())})
    places = _found(api, _SUBNETS, subnets[:1])
    return FileSystem(
        id=file_system_id,
        region=api.region,
        type=entry["FileSystemType"],
        state=entry["Lifecycle"],
        mount_name=lustre.get("MountName", ""),
        version=entry.get("FileSystemTypeVersion", ""),
        deployment_type=lustre.get("DeploymentType", ""),
        vpc_id=entry["VpcId"],
        subnet=subnets[0] if subnets else "",
        zone_id=places[0]["AvailabilityZoneId"] if places else "",
        addresses=tuple(interface["PrivateIpAddress"] for interface in interfaces),
        groups={group["GroupId"]: described_group(group) for group in _found(api, _GROUPS, groups)},
        client_group=_client_group(api, client_group),
    )


def file_system_entry(api: Api, file_system_id: str) -> Mapping[str, Any] | None:
    """A file system as FSx describes it; None where the region has no such one."""
    found = described(api, DESCRIBE_FILE_SYSTEMS, FileSystemIds=[file_system_id]).get("FileSystems", ())
    return next((entry for entry in found if entry["FileSystemId"] == file_system_id), None)


def _client_group(api: Api, which: str) -> ClientGroup | None:
    found = _found(api, _GROUPS, [which] if which else ())
    return ClientGroup(id=which, vpc_id=found[0]["VpcId"]) if found else None


def _found(api: Api, listed: _Listed, ids: Sequence[str]) -> list[Mapping[str, Any]]:
    """Entries with these ids. By a filter: EC2 answers a list of ids with an error where one of them is gone."""
    call, key, named, which = listed
    return [entry for entry in api.pages(call, key, Filters=filters({named: list(ids)})) if entry[which] in ids] if ids else []


GET_LOCATION = Call("s3", "GetBucketLocation")
_ABSENT = "NoSuchBucket"
_OLD_NAMES = {None: "us-east-1", "EU": "eu-west-1"}
"""How S3 writes the location of its two oldest regions (S3 API, GetBucketLocation: LocationConstraint)."""


def bucket_region(api: Api, name: str) -> str | Literal["absent", "denied"]:
    """Region of a bucket; `absent` where the caller's partition has none of this name, `denied` where the caller may not ask.

    Raises what botocore raises for any other refusal. Source: S3 API, GetBucketLocation; S3 user guide, bucket naming rules: a name
    is one bucket's in all accounts of a partition, and unknown in the others.
    """
    try:
        place = api.call(GET_LOCATION, Bucket=name).get("LocationConstraint") or None
    except ClientError as error:
        if code_of(error) == _ABSENT:
            return "absent"
        if code_of(error) in DENIED:
            return "denied"
        raise
    return _OLD_NAMES.get(place) or str(place)


LIST_WORKSPACES = Call("amp", "ListWorkspaces")


def described_workspace(api: Api, arn: str) -> Workspace | None:
    """The workspace; None where the caller's account has none of this ARN in the region."""
    for entry in api.pages(LIST_WORKSPACES, "workspaces"):
        if entry["arn"] == arn:
            return Workspace(arn=arn, state=entry["status"]["statusCode"])
    return None


LIST_ATTACHED = Call("iam", "ListAttachedRolePolicies")


def given_role(api: Api, name: str) -> Role | None:
    """A role by its name; None where the account has none."""
    found = described(api, GET_ROLE, RoleName=name).get("Role")
    if found is None:
        return None
    trust = found.get("AssumeRolePolicyDocument") or "{}"
    attached = api.pages(LIST_ATTACHED, "AttachedPolicies", RoleName=name)
    return Role(
        arn=found["Arn"],
        trust=json.loads(unquote(trust)) if isinstance(trust, str) else dict(trust),
        attached=tuple(sorted(each["PolicyArn"] for each in attached)),
    )
