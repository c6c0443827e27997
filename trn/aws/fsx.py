"""FSx for Lustre: how much storage the account uses, and what is kept of a file system that is deleted."""

from collections.abc import Mapping
from typing import Any

from facts.names import FINAL_BACKUP_TAG
from facts.resources.fsx import FILE_SYSTEM
from facts.resources.queries import Leftover
from trn.aws.api import Api, Call, tags_of
from trn.aws.owner_tags import belongs

DESCRIBE_FILE_SYSTEMS = Call("fsx", "DescribeFileSystems")
assert isinstance(FILE_SYSTEM.leftover, Leftover)
_KIND = FILE_SYSTEM.leftover


def persistent_storage_gib(api: Api, cluster: str) -> int:
    """GiB of PERSISTENT_2 file systems of others: what the quota counts.

    Entries without a size count as nothing: those of Intelligent-Tiering have none (FSx API, FileSystem).
    """
    return sum(
        entry.get("StorageCapacity", 0)
        for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems")
        if entry.get("LustreConfiguration", {}).get("DeploymentType") == "PERSISTENT_2" and not belongs(cluster, tags_of(entry))
    )


def deletion_constants(kind: str, tags: Mapping[str, str], *, final_backup: bool) -> Mapping[str, Any]:
    """More parameters of a deletion, by place: a file system of the stack is backed up before where its settings or its tag want it.

    `final_backup`: what the settings say of the stack's own file system, which no PersistentVolume stands for.
    """
    is_volume = any(tag in tags for tag in _KIND.data_tags)
    if kind != _KIND.kind or not (tags.get(FINAL_BACKUP_TAG) == "true" or (final_backup and not is_volume)):
        return {}
    kept = [{"Key": key, "Value": value} for key, value in sorted(tags.items()) if not key.startswith("aws:")]
    return {"LustreConfiguration.SkipFinalBackup": False, "LustreConfiguration.FinalBackupTags": kept}
