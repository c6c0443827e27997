"""Which checkpoints are safe in S3: the decision alone."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.trn.jobs.test_watch import line
from trn.cli.errors import CommandError
from trn.jobs.data.safety import Link, Saved, Stored, link_of, safety, saves, task_line

LINK = Link("/data", "s3://my-bucket/set", exports_itself=True)
OLD = Saved(100, "/fsx/data/c/step-100", 30, 1000.5, 2)
NEW = Saved(200, "/fsx/data/c/step-200", 30, 2000.5, 2)
WHOLE = {"set/c/step-200/a": Stored(10, 2001), "set/c/step-200/b": Stored(20, 2002)}


def task(state: str = "SUCCEEDED", start: float = 2001, paths: tuple[str, ...] = ("data/c",), **more: Any) -> dict[str, Any]:
    """An export."""
    return {"TaskId": "task-1", "Lifecycle": state, "StartTime": start, "Paths": list(paths), **more}


def safe(stored: dict[str, Stored], *tasks: dict[str, Any], link: Link = LINK, found: list[Saved] | None = None) -> int | None:
    """Step of the newest checkpoint that is safe."""
    outcome = safety(found or [OLD, NEW], link, "/fsx", stored, iter(tasks))
    return outcome.safe.step if outcome.safe else None


def test_a_checkpoint_is_safe_when_all_its_bytes_are_there():
    """One byte less is another file, or a part."""
    assert safe(WHOLE) == 200
    assert safe({**WHOLE, "set/c/step-200/b": Stored(19, 2002)}) is None
    assert safe({"set/c/step-200/a": Stored(10, 2001)}) is None
    assert safe({}) is None


def test_bytes_of_an_earlier_run_do_not_count():
    """The same step has the same size; what S3 got while it was written does."""
    assert safe({**WHOLE, "set/c/step-200/a": Stored(10, 1500)}) is None
    assert safe({**WHOLE, "set/c/step-200/a": Stored(10, 1998)}) == 200


def test_an_object_of_a_folder_is_no_file_of_it():
    """FSx makes one for each folder, and writes it once."""
    assert safe({**WHOLE, "set/c/step-200/": Stored(0, 5)}) == 200


def test_names_that_begin_alike_are_others():
    """step-2000 is not step-200."""
    assert safe({key.replace("200/", "2000/"): value for key, value in WHOLE.items()}) is None


def test_an_older_checkpoint_is_safe_before_the_newest_is():
    """And the text says what is at risk."""
    stored = {"set/c/step-100": Stored(30, 1001)}
    outcome = safety([OLD, NEW], LINK, "/fsx", stored, ())
    assert (
        outcome.text
        == "safe in S3 since step 100, 30 bytes in s3://my-bucket/set/c/step-100; the newest, of step 200, is on the file system alone so far"
    )


STALE = {key: Stored(value.size, 1500) for key, value in WHOLE.items()}
"""All bytes, from before the checkpoint was written."""
TASKS: dict[str, tuple[dict[str, Any], int | None]] = {
    "it succeeded": (task(), 200),
    "it failed": (task("FAILED"), None),
    "it still runs": (task("EXECUTING"), None),
    "it waits": ({key: value for key, value in task("PENDING").items() if key != "StartTime"}, None),
    "it began before the checkpoint was whole": (task(start=2000.4), None),
    "it is of another folder": (task(paths=("data/d", "data/c2")), None),
    "it is of the checkpoint itself": (task(paths=("/data/c/step-200/",)), 200),
    "it is of everything": (task(paths=()), 200),
    "it has a time as boto3 gives it": (task(start=0) | {"StartTime": datetime.fromtimestamp(2001, UTC)}, 200),
}


@pytest.mark.parametrize("case", TASKS)
def test_an_export_counts_when_it_began_later_and_succeeded(case: str):
    """FSx sends again only what has changed, so that times of objects may be older."""
    given, step = TASKS[case]
    assert safe(STALE, given) == step


def test_an_export_does_not_count_for_what_is_not_in_the_bucket():
    """What the job deletes of its old checkpoints, FSx deletes in S3; and a part is no whole."""
    assert safe({}, task()) is None
    assert safe({"set/c/step-200/a": Stored(10, 2001)}, task()) is None


def test_without_a_size_only_an_export_counts():
    """TensorFlow's checkpoints are several files that begin alike, and say no size."""
    unknown = Saved(5, "/fsx/data/c/ckpt-5", 0, 2000)
    files = {"set/c/ckpt-5.index": Stored(1, 2001), "set/c/ckpt-5.data-0": Stored(1, 2001)}
    assert safe(files, found=[unknown]) is None
    assert safe(files, task(), found=[unknown]) == 5
    assert safe({"set/c/ckpt-50.index": Stored(1, 2001)}, task(), found=[unknown]) is None


