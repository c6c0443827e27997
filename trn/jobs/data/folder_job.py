"""A Job that fills one folder of the file system, as a change: what an earlier run has left is deleted, then the Job runs to its end."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from stacks.settings import Settings
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import part_lock
from trn.change.identity import S3, Kube
from trn.change.report import Report
from trn.change.whose import Site, Whose
from trn.jobs.data import staging
from trn.jobs.rendering import path_of, reference, resource_of
from trn.jobs.submit.apply import submit
from trn.kubernetes.client import Object


class FolderPlan(Protocol):
    """What is to be in the folder, and what is made for it."""

    @property
    def job(self) -> str:
        """Name of the Job in the cluster."""
        ...

    @property
    def namespace(self) -> str:
        """Where it is."""
        ...

    @property
    def objects(self) -> tuple[Object, ...]:
        """What is made for it, the Job last."""
        ...

    @property
    def identity(self) -> S3:
        """Which set it is."""
        ...

    @property
    def summary(self) -> str:
        """One line for a person."""
        ...

    @property
    def said(self) -> dict[str, Any]:
        """The same for reports."""
        ...


@dataclass(frozen=True)
class Seen:
    """The set, and what has its names in the cluster."""

    plan: FolderPlan
    there: tuple[Object, ...]

    @property
    def job(self) -> Object | None:
        """One that fills the same folder."""
        return next((body for body in self.there if body["kind"] == "Job"), None)


@dataclass(frozen=True, kw_only=True)
class FolderJob(ABC):
    """Fill a folder."""

    stack: str
    settings: Settings
    source: str
    path: str
    is_detached: bool
    said: dict[str, Any] = field(default_factory=lambda: {"started": False})
    """What the Job has said, for `--json`."""
    lines: list[str] = field(default_factory=list[str])
    """The same, for a person."""
    pace = Pace(
        pause_s=staging.LOOK_S, waits=staging.LIFE_S // staging.LOOK_S, overdue="it has not ended; run it again: what is there is kept"
    )
    verb = "stage"
    busy = "a set is being staged to this folder already"

    @property
    @abstractmethod
    def name(self) -> str:
        """As it is typed."""

    @abstractmethod
    def plan(self, site: Site) -> FolderPlan:
        """What the source has now. Reads only."""

    @abstractmethod
    def asked(self, seen: Seen) -> str:
        """The question."""

    @abstractmethod
    def progress(self, log: str) -> str:
        """How far it is, in a few words; nothing where its log does not say it yet."""

    @abstractmethod
    def ended(self, plan: Any, log: str, site: Site) -> Outcome:
        """What became of it, by its whole log; notes it in `said` and `lines`."""

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The folder's."""
        return part_lock(self.name, site, whose, "staging", f"{whose.cluster}{self.path}")

    def look(self, site: Site, _: Whose) -> Seen:
        """The source, and what has the Job's name in the cluster."""
        plan, kubernetes = self.plan(site), site.kubernetes()
        found = [(body, kubernetes.read(path_of(body))) for body in plan.objects]
        return Seen(
            plan, tuple({**there, "apiVersion": body["apiVersion"], "kind": body["kind"]} for body, there in found if there is not None)
        )

    def refusals(self, seen: Seen) -> Iterator[Refusal]:
        """Another's object has the name, or one that fills the folder runs."""
        for body in seen.there:
            metadata = body["metadata"]
            if (metadata.get("labels") or {}).get(staging.STAGE_LABEL) != self.settings.name:
                wrong = f"the {body['kind']} {metadata['name']} in {seen.plan.namespace} is not a staging of {self.settings.name}"
                yield Refusal(wrong, "look whose it is; nothing was changed")
                return
        if seen.job is not None and not staging.has_ended(seen.job):
            yield Refusal(self.busy, f"wait for it: `kubectl -n {seen.plan.namespace} logs -f job/{seen.plan.job}`")

    def actions(self, seen: Seen) -> list[Action]:
        """What a Job owns goes with it."""
        left = [body for body in seen.there if not body["metadata"].get("ownerReferences")]
        deleted = [
            Action("delete", Kube(body["kind"], f"{seen.plan.namespace}/{seen.plan.job}", body["metadata"]["uid"]), "an earlier run left it", self._delete(body))
            for body in left
        ]  # fmt: skip
        return [*deleted, Action(self.verb, seen.plan.identity, "it was asked for", lambda site, _: self._start(seen.plan, site))]

    def _delete(self, body: Object) -> Any:
        def do(site: Site, which: Kube) -> Outcome:
            kubernetes, metadata = site.kubernetes(), body["metadata"]
            kubernetes.delete(resource_of(body), metadata["name"], metadata["namespace"], uid=which.uid)

            def settled(_: Site) -> Outcome | None:
                there = kubernetes.read(path_of(body))
                return Outcome("done") if there is None or there["metadata"]["uid"] != which.uid else None

            return Outcome("done", settled=settled)

        return do

    def _start(self, plan: FolderPlan, site: Site) -> Outcome:
        kubernetes, told = site.kubernetes(), [""]
        job = submit(list(plan.objects), kubernetes, site.tell, site.pause)
        self.said["started"] = True

        def settled(site: Site) -> Outcome | None:
            there = kubernetes.read(path_of(plan.objects[-1]))
            if there is None or there["metadata"]["uid"] != job["metadata"]["uid"]:
                return Outcome("unsure", (f"the Job {plan.job} is gone; run it again: what is on the file system is kept",))
            has_ended, log = staging.has_ended(there), staging.log_of(plan.job, plan.namespace, kubernetes)
            line = self.progress(log) or "waiting for the pod"
            if line != told[0]:
                told[0] = line
                site.tell(line)
            return self.ended(plan, log, site) if has_ended else None

        return Outcome("done", settled=None if self.is_detached else settled)

    def question(self, seen: Seen) -> Question:
        """What, and how much of it."""
        return Question(self.asked(seen))

    def shown(self, seen: Seen) -> Iterator[str]:
        """The set, and what goes before it."""
        yield seen.plan.summary
        yield from (f"{reference(body)} is deleted, which an earlier run left" for body in seen.there)

    def differences(self, shown: Seen, now: Seen) -> Iterator[Difference]:
        """Another set than was shown."""
        if now.plan.identity != shown.plan.identity:
            yield Difference(f"{self.source} has changed: {now.plan.summary}", is_grave=True)

    def result(self, seen: Seen, report: Report) -> Iterator[str]:
        """What has arrived."""
        yield from self.lines
        if self.is_detached and not report.left:
            yield f"started: `kubectl -n {seen.plan.namespace} logs -f job/{seen.plan.job}`"
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Seen, _: Report) -> dict[str, Any]:
        """For `--json`."""
        return {**seen.plan.said, **self.said}
