"""What `trn data status` says: of the link and its exports, and of one job's checkpoints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from facts.document import Document, Part
from training.job import SHARED_PATH
from trn.aws.api import Api
from trn.aws.repository import objects
from trn.jobs.data.place import Place
from trn.jobs.data.safety import Link, Safety, Saved, Stored, safety, seconds_of, task_line

SHOWN = 5
"""Exports that are shown, newest first."""


class ExportTask(Part, frozen=True):
    """One export."""

    task: str
    state: str
    """FSx's word."""
    paths: tuple[str, ...]
    files: dict[str, Any]
    """Counts, as FSx has them."""


class DataStatusReport(Document, frozen=True):
    """What `trn data status` found."""

    schema_: Literal["trn-data-status"] = "trn-data-status"
    file_system: str
    folder: str
    """In a pod, linked to S3."""
    to: str
    exports_itself: bool
    """Whether FSx exports what is new or changed without being asked."""
    tasks: tuple[ExportTask, ...]
    """Newest first."""
    job: str | None = None
    """The one whose checkpoints were asked about; null where none was."""
    safe_step: int | None = None
    newest_step: int | None = None


@dataclass(frozen=True)
class JobStatus:
    """One job's checkpoints."""

    job: str
    safety: Safety
    outside: Saved | None
    """The newest that no export ever reaches."""
    link: Link

    @property
    def said(self) -> dict[str, Any]:
        """For the report."""
        safe, newest = self.safety.safe, self.safety.newest
        return {"job": self.job, "safe_step": safe.step if safe else None, "newest_step": newest.step if newest else None}

    @property
    def lines(self) -> list[str]:
        """For a person."""
        beyond = [f"{self.outside.path} is not below {SHARED_PATH}{self.link.folder}: it is never exported"] if self.outside else []
        return [*beyond, f"{self.job}: {self.safety.text}"]


def link_said(place: Place, tasks: Sequence[Mapping[str, Any]]) -> DataStatusReport:
    """Link and exports for `--json`."""
    link = place.link
    return DataStatusReport(
        file_system=place.file_system,
        folder=f"{SHARED_PATH}{link.folder}",
        to=link.uri,
        exports_itself=link.exports_itself,
        tasks=tuple(
            ExportTask(task=task["TaskId"], state=task["Lifecycle"], paths=tuple(task.get("Paths", ())), files=dict(task.get("Status", {})))
            for task in tasks[:SHOWN]
        ),
    )


def link_lines(place: Place, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same for a person."""
    link = place.link
    by_itself = "FSx exports what is new or changed by itself, some time after it is written"
    how = by_itself if link.exports_itself else "nothing is exported by itself"
    first = f"{SHARED_PATH}{link.folder} of {place.file_system} is linked to {link.uri}; {how}"
    return [first, *(task_line(task) for task in tasks[:SHOWN])]


def job_status(job: str, found: list[Saved], link: Link, api: Api, tasks: Iterable[Mapping[str, Any]]) -> JobStatus:
    """Which of a job's checkpoints are in the bucket. Reads the bucket's list."""
    keys = [key for one in found if (key := link.key(one.path, SHARED_PATH)) is not None]
    folders = sorted({key.rpartition("/")[0] for key in keys})
    stored = {
        entry["Key"]: Stored(int(entry["Size"]), seconds_of(entry["LastModified"]))
        for folder in folders
        for entry in objects(api, link.bucket, f"{folder}/" if folder else "")
    }
    outside = [one for one in found if link.key(one.path, SHARED_PATH) is None]
    return JobStatus(job, safety(found, link, SHARED_PATH, stored, tasks), outside[-1] if outside else None, link)
