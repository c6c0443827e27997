"""Which checkpoints are in S3: by size and time of what is there, or by a task that exported after they were written. Pure.

An export runs after a checkpoint was written, so one that is on the file system alone is lost with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from facts.typed import typed
from training.metrics_line import MOST, Event, parse
from trn.aws.cluster_identity import moment
from trn.cli.errors import CommandError

RUNNING = ("PENDING", "EXECUTING")


@dataclass(frozen=True)
class Saved:
    """One checkpoint, as the job said when it had written it."""

    step: int
    path: str
    size: int
    """Bytes of all its files."""
    time: float
    """When it was whole, in seconds since 1970."""
    seconds: float = 0
    """That it took to write."""


@dataclass(frozen=True)
class Stored:
    """One object in the bucket."""

    size: int
    """Bytes."""
    time: float
    """When S3 got it, in seconds since 1970, without their fraction (S3 API, Object, LastModified)."""


@dataclass(frozen=True)
class Link:
    """A folder of the file system and the S3 prefix that mirrors it."""

    folder: str
    """From the root of the file system, with / at its beginning."""
    uri: str
    exports_itself: bool
    """Whether FSx exports what is new or changed by itself."""
    id: str = field(default="", compare=False)
    """Of the association."""
    made_at: str = field(default="", compare=False)

    def key(self, path: str, mount: str) -> str | None:
        """Key in the bucket of a path in a pod; None for what is not below the folder. `mount`: where pods have the file system."""
        inside = path.removeprefix(mount.rstrip("/")) if path.startswith(f"{mount.rstrip('/')}/") else None
        folder = self.folder.rstrip("/")
        if inside is None or not inside.startswith(f"{folder}/") or ".." in inside.split("/"):
            return None
        prefix = self.uri.removeprefix("s3://").partition("/")[2].strip("/")
        return f"{prefix}{'/' if prefix else ''}{inside[len(folder) + 1 :]}"

    @property
    def bucket(self) -> str:
        """Name of the bucket."""
        return self.uri.removeprefix("s3://").partition("/")[0]


@dataclass(frozen=True)
class Safety:
    """How much of a job's checkpoints is in S3."""

    safe: Saved | None
    """The newest that is there whole."""
    newest: Saved | None
    """The newest of all."""
    how: str
    """By what it is known."""

    @property
    def text(self) -> str:
        """In a sentence, without its full stop."""
        if self.newest is None:
            return "no checkpoint is known: the job's log has none"
        if self.safe is None:
            return f"no checkpoint is known to be in S3; the newest, of step {self.newest.step}, is on the file system alone"
        behind = (
            "" if self.safe.step == self.newest.step else f"; the newest, of step {self.newest.step}, is on the file system alone so far"
        )
        return f"safe in S3 since step {self.safe.step}, {self.how}{behind}"


def saves(lines: Iterable[str]) -> list[Saved]:
    """Checkpoints that a log tells of, oldest first, each once."""
    found = dict[int, Saved]()
    for said in map(parse, lines):
        if isinstance(said, Event) and said.event == "saved" and said.step is not None and "path" in said.more:
            size, seconds = (_number(said.more.get(key)) for key in ("bytes", "seconds"))
            found[said.step] = Saved(said.step, str(said.more["path"]), int(size), said.time, seconds)
    return [found[step] for step in sorted(found)]


def _number(value: object) -> float:
    """0 for what a log cannot mean by it."""
    return value if isinstance(value, int | float) and 0 <= value < MOST else 0


def safety(found: list[Saved], link: Link, mount: str, stored: Mapping[str, Stored], tasks: Iterable[Mapping[str, Any]]) -> Safety:
    """What is safe. `stored`: the bucket by key; `tasks`: exports, as FSx describes them.

    The same step of an earlier run has the same size, so the bytes alone prove nothing: S3 must have got them after this one was begun, or
    an export that began after it was written must have succeeded. Where the job did not say how many bytes it wrote, the export counts.
    """
    exported = list(tasks)
    newest = found[-1] if found else None
    for one in reversed(found):
        key = link.key(one.path, mount)
        if key is None:
            continue
        there = [item for name, item in stored.items() if _is_of(name, key)]
        if one.size and sum(item.size for item in there) != one.size:
            continue
        if one.size and all(item.time >= int(one.time - one.seconds) for item in there):
            return Safety(one, newest, f"{one.size} bytes in s3://{link.bucket}/{key}")
        task = next((task for task in exported if _covers(task, one, mount)), None)
        # Without objects it was exported and is deleted again: FSx deletes in S3 what is deleted on the file system.
        if task is not None and there:
            return Safety(one, newest, f"exported by {task['TaskId']}")
    return Safety(None, newest, "")


def _is_of(name: str, key: str) -> bool:
    """Whether an object is a checkpoint, or a file of it: TensorFlow's are named by their beginning. A folder's own object is none."""
    return (name == key or name.startswith((f"{key}/", f"{key}."))) and not name.endswith("/")


def _covers(task: Mapping[str, Any], one: Saved, mount: str) -> bool:
    """Whether an export that succeeded began after a checkpoint was written, and was of its folder."""
    if task["Lifecycle"] != "SUCCEEDED" or "StartTime" not in task or seconds_of(task["StartTime"]) <= one.time:
        return False
    inside = one.path.removeprefix(mount.rstrip("/")).strip("/")
    paths = [path.strip("/") for path in task.get("Paths") or ("",)]
    return any(not path or inside == path or inside.startswith(f"{path}/") for path in paths)


def seconds_of(time: datetime | float) -> float:
    """Seconds since 1970, from either form."""
    return time.timestamp() if isinstance(time, datetime) else float(time)


def link_of(entries: Iterable[Mapping[str, Any]], cluster: str, *, is_own: bool = True) -> Link:
    """The link of a file system. `is_own`: whether the stack makes the file system. Raises CommandError where there is none."""
    for entry in entries:
        exported = entry.get("S3", {}).get("AutoExportPolicy", {}).get("Events", ())
        return Link(
            entry["FileSystemPath"],
            entry["DataRepositoryPath"],
            {"NEW", "CHANGED"} <= set(exported),
            entry.get("AssociationId", ""),
            moment(entry.get("CreationTime")),
        )
    hint = f"set `storage.lustre.dataRepository.s3Uri`, then `{typed('pulumi up')}`; without it nothing on the file system outlives it"
    if not is_own:
        hint = "its owner links it with `aws fsx create-data-repository-association`"
    raise CommandError(f"the file system of {cluster} is linked to no S3 prefix", hint)


def task_line(task: Mapping[str, Any]) -> str:
    """An export in a line: state, folder, and how far it is where FSx says so."""
    counts = task.get("Status") or {}
    done = ""
    if "TotalCount" in counts:
        done = f", {counts.get('SucceededCount', 0)} of {counts['TotalCount']} files, {counts.get('FailedCount', 0)} failed"
    why = (task.get("FailureDetails") or {}).get("Message", "")
    return f"{task['TaskId']}: {task['Lifecycle']}, {', '.join(task.get('Paths') or ['everything'])}{done}{f': {why}' if why else ''}"
