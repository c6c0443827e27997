"""FSx for Lustre: how much storage the account uses, and file systems and backups that a cluster may leave."""

from collections.abc import Iterator
from typing import Any

from operations.aws.api import Api, Call, tags_of
from operations.aws.found import Found, Kind, Place, deleter, per_day
from operations.belonging import belongs
from operations.cluster.iam.scopes import OWNED

DESCRIBE_FILE_SYSTEMS = Call("fsx", "DescribeFileSystems")
DELETE_FILE_SYSTEM = Call("fsx", "DeleteFileSystem", OWNED)
DESCRIBE_BACKUPS = Call("fsx", "DescribeBackups")
DELETE_BACKUP = Call("fsx", "DeleteBackup", OWNED)


def persistent_storage_gib(api: Api, cluster: str) -> int:
    """GiB of PERSISTENT_2 file systems of others: what the quota counts."""
    return sum(
        entry["StorageCapacity"]
        for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems")
        if entry.get("LustreConfiguration", {}).get("DeploymentType") == "PERSISTENT_2" and not belongs(cluster, tags_of(entry))
    )


def _file_systems(api: Api, place: Place) -> Iterator[Found]:
    for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems"):
        tags = tags_of(entry)
        because = place.reason(tags, entry.get("VpcId", ""))
        if because:
            name = f"{entry['StorageCapacity']} GiB {entry['FileSystemType'].capitalize()}"
            yield Found("file system", entry["FileSystemId"], because, name, _usd(entry), entry["Lifecycle"] == "DELETING", tags)


def _usd(entry: dict[str, Any]) -> float | None:
    lustre = entry.get("LustreConfiguration", {})
    if lustre.get("DeploymentType") != "PERSISTENT_2" or entry.get("StorageType") != "SSD":
        return None
    return per_day(f"Lustre {lustre['PerUnitStorageThroughput']}", entry["StorageCapacity"])


def _backups(api: Api, place: Place) -> Iterator[Found]:
    """At most what a full backup costs: only what differs from the one before is billed."""
    for entry in api.pages(DESCRIBE_BACKUPS, "Backups"):
        tags = tags_of(entry)
        because = place.reason(tags)
        if because:
            of = entry.get("FileSystem", {})
            usd = per_day("Lustre backup", of["StorageCapacity"]) if "StorageCapacity" in of else None
            name = f"of {of.get('FileSystemId', 'a file system')}"
            yield Found("backup", entry["BackupId"], because, name, usd, entry["Lifecycle"] == "DELETED", tags)


def _delete_file_system(api: Api, found: Found) -> None:
    # A sweep that made a backup of what it deletes would leave something that bills.
    api.call(DELETE_FILE_SYSTEM, FileSystemId=found.id, LustreConfiguration={"SkipFinalBackup": True})


FILE_SYSTEMS = Kind("file system", _file_systems, _delete_file_system)
BACKUPS = Kind("backup", _backups, deleter(DELETE_BACKUP, "BackupId"))
