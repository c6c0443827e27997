"""A file system that others keep, as FSx and EC2 describe it: reads only."""

from collections.abc import Mapping, Sequence
from typing import Any

from facts.external.file_system import ClientGroup, FileSystem
from trn.aws.api import Api, Call
from trn.aws.external_network import DESCRIBE_GROUPS, DESCRIBE_SUBNETS, described_group
from trn.aws.fsx import DESCRIBE_FILE_SYSTEMS
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