@pytest.mark.parametrize(
    ("path", "link", "key"),
    [
        ("/fsx/data/c/1", LINK, "set/c/1"),
        ("/fsx/data/c/1", Link("/data/", "s3://b", exports_itself=False), "c/1"),
        ("/fsx/c/1", Link("/", "s3://b/p/", exports_itself=False), "p/c/1"),
        ("/fsx/c/1", LINK, None),
        ("/fsx/data2/c", LINK, None),
        ("/fsx2/data/c", LINK, None),
        ("/scratch/data/c", LINK, None),
    ],
)
def test_a_path_in_a_pod_has_a_key_below_the_link(path: str, link: Link, key: str | None):
    """What is not below the folder is never exported."""
    assert link.key(path, "/fsx") == key


def test_a_checkpoint_outside_the_link_is_never_safe():
    """Whatever was exported."""
    outside = Saved(3, "/fsx/c/step-3", 30, 1000)
    outcome = safety([outside], LINK, "/fsx", {"set/c/step-3": Stored(30, 1001)}, [task(paths=())])
    assert outcome.text == "no checkpoint is known to be in S3; the newest, of step 3, is on the file system alone"


def test_a_log_without_checkpoints_says_so():
    """It is no proof of anything."""
    assert safety([], LINK, "/fsx", WHOLE, [task()]).text == "no checkpoint is known: the job's log has none"


def test_checkpoints_are_read_from_the_log():
    """Each once, the last word of a step that was done again, in order; what cannot be meant is passed over."""
    log = [
        "compiling", line("event", 9, event="saved", rank=0, step=7), line("event", 5, event="saved", rank=0, step=2, path="/a", bytes=1, seconds=0.5),
        line("event", 6, event="saved", rank=0, step=1, path="/b", bytes="many", seconds=-3), line("event", 8, event="saved", rank=0, step=2, path="/c", bytes=4),
    ]  # fmt: skip
    assert saves(log) == [Saved(1, "/b", 0, 6, 0), Saved(2, "/c", 4, 8, 0)]


def test_a_file_system_without_a_link_is_an_error():
    """With the key that makes one; a link says whether it exports by itself."""
    with pytest.raises(CommandError, match="is linked to no S3 prefix") as refused:
        link_of([], "trainium-dev")
    assert "storage.lustre.dataRepository.s3Uri" in refused.value.hint
    entry: dict[str, Any] = {"FileSystemPath": "/data", "DataRepositoryPath": "s3://b/p"}
    assert link_of([entry], "x") == Link("/data", "s3://b/p", exports_itself=False)
    assert link_of([entry | {"S3": {"AutoExportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}}}], "x").exports_itself
    assert not link_of([entry | {"S3": {"AutoExportPolicy": {"Events": ["NEW"]}}}], "x").exports_itself


def test_a_task_is_a_line():
    """With its figures where FSx says them, and why it failed."""
    assert task_line(task("PENDING", paths=())) == "task-1: PENDING, everything"
    failed = task("FAILED", Status={"TotalCount": 9, "SucceededCount": 7, "FailedCount": 2}, FailureDetails={"Message": "no such bucket"})
    assert task_line(failed) == "task-1: FAILED, data/c, 7 of 9 files, 2 failed: no such bucket"
