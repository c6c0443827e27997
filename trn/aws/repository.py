"""The file system's link to S3: what it exports, the tasks that export on request, and what is in the bucket."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.names import CLUSTER_TAG
from facts.resources.fsx import FILE_SYSTEM
from facts.resources.queries import Leftover
from facts.resources.rights import BEING_TAGGED
from trn.aws.api import Api, BotoApi, Call, Taken, tags_of
from trn.aws.fsx import DESCRIBE_FILE_SYSTEMS
from trn.aws.owner_tags import belongs

DESCRIBE_ASSOCIATIONS = Call("fsx", "DescribeDataRepositoryAssociations")
DESCRIBE_TASKS = Call("fsx", "DescribeDataRepositoryTasks")
CREATE_TASK = Call("fsx", "CreateDataRepositoryTask", BEING_TAGGED)
WITH_TAGS = Taken("fsx", "TagResource", BEING_TAGGED)
"""A task is made with its tags."""
LIST_OBJECTS = Call("s3", "ListObjectsV2", (), right="ListBucket")
GET_OBJECT = Taken("s3", "GetObject", ())
"""Of a bucket that the user names: no document of the stack knows it."""
EXPORT = "EXPORT_TO_REPOSITORY"
Entry = Mapping[str, Any]


def own_file_systems(api: Api, cluster: str) -> list[Entry]:
    """The cluster's file systems, without those that stand for a claim of a user's."""
    assert isinstance(FILE_SYSTEM.leftover, Leftover)
    claimed = FILE_SYSTEM.leftover.data_tags
    found = [entry for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems") if belongs(cluster, tags_of(entry))]
    return [entry for entry in found if not any(tag in tags_of(entry) for tag in claimed)]


def associations(api: Api, file_system: str) -> list[Entry]:
    """Links of a file system to S3."""
    found = _all_of(api, DESCRIBE_ASSOCIATIONS, "Associations", file_system)
    return [entry for entry in found if entry.get("FileSystemId") == file_system]


def exports(api: Api, file_system: str) -> list[Entry]:
    """Its tasks that export, newest first."""
    found = _all_of(api, DESCRIBE_TASKS, "DataRepositoryTasks", file_system)
    own = [entry for entry in found if entry.get("FileSystemId") == file_system and entry["Type"] == EXPORT]
    return sorted(own, key=lambda entry: entry["CreationTime"], reverse=True)


def _all_of(api: Api, call: Call, key: str, file_system: str) -> Iterator[Entry]:
    """Entries of all pages; botocore has no paginator for these two calls (botocore fsx paginators-1.json, 2026-11)."""
    token: dict[str, str] = {}
    while True:
        answer = api.call(call, Filters=[{"Name": "file-system-id", "Values": [file_system]}], **token)
        yield from answer.get(key, ())
        if not answer.get("NextToken"):
            return
        token = {"NextToken": answer["NextToken"]}


def begin_export(api: Api, file_system: str, path: str, tags: Mapping[str, str], token: str) -> Entry:
    """Begin to export what is new or changed below a path of a file system, without / at its beginning. Raises what botocore raises.

    `token`: of the request; sent twice with it, it is one.
    """
    assert CLUSTER_TAG in tags, tags
    answer = api.call(
        CREATE_TASK,
        FileSystemId=file_system,
        ClientRequestToken=token,
        Type=EXPORT,
        Paths=[path],
        Report={"Enabled": False},
        Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
    )
    return answer["DataRepositoryTask"]


def objects(api: Api, bucket: str, prefix: str) -> Iterator[Entry]:
    """Objects of a bucket below a prefix. Raises what botocore raises."""
    yield from api.pages(LIST_OBJECTS, "Contents", Bucket=bucket, Prefix=prefix)


def address(api: Api, bucket: str, key: str, life_s: int) -> str:
    """An address by which an object can be read for so long without a login: with the caller's rights, and while the caller's own login holds."""
    assert isinstance(api, BotoApi)
    return str(api.client("s3").generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=life_s))
