"""Exports and buckets of the simulated account, asked as commands ask: by boto3, in pages."""

import pytest
from botocore.exceptions import ClientError

from facts.names import CLUSTER_TAG
from simulator.aws_endpoint.repository_tasks import OBJECT, TASK
from tests.trn.aws.cloud import CREATED_AT, Cloud
from trn.aws.repository import associations, begin_export, exports, objects

WHICH = f"fs-{1:0>17}"


@pytest.fixture
def cloud() -> Cloud:
    """A file system with a link to a bucket."""
    made = Cloud()
    link = {"AssociationId": f"dra-{1:0>17}", "FileSystemId": WHICH, "FileSystemPath": "/data", "DataRepositoryPath": "s3://linked/set"}
    made.put("repository association", f"dra-{1:0>17}", link)
    return made


def begin(cloud: Cloud, which: str = WHICH) -> str:
    """Begin an export; its id."""
    return begin_export(cloud.api, which, "data/c", {CLUSTER_TAG: "trainium-dev"}, "token")["TaskId"]


def test_an_export_is_nearer_to_its_end_at_each_look(cloud: Cloud):
    """It has a time once it runs; of another file system there is none."""
    which = begin(cloud)
    seen = [exports(cloud.api, WHICH)[0] for _ in range(4)]
    assert [task["Lifecycle"] for task in seen] == ["PENDING", "EXECUTING", "SUCCEEDED", "SUCCEEDED"]
    assert ["StartTime" in task for task in seen] == [False, True, True, True]
    assert ({task["TaskId"] for task in seen}, exports(cloud.api, "fs-other")) == ({which}, [])


def test_one_export_runs_at_a_time(cloud: Cloud):
    """FSx's own code; when it has ended the next begins."""
    begin(cloud)
    with pytest.raises(ClientError, match="DataRepositoryTaskExecuting"):
        begin(cloud)
    for _ in range(3):
        exports(cloud.api, WHICH)
    begin(cloud)
    assert len(cloud.of(TASK)) == 2


def test_without_a_link_there_is_no_export(cloud: Cloud):
    """FSx's own code."""
    with pytest.raises(ClientError, match="UnsupportedOperation"):
        begin(cloud, f"fs-{2:0>17}")


def test_the_newest_of_many_exports_comes_first(cloud: Cloud):
    """They come in pages, for which boto3 has no paginator."""
    for number in range(5):
        entry = {"TaskId": f"task-{number:0>17}", "Lifecycle": "SUCCEEDED", "Type": "EXPORT_TO_REPOSITORY", "FileSystemId": WHICH}
        cloud.put(TASK, entry["TaskId"], {**entry, "CreationTime": f"2026-11-0{number + 1}T00:00:00Z"})
    assert [task["TaskId"][-1] for task in exports(cloud.api, WHICH)] == list("43210")
    assert len(associations(cloud.api, WHICH)) == 1


def test_a_bucket_lists_what_is_below_a_prefix(cloud: Cloud):
    """In pages too. One that is linked and empty has nothing; another is not there."""
    for number in range(5):
        key = f"a/{number}"
        cloud.put(OBJECT, key, {"Bucket": "named", "Key": key, "Size": 1, "LastModified": CREATED_AT, "ETag": '"0"'})
    assert [entry["Key"] for entry in objects(cloud.api, "named", "a/")] == [f"a/{number}" for number in range(5)]
    assert [list(objects(cloud.api, *place)) for place in (("named", "b/"), ("linked", ""))] == [[], []]
    with pytest.raises(ClientError, match="NoSuchBucket"):
        list(objects(cloud.api, "none", ""))
