"""A rendered job for one cluster, as a change: looked up, judged by the server, made as a whole or not at all."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from facts.typed import typed
from trn.aws.api import Api
from trn.aws.images import has_image
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import job_lock
from trn.change.identity import Kube, New
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.findings import Finding, exit_code, finding_lines
from trn.jobs.cost import cost_of
from trn.jobs.image.change import Image, Push
from trn.jobs.precompile.plan import users_of
from trn.jobs.rendering import Rendered, path_of, reference
from trn.jobs.submit import apply, preflight
from trn.kubernetes.client import Object
from trn.kubernetes.job_pods import PODS
from trn.table import ENTRIES

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True)
class Around:
    """What a job meets in the cluster."""

    findings: tuple[Finding, ...] = ()
    there: Object | None = None
    """A job of the name."""
    is_cut_off: bool = False
    """Whether that one is this very job, by a submission that was killed before its end."""
    users: tuple[str, ...] = ()
    """Pods that use the cache which is to be filled."""
    image: Image | None = None
    """Where the image with the job's own files goes, and what is there of it."""


class JobReport(ChangeDocument, frozen=True):
    """What both commands say of the job that they make."""

    job: str | None = None
    cluster: str | None = None
    namespace: str | None = None
    launcher: str | None = None
    submitted: bool | None = None
    uid: str | None = None
    """Of the job; null where it was not made."""
    findings: tuple[Finding, ...] | None = None
    objects: tuple[str, ...] | None = None
    """Everything that is made for it, as KIND/NAME."""
    usd_per_hour: float | None = None
    usd_at_most: float | None = None


class SubmitReport(JobReport, frozen=True):
    """What `trn submit` did."""

    schema_: Literal["trn-submit"] = "trn-submit"


class RunReport(JobReport, frozen=True):
    """What `trn run` did."""

    schema_: Literal["trn-run"] = "trn-run"
    image: str | None = None
    """With the script's folder as a layer; null where that went along in a ConfigMap."""


class PrecompileReport(JobReport, frozen=True):
    """What `trn precompile` did."""

    schema_: Literal["trn-precompile"] = "trn-precompile"


