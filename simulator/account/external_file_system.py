"""A file system that others keep, put into the account as AWS describes it: FSx's entry, its network interfaces and their groups."""

from collections.abc import Iterator

from facts.external.file_system import LUSTRE, FileSystem
from simulator.account.external import group_entry
from simulator.account.neighbours import Entry
from simulator.account.state import AccountState
from simulator.chance import digest


def put_file_system(state: AccountState, found: FileSystem) -> None:
    """Put a file system into the account, with its interfaces and groups. A subnet or a group that is there already stays as it is."""
    for kind, which, entry in _entries(found):
        there = state.others.setdefault(kind, {})
        if kind not in ("subnet", "group") or which not in there:
            there[which] = entry


def _entries(found: FileSystem) -> Iterator[tuple[str, str, Entry]]:
    interfaces = {f"eni-{digest(0, found.id, address)[:17]}": address for address in found.addresses}
    lustre = {"MountName": found.mount_name, "DeploymentType": found.deployment_type, "PerUnitStorageThroughput": 125}
    yield (
        "fsx",
        found.id,
        {
            "FileSystemId": found.id,
            "FileSystemType": found.type,
            "FileSystemTypeVersion": found.version,
            "Lifecycle": found.state,
            "StorageCapacity": 1200,
            "StorageType": "SSD",
            "VpcId": found.vpc_id,
            "SubnetIds": [found.subnet],
            "NetworkInterfaceIds": list(interfaces),
            **({"LustreConfiguration": lustre} if found.type == LUSTRE else {}),
        },
    )
    place = {"VpcId": found.vpc_id, "SubnetId": found.subnet}
    for which, address in interfaces.items():
        groups = [{"GroupId": group} for group in found.groups]
        used = {"Status": "in-use", "RequesterManaged": True, "PrivateIpAddress": address, "Groups": groups, "TagSet": []}
        yield "interface", which, {"NetworkInterfaceId": which, **place, **used}
    for which, group in found.groups.items():
        yield "group", which, group_entry(which, found.vpc_id, group.ingress)
    if found.client_group is not None:
        yield "group", found.client_group.id, group_entry(found.client_group.id, found.client_group.vpc_id, ())
    yield "subnet", found.subnet, {**place, "AvailabilityZoneId": found.zone_id, "State": "available", "Tags": []}
