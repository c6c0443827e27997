"""A set of token shards made of text by a CPU job, as a change."""

from dataclasses import dataclass
from typing import Any, Literal

from training.job import Job
from training.site import Site as Cluster
from trn.change.action import Outcome, Pace
from trn.change.report import ChangeDocument
from trn.change.whose import Site
from trn.jobs.data import staging
from trn.jobs.data.folder_job import FolderJob, Seen
from trn.jobs.data.prepare_plan import LIFE_S, PreparePlan, how_far, need_data, outcome, parsed, plan_prepare, request_of


class PrepareReport(ChangeDocument, frozen=True):
    """What `trn data prepare` did."""

    schema_: Literal["trn-data-prepare"] = "trn-data-prepare"
    source: str | None = None
    path: str | None = None
    tokenizer: str | None = None
    files: int | None = None
    bytes: int | None = None
    job: str | None = None
    namespace: str | None = None
    started: bool | None = None
    fingerprint: str | None = None
    """Of what is in the set; null where it is not whole."""
    tokens: dict[str, int] | None = None
    """By split."""
    tokens_per_second: int | None = None
    """Packed in the last run; null where it was made before."""
    why: str | None = None
    """Why there is no set."""


@dataclass(frozen=True, kw_only=True)
class PreparedOn:
    """Where the pod runs."""

    image: str
    cpus: int
    memory_gib: int


@dataclass(frozen=True, kw_only=True)
class PrepareData(FolderJob):
    """Make a set."""

    file: str
    job: Job
    cluster: Cluster
    on: PreparedOn
    token: str
    document = PrepareReport
    pace = Pace(pause_s=staging.LOOK_S, waits=LIFE_S // staging.LOOK_S, overdue="it has not ended; run it again: it goes on where it was")
    verb = "prepare"
    busy = "a set is being made in this folder, or staged to it, already"

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data prepare {self.stack} {self.file}"

    def plan(self, site: Site) -> PreparePlan:
        """The files of the text."""
        request = request_of(*need_data(self.job, self.file), site.api, self.token)
        return plan_prepare(self.job, self.cluster, request, self.on.image, self.on.cpus, self.on.memory_gib)

    def asked(self, seen: Seen) -> str:
        """Where it is made, and by what."""
        files = f" of {seen.plan.said['files']} files" if seen.plan.said["files"] else ""
        return f"Prepare {self.path}{files} on an ordinary node of {self.settings.name} ({self.on.cpus} CPUs, {self.on.memory_gib} GiB)?"

    def progress(self, log: str) -> str:
        """Files, tokens and time that is left."""
        return how_far(parsed(log))

    def ended(self, plan: PreparePlan, log: str, site: Site) -> Outcome:
        """Whether the set is whole."""
        found = parsed(log)
        if found.done is None:
            why = found.why or "its pod ended without a word: `kubectl describe` it"
            self.said.update(why=why)
            site.tell(why)
            return Outcome("refused")
        tokens: dict[str, Any] = {name: split["tokens"] for name, split in found.done["splits"].items()}
        self.said.update(fingerprint=found.done["fingerprint"], tokens=tokens, tokens_per_second=found.done.get("tokens_per_s"))
        self.lines.extend(outcome(plan.path, found.done))
        return Outcome("done")
