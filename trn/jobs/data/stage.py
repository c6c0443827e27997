"""A data set on its way to the file system, as a change: what an earlier run has left is deleted, then a Job brings the set."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from stacks.settings import Settings
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import part_lock
from trn.change.identity import S3, Kube
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.jobs.data import staging
from trn.jobs.data.source import files_of, replacing
from trn.jobs.data.stage_plan import SHOWN, StagePlan, plan_stage
from trn.jobs.rendering import path_of, reference, resource_of
from trn.jobs.submit.apply import submit
from trn.kubernetes.client import Object


@dataclass(frozen=True)
class Place:
    """The set, and what has its names in the cluster."""

    plan: StagePlan
    there: tuple[Object, ...]

    @property
    def files(self) -> S3:
        """Which set it is: names and ETags of all its files. Their addresses are others at each look."""
        listed = [[each.name, each.etag, each.size, each.replace] for each in self.plan.files]
        digest = hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]
        return S3(f"{self.plan.source} to {self.plan.path}", f"{self.plan.source} {self.plan.path} {digest}")

    @property
    def job(self) -> Object | None:
        """A staging to the same folder."""
        return next((body for body in self.there if body["kind"] == "Job"), None)


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


@dataclass(frozen=True)
class Stage:
    """Bring a set to a folder."""

    stack: str
    settings: Settings
    source: str
    path: str
    sums: Mapping[str, str]
    replace: Sequence[str]
    is_detached: bool
    said: dict[str, Any] = field(default_factory=lambda: {"started": False})
    """What the Job has said, for `--json`."""
    lines: list[str] = field(default_factory=list[str])
    """The same, for a person."""
    document = StageReport
    pace = Pace(
        pause_s=staging.LOOK_S, waits=staging.LIFE_S // staging.LOOK_S, overdue="it has not ended; run it again: what is there is kept"
    )

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"data stage {self.stack} {self.source} {self.path}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The folder's."""
        return part_lock(self.name, site, whose, "staging", f"{whose.cluster}{self.path}")

    def look(self, site: Site, _: Whose) -> Place:
        """The files of the source, and what has the Job's name in the cluster."""
        files = replacing(files_of(self.source, site.api, self.sums), self.replace, self.source)
        plan, kubernetes = plan_stage(self.source, self.path, files, self.settings), site.kubernetes()
        found = [(body, kubernetes.read(path_of(body))) for body in plan.objects]
        return Place(
            plan, tuple({**there, "apiVersion": body["apiVersion"], "kind": body["kind"]} for body, there in found if there is not None)
        )

    def refusals(self, seen: Place) -> Iterator[Refusal]:
        """Another's object has the name, or the staging runs."""
        for body in seen.there:
            metadata = body["metadata"]
            if (metadata.get("labels") or {}).get(staging.STAGE_LABEL) != self.settings.name:
                wrong = f"the {body['kind']} {metadata['name']} in {seen.plan.namespace} is not a staging of {self.settings.name}"
                yield Refusal(wrong, "look whose it is; nothing was changed")
                return
        if seen.job is not None and not staging.has_ended(seen.job):
            hint = f"wait for it: `kubectl -n {seen.plan.namespace} logs -f job/{seen.plan.job}`"
            yield Refusal("a set is being staged to this folder already", hint)

    def actions(self, seen: Place) -> list[Action]:
        """What a Job owns goes with it."""
        left = [body for body in seen.there if not body["metadata"].get("ownerReferences")]
        deleted = [
            Action("delete", Kube(body["kind"], f"{seen.plan.namespace}/{seen.plan.job}", body["metadata"]["uid"]), "an earlier run left it", self._delete(body))
            for body in left
        ]  # fmt: skip
        return [*deleted, Action("stage", seen.files, "it was asked for", lambda site, _: self._start(seen.plan, site))]

    def _delete(self, body: Object) -> Any:
        def do(site: Site, which: Kube) -> Outcome:
            kubernetes, metadata = site.kubernetes(), body["metadata"]
            kubernetes.delete(resource_of(body), metadata["name"], metadata["namespace"], uid=which.uid)

            def settled(_: Site) -> Outcome | None:
                there = kubernetes.read(path_of(body))
                return Outcome("done") if there is None or there["metadata"]["uid"] != which.uid else None

            return Outcome("done", settled=settled)

        return do

    def _start(self, plan: StagePlan, site: Site) -> Outcome:
        kubernetes, told = site.kubernetes(), [""]
        job = submit(list(plan.objects), kubernetes, site.tell, site.pause)
        self.said["started"] = True

        def settled(site: Site) -> Outcome | None:
            there = kubernetes.read(path_of(plan.objects[-1]))
            if there is None or there["metadata"]["uid"] != job["metadata"]["uid"]:
                return Outcome("unsure", (f"the Job {plan.job} is gone; run it again: what is on the file system is kept",))
            ended, staged = staging.has_ended(there), staging.progress(plan.job, plan.namespace, kubernetes)
            line = f"{staged.files} of {staged.total} files" if staged.total else "waiting for the pod"
            if line != told[0]:
                told[0] = line
                site.tell(line)
            if not ended:
                return None
            self.said.update(staged=staged.files, verified=dict(staged.verified), failed=staged.failed)
            self.lines.append(plan.outcome(staged))
            for name, why in list(staged.failed.items())[:SHOWN]:
                site.tell(f"{name}: {why}")
            return Outcome("done") if plan.is_whole(staged) else Outcome("refused")

        return Outcome("done", settled=None if self.is_detached else settled)

    def question(self, seen: Place) -> Question:
        """How many files, and over what."""
        over = f", over what has the name of {', '.join(self.replace)} there" if self.replace else ""
        return Question(f"Stage {len(seen.plan.files)} files to {self.path} in {self.settings.name}{over}?")

    def shown(self, seen: Place) -> Iterator[str]:
        """The set, and what goes before it."""
        yield seen.plan.summary
        yield from (f"{reference(body)} is deleted, which an earlier run left" for body in seen.there)

    def differences(self, shown: Place, now: Place) -> Iterator[Difference]:
        """Another set than was shown."""
        if now.files != shown.files:
            yield Difference(f"{self.source} has changed: {now.plan.summary}", is_grave=True)

    def result(self, seen: Place, report: Report) -> Iterator[str]:
        """What has arrived."""
        yield from self.lines
        if self.is_detached and not report.left:
            yield f"started: `kubectl -n {seen.plan.namespace} logs -f job/{seen.plan.job}`"
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Place, _: Report) -> dict[str, Any]:
        """For `--json`."""
        return {**seen.plan.said, **self.said}
