"""Tasks that export from a file system to S3, each nearer to its end at each look, and what is in a bucket."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, arn, made_id
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import CREATED_AT

TASK, OBJECT = "data repository task", "bucket object"
_NEXT = {"PENDING": "EXECUTING", "EXECUTING": "SUCCEEDED"}
_PAGE = 2
"""Tasks in one answer. botocore has no paginator for them, so the endpoint does not cut them into pages."""


class RepositoryTasks:
    """Answers over one account."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "fsx.DescribeDataRepositoryTasks", self._tasks
        yield "fsx.CreateDataRepositoryTask", self._create
        yield "s3.ListObjectsV2", self._objects

    def _of(self, kind: str) -> dict[str, Entry]:
        return self._inventory.world.state.others.get(kind, {})

    def _linked(self) -> list[Entry]:
        return list(self._inventory.entries("repository association").values())

    def _tasks(self, given: Entry) -> Entry:
        wanted = {value for each in given.get("Filters", ()) if each["Name"] == "file-system-id" for value in each["Values"]}
        shown = [dict(entry) for entry in self._of(TASK).values() if not wanted or entry["FileSystemId"] in wanted]
        start = int(given.get("NextToken", 0))
        more = {"NextToken": str(start + _PAGE)} if start + _PAGE < len(shown) else {}
        if not more:
            self._go_on()
        return {"DataRepositoryTasks": shown[start : start + _PAGE], **more}

    def _go_on(self) -> None:
        """A task that has begun has the time of it (FSx API, DataRepositoryTask, StartTime)."""
        for entry in self._of(TASK).values():
            if entry["Lifecycle"] in _NEXT:
                entry |= {"Lifecycle": _NEXT[entry["Lifecycle"]], "StartTime": CREATED_AT}

    def _create(self, given: Entry) -> Entry:
        which = given["FileSystemId"]
        if not any(entry.get("FileSystemId") == which for entry in self._linked()):
            raise Refused("UnsupportedOperation", f"File system {which} has no data repository.")
        if any(entry["FileSystemId"] == which and entry["Lifecycle"] in _NEXT for entry in self._of(TASK).values()):
            # FSx API, CreateDataRepositoryTask, errors.
            raise Refused("DataRepositoryTaskExecuting", "An existing data repository task is currently executing on the file system.")
        task = made_id("task", which, str(len(self._of(TASK))))
        made: Entry = {
            "TaskId": task, "Lifecycle": "PENDING", "Type": given["Type"], "CreationTime": CREATED_AT, "FileSystemId": which,
            "ResourceARN": arn(self._inventory.region, "fsx", f"task/{task}"), "Paths": given.get("Paths", []), "Report": given["Report"],
            "Tags": given.get("Tags", []),
        }  # fmt: skip
        self._inventory.world.state.others.setdefault(TASK, {})[task] = made
        return {"DataRepositoryTask": dict(made)}

    def _objects(self, given: Entry) -> Entry:
        bucket = given["Bucket"]
        linked = any(str(entry.get("DataRepositoryPath", "")).removeprefix("s3://").partition("/")[0] == bucket for entry in self._linked())
        found = {key: entry for key, entry in self._of(OBJECT).items() if entry["Bucket"] == bucket}
        if not linked and not found:
            raise Refused("NoSuchBucket", "The specified bucket does not exist", 404)
        shown = [{key: value for key, value in entry.items() if key != "Bucket"} for entry in found.values()]
        return {"Contents": [entry for entry in shown if entry["Key"].startswith(given.get("Prefix", ""))]}