@dataclass(frozen=True)
class Submit:
    """Make a job, and all that is made for it."""

    command: str
    """As it is typed: `submit dev job.yaml`."""
    draft: Rendered
    """Without what only the account says, where `render` is given."""
    cache: str = ""
    """Of a job that only fills it: no other pod may use it."""
    has_image: Callable[[Api, str], bool | None] = has_image
    push: Push | None = None
    """Of the image with the job's own files, which goes before the job."""
    is_run: bool = False
    """Whether much of it was chosen for the person, who is asked then: `trn run`."""
    render: Callable[[Api], Rendered] | None = None
    """The job with the account's registry in the image's name. The account is asked when the change first looks: where it does not
    answer, the report says so."""
    _rendered: list[Rendered] = field(default_factory=list, compare=False)

    @property
    def found(self) -> Rendered:
        """The job with all that is known of it."""
        return self._rendered[0] if self._rendered else self.draft

    @property
    def pace(self) -> Pace:
        """The image first: its repository, its layers, its name."""
        return Pace() if self.push is None else replace(self.push.pace, rounds=self.push.pace.rounds + 1, patience=(self.push.pace.rounds,))

    @property
    def name(self) -> str:
        """As it is typed."""
        return self.command

    @property
    def document(self) -> type[ChangeDocument]:
        """By the command."""
        return RunReport if self.is_run else PrecompileReport if self.cache else SubmitReport

    @property
    def _job(self) -> Object:
        return self.found.objects[-1]

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The lock of the job's name."""
        return job_lock(self.name, self._job["metadata"]["name"], self._job["metadata"]["namespace"], site, whose)

    def look(self, site: Site, whose: Whose) -> Around:
        """What the stack file cannot know, and the server's judgement of each object. Raises CommandError for what it refuses."""
        if self.render is not None and not self._rendered:
            self._rendered.append(self.render(site.api))
        kubernetes, objects = site.kubernetes(), self.found.objects
        if (there := kubernetes.read(path_of(self._job))) is not None:
            return Around(there=there, is_cut_off=apply.is_cut_off(objects, there, kubernetes))
        if self.cache and (users := users_of(self.cache, kubernetes.list(PODS, namespace=self.found.plan.site.namespace) or [])):
            return Around(users=tuple(users))
        image = self.push.look(site, whose) if self.push is not None else None
        looked = tuple(preflight.findings(self.found, kubernetes, lambda name: self.has_image(site.api, name), is_pushed=image is not None))
        if not exit_code(looked):
            apply.dry_run(objects, kubernetes)
        return Around(looked, image=image)

    def refusals(self, seen: Around) -> Iterator[Refusal]:
        """A cache that is in use, a second job of the name, which would change the one that runs, and what the cluster lacks."""
        place, name = self.found.plan.site, self._job["metadata"]["name"]
        if seen.users:
            hint = "wait for its end, or give the job a `cache.path` of its own: two that write into one cache harm each other"
            yield Refusal(f"{seen.users[0]} uses the cache {self.cache}; nothing was submitted", hint)
        if seen.there is not None and not seen.is_cut_off:
            phase, title = self.found.launcher.phase(seen.there.get("status")), self.found.launcher.title
            hint = f"give it another `name`, or `{typed(f'trn cancel {place.stack} {name}')}` first"
            yield Refusal(f"there is a {title} `{name}` in {place.namespace} already; it is {phase}; nothing was submitted", hint)
        if exit_code(seen.findings):
            yield Refusal(f"{place.cluster} cannot run {name}: nothing was submitted", shown=tuple(self.shown(seen)))
        if self.push is not None and seen.image is not None:
            yield from self.push.refusals(seen.image)

    def actions(self, seen: Around) -> list[Action]:
        """One: of the objects all are made or none. What a killed submission left is given to its job."""
        which, objects = f"{self.found.plan.site.namespace}/{self._job['metadata']['name']}", self.found.objects

        def make(site: Site, _: New) -> Outcome:
            kept = apply.submit(objects, site.kubernetes(), site.tell, site.pause)
            return Outcome("done", gave=kept["metadata"]["uid"])

        def complete(site: Site, job: Kube) -> Outcome:
            kubernetes = site.kubernetes()
            there = kubernetes.read(path_of(self._job))
            if there is None or there["metadata"]["uid"] != job.uid:
                return Outcome("moved", (f"{reference(self._job)} is another one by now",))
            apply.give(objects, job.uid, kubernetes)
            return Outcome("done", gave=job.uid)

        if seen.there is not None:
            job = Kube(self._job["kind"], which, str(seen.there["metadata"]["uid"]))
            return [Action("complete", job, "its submission was cut off", complete)]
        pushed = self.push.actions(seen.image) if self.push is not None and seen.image is not None else []
        new = New(self._job["kind"], which, path_of(self._job))
        return [*pushed, Action("submit", new, "there is none of the name", make, phase=1 if self.push is not None else 0)]

    def question(self, _: Around) -> Question | None:
        """None for a job file: what is made is new, and named by whoever submits it."""
        if not self.is_run:
            return None
        plan = self.found.plan
        return Question(f"Run {plan.job.name} on {plan.job.nodes} x {plan.nodes.instance.name}? {cost_of(plan).text}")

    def shown(self, seen: Around) -> "Iterator[Text | str]":
        """What was looked up, what is pushed, and what it costs."""
        yield from finding_lines(seen.findings)
        if self.push is not None and seen.image is not None:
            yield from self.push.shown(seen.image)
        yield f"{self.found.plan.job.name}: {cost_of(self.found.plan).text}"

    def differences(self, shown: Around, now: Around) -> Iterator[Difference]:
        """What it has to wait for by now."""
        more = [each for each in now.findings if each.verdict == "warn" and each not in shown.findings]
        yield from (Difference(f"{each.check}: {each.what}", is_grave=False) for each in more)

    def result(self, _: Around, report: Report) -> Iterator[str]:
        """How to follow it."""
        if report.left:
            yield from (text for _action, outcome in report.left for text in outcome.said)
            return
        name, place = self.found.plan.job.name, self.found.plan.site
        yield f"{name} is submitted to {place.cluster}; to follow it:"
        yield from (f"  {typed(f'trn {command} {place.stack} {name}')}" for command in ENTRIES["submit"].next)

    def data(self, seen: Around, report: Report) -> Mapping[str, Any]:
        """For `--json`."""
        place, cost = self.found.plan.site, cost_of(self.found.plan)
        uid = next((outcome.gave for _, outcome in report.outcomes if outcome.gave), None)
        return {
            "job": self.found.plan.job.name,
            "cluster": place.cluster,
            "namespace": place.namespace,
            "launcher": self.found.launcher.name,
            "submitted": uid is not None,
            "uid": uid,
            "findings": seen.findings,
            "objects": [reference(body) for body in self.found.objects],
            "usd_per_hour": cost.usd_per_hour,
            "usd_at_most": cost.usd_at_most,
            **({"image": self.found.plan.image if self.push is not None else None} if self.is_run else {}),
        }
