"""Which checkpoints are in S3: by the size of what is there, or by a task that exported after they were written. Pure.

An export runs after a checkpoint was written, so one that is on the file system alone is lost with it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from operations.errors import CommandError
from training.metrics_line import Event, parse

RUNNING = ("PENDING", "EXECUTING")


@dataclass(frozen=True)
class Saved:
    """One checkpoint, as the job said when it had written it."""

    step: int
    path: str
    size: int
    """Bytes of all its files."""
    time: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class Link:
    """A folder of the file system and the S3 prefix that mirrors it."""

    folder: str
    """From the root of the file system, with / at its beginning."""
    uri: str
    exports_itself: bool
    """Whether FSx exports what is new or changed by itself."""

    def key(self, path: str, mount: str) -> str | None:
        """Key in the bucket of a path in a pod; None for what is not below the folder. `mount`: where pods have the file system."""
        inside = path.removeprefix(mount.rstrip("/")) if path.startswith(f"{mount.rstrip('/')}/") else None
        folder = self.folder.rstrip("/")
        if inside is None or not inside.startswith(f"{folder}/"):
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
            found[said.step] = Saved(said.step, str(said.more["path"]), int(said.more.get("bytes", 0)), said.time)
    return [found[step] for step in sorted(found)]


def safety(found: list[Saved], link: Link, mount: str, sizes: Mapping[str, int], tasks: Iterable[Mapping[str, Any]]) -> Safety:
    """What is safe. `sizes`: bytes in the bucket by key; `tasks`: exports, as FSx describes them."""
    newest = found[-1] if found else None
    for one in reversed(found):
        key = link.key(one.path, mount)
        if key is None:
            continue
        there = sum(size for name, size in sizes.items() if name == key or name.startswith(f"{key}/"))
        if one.size and there == one.size:
            return Safety(one, newest, f"{there} bytes in s3://{link.bucket}/{key}")
        task = next((task for task in tasks if _covers(task, one, mount)), None)
        if task is not None:
            return Safety(one, newest, f"exported by {task['TaskId']}")
    return Safety(None, newest, "")


def _covers(task: Mapping[str, Any], one: Saved, mount: str) -> bool:
    """Whether an export that succeeded began after a checkpoint was written, and was of its folder."""
    if task["Lifecycle"] != "SUCCEEDED" or "StartTime" not in task or _seconds(task["StartTime"]) <= one.time:
        return False
    inside = one.path.removeprefix(mount.rstrip("/")).strip("/")
    paths = [path.strip("/") for path in task.get("Paths") or ("",)]
    return any(not path or inside == path or inside.startswith(f"{path}/") for path in paths)


def _seconds(time: datetime | float) -> float:
    return time.timestamp() if isinstance(time, datetime) else float(time)


def link_of(entries: Iterable[Mapping[str, Any]], cluster: str) -> Link:
    """The link of a file system. Raises CommandError where there is none."""
    for entry in entries:
        exported = entry.get("S3", {}).get("AutoExportPolicy", {}).get("Events", ())
        return Link(entry["FileSystemPath"], entry["DataRepositoryPath"], {"NEW", "CHANGED"} <= set(exported))
    hint = "set `storage.lustre.dataRepository.s3Uri`, then `pulumi up`; without it nothing on the file system outlives it"
    raise CommandError(f"the file system of {cluster} is linked to no S3 prefix", hint)
