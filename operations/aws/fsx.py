"""FSx for Lustre: how much storage the account uses."""

from operations.aws.api import Api, Call, tags_of
from operations.belonging import belongs

DESCRIBE_FILE_SYSTEMS = Call("fsx", "DescribeFileSystems")


def persistent_storage_gib(api: Api, cluster: str) -> int:
    """GiB of PERSISTENT_2 file systems of others: what the quota counts.

    Entries without a size count as nothing: those of Intelligent-Tiering have none (FSx API, FileSystem).
    """
    return sum(
        entry.get("StorageCapacity", 0)
        for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems")
        if entry.get("LustreConfiguration", {}).get("DeploymentType") == "PERSISTENT_2" and not belongs(cluster, tags_of(entry))
    )
