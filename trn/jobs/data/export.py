"""An export of a folder of the file system to S3, as a change: one task of FSx, which runs on after the command."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from facts.typed import typed
from stacks.settings import Settings
from training.job import SHARED_PATH
from trn.aws.repository import begin_export, exports
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import part_lock
from trn.change.identity import Aws
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE
from trn.jobs.data.place import Place, linked_file_system
from trn.jobs.data.safety import RUNNING


@dataclass(frozen=True)
class Linked:
    """Where a folder goes, and what is on its way."""

    place: Place
    key: str | None
    """Of the folder in the bucket; None where it is not linked to one."""
    running: str
    """The task that exports now; empty where none does."""

    @property
    def to(self) -> str:
        """Where it will be."""
        return f"s3://{self.place.link.bucket}/{self.key}"


class ExportReport(ChangeDocument, frozen=True):
    """What `trn data export` did."""

    schema_: Literal["trn-data-export"] = "trn-data-export"
    file_system: str | None = None
    path: str | None = None
    """From the root of the file system."""
    to: str | None = None
    started: bool | None = None
    task: str | None = None
    """Id of the export; null where none was begun."""


@dataclass(frozen=True)
class Export:
    """Have FSx export what is new or changed in a folder."""

    stack: str
    settings: Settings
    path: str
    """In a pod."""
    task: dict[str, Any] = field(default_factory=dict[str, Any])
    """As FSx has begun it."""
    document = ExportReport
    pace = Pace()

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data export {self.stack} {self.path}"

    @property
    def inside(self) -> str:
        """From the root of the file system."""
        return self.path.removeprefix(SHARED_PATH).strip("/")

    def hold(self, site: Site, whose: Whose) -> Hold:
        """That of all exports: FSx runs one at a time."""
        return part_lock(self.name, site, whose, "export", whose.cluster)

    def look(self, site: Site, whose: Whose) -> Linked:
        """The link, and its tasks."""
        place = linked_file_system(site.api, whose.ownership, self.settings)
        running = [task["TaskId"] for task in exports(site.api, place.file_system) if task["Lifecycle"] in RUNNING]
        return Linked(place, place.link.key(self.path, SHARED_PATH), running[0] if running else "")

    def refusals(self, seen: Linked) -> Iterator[Refusal]:
        """A folder that is never in S3, and an export that runs."""
        if seen.key is None:
            linked = f"{SHARED_PATH}{seen.place.link.folder}".rstrip("/")
            wrong = f"`{self.path}` is not linked to S3\n  allowed: a folder below {linked}"
            yield Refusal(wrong, f"write checkpoints below {linked}", MISUSE)
        if seen.running:
            hint = f"`{typed(f'trn data status {self.stack}')}` says how far it is"
            yield Refusal(f"{seen.running} exports already; FSx runs one at a time", hint)

    def actions(self, seen: Linked) -> list[Action]:
        """One task. FSx itself refuses a second one, and takes a request that is sent twice for one."""
        place = seen.place

        def do(site: Site, _: Aws) -> Outcome:
            self.task.update(begin_export(site.api, place.file_system, self.inside, place.tags, site.token))
            return Outcome("done")

        link = Aws("link", f"of {place.file_system} to {place.link.uri}", place.link.id, place.link.made_at)
        return [Action(f"export {self.path} to {seen.to}", link, "it was asked for", do)]

    def question(self, seen: Linked) -> Question:
        """Whether it is exported."""
        return Question(f"Export {self.path} of {seen.place.file_system}?")

    def shown(self, seen: Linked) -> Iterator[str]:
        """From where to where."""
        itself = ", which FSx does by itself too" if seen.place.link.exports_itself else ""
        yield f"{self.path} of {seen.place.file_system} to {seen.to}{itself}"

    def differences(self, *_: Linked) -> Iterator[Difference]:
        """None beside the link."""
        yield from ()

    def result(self, _: Linked, report: Report) -> Iterator[str]:
        """The task, and how it is followed."""
        if self.task:
            yield f"{self.task['TaskId']} is {self.task['Lifecycle']}: `{typed(f'trn data status {self.stack}')}` follows it"
        else:
            yield "nothing was started"
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Linked, _: Report) -> dict[str, Any]:
        """For `--json`."""
        return {
            "file_system": seen.place.file_system,
            "path": self.inside,
            "to": seen.to,
            "started": bool(self.task),
            "task": self.task.get("TaskId"),
        }
