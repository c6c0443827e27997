"""A data set on its way to the file system, as a change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trn.change.action import Outcome
from trn.change.report import ChangeDocument
from trn.change.whose import Site
from trn.jobs.data import staging
from trn.jobs.data.folder_job import FolderJob, Seen
from trn.jobs.data.source import files_of, replacing
from trn.jobs.data.stage_plan import SHOWN, StagePlan, plan_stage


class StageReport(ChangeDocument, frozen=True):
    """What `trn data stage` did."""

    schema_: Literal["trn-data-stage"] = "trn-data-stage"
    source: str | None = None
    path: str | None = None
    files: int | None = None
    bytes: int | None = None
    job: str | None = None
    namespace: str | None = None
    started: bool | None = None
    staged: int | None = None
    """Files that are there; null where the Job has not said it."""
    verified: dict[str, int] | None = None
    """Files by the way in which they were verified."""
    failed: dict[str, str] | None = None
    """Why, by the file's name."""


@dataclass(frozen=True, kw_only=True)
class Stage(FolderJob):
    """Bring a set to a folder."""

    sums: Mapping[str, str]
    replace: Sequence[str]
    document = StageReport

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data stage {self.stack} {self.source} {self.path}"

    def plan(self, site: Site) -> StagePlan:
        """The files of the source."""
        files = replacing(files_of(self.source, site.api, self.sums), self.replace, self.source)
        return plan_stage(self.source, self.path, files, self.settings)

    def asked(self, seen: Seen) -> str:
        """How many files, and over what."""
        over = f", over what has the name of {', '.join(self.replace)} there" if self.replace else ""
        return f"Stage {seen.plan.said['files']} files to {self.path} in {self.settings.name}{over}?"

    def progress(self, log: str) -> str:
        """Files that are there."""
        staged = staging.parsed(log)
        return f"{staged.files} of {staged.total} files" if staged.total else ""

    def ended(self, plan: StagePlan, log: str, site: Site) -> Outcome:
        """Whether all are there."""
        staged = staging.parsed(log)
        self.said.update(staged=staged.files, verified=dict(staged.verified), failed=staged.failed)
        self.lines.append(plan.outcome(staged))
        for name, why in list(staged.failed.items())[:SHOWN]:
            site.tell(f"{name}: {why}")
        return Outcome("done") if plan.is_whole(staged) else Outcome("refused")
