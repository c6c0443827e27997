"""The end of one job of any kind, as a change: asked for, followed until nothing of the job is left, with a worker's word of its checkpoint."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from facts.kubernetes_kinds import Resource
from facts.typed import typed
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import job_lock
from trn.change.identity import Kube
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE
from trn.kubernetes.cancellation import MARGIN_S, CancelPlan, LastLog, log_path
from trn.kubernetes.client import Conflict, Kubernetes, Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.jobs.job import JOB_KINDS
from trn.kubernetes.jobs.look import look, makers
from trn.kubernetes.kinds import SYSTEM

PAUSE_S = 5
"""Between two looks."""


@dataclass(frozen=True)
class Found:
    """The job, and where it is."""

    plan: CancelPlan
    where: str
    """The cluster, for the question."""


@dataclass(frozen=True)
class Ending:
    """What became of it."""

    is_gone: bool
    saved_step: int | None
    """Step of the checkpoint that was written on request; None where no worker said so."""


class CancelReport(ChangeDocument, frozen=True):
    """What `trn cancel` did."""

    schema_: Literal["trn-cancel"] = "trn-cancel"
    job: str | None = None
    """As KIND/NAME."""
    is_gone: bool | None = None
    checkpoint_expected: bool | None = None
    checkpoint_step: int | None = None
    """Of the checkpoint that was written on request; null where no worker said so."""


@dataclass(frozen=True)
class Cancel:
    """Delete a job. Its workers are asked for a checkpoint first, unless it is to end at once."""

    stack: str
    job: str
    """Its name, or `jobs.batch/NAME`."""
    namespace: str
    now: bool = False
    document = CancelReport
    pace = Pace(pause_s=PAUSE_S)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"cancel {self.stack} {self.job}" + (" --now" if self.now else "")

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The lock of the job's name."""
        return job_lock(self.name, self.job.rpartition("/")[2], self.namespace, site, whose)

    def look(self, site: Site, whose: Whose) -> Found:
        """The job with its pods. Raises CommandError where there is none."""
        view, identity = look(site.kubernetes(), self.namespace), whose.ownership.identity
        plan = CancelPlan(view.named(self.job, self.namespace), self.now, view.owners)
        return Found(plan, f"{whose.cluster} in {identity.region}, account {identity.account}")

    def refusals(self, seen: Found) -> Iterator[Refusal]:
        """A job that another object would make again, and an add-on's."""
        job = seen.plan.job
        if job.owner:
            kind, _, name = job.owner.partition(" ")
            yield Refusal(
                f"{job.reference} belongs to {kind} {name}, which would make it again", f"`{typed(f'trn cancel {name}')}`", MISUSE
            )
        if job.namespace in SYSTEM:
            hint = f"turn the add-on off in the stack file and run `{typed('pulumi up')}`"
            yield Refusal(f"{job.reference} is in {job.namespace}, a namespace of Kubernetes or of an add-on", hint, MISUSE)

    def actions(self, seen: Found) -> list[Action]:
        """The job's deletion; where it is to end at once, each of its pods' too. The last waits for the end of all."""
        plan = seen.plan
        pods = plan.own_pods if plan.now else []
        found = [(plan.resource, _identity(plan.resource, plan.job.item), f"it is {plan.job.phase}", None)]
        found += [(PODS, _identity(PODS, pod), "it gets no time", plan.grace_s) for pod in pods]

        def action(number: int) -> Action:
            resource, which, because, grace_s = found[number]
            name, is_last = which.name.rpartition("/")[2], number == len(found) - 1

            def do(site: Site, which: Kube) -> Outcome:
                kubernetes = site.kubernetes()
                log = LastLog(kubernetes, log_path(plan), plan.grace_s + MARGIN_S).start() if plan.saves else None
                try:
                    kubernetes.delete(resource, name, plan.job.namespace, uid=which.uid, grace_s=grace_s)
                except Conflict:
                    return Outcome("moved", (f"another {resource.kind} has the name {name} by now",))
                if number == 0:
                    site.tell(f"deleting {plan.job.reference}; its pods have {plan.grace_s} s to end")
                return _followed(plan, kubernetes, log) if is_last else Outcome("done")

            # Consent to a job is consent to its pods, whichever these are by then.
            return Action("delete", which, because, do, follows=lambda confirmed: confirmed.object == found[0][1])

        return [action(number) for number in range(len(found))]

    def question(self, seen: Found) -> Question:
        """Always."""
        return Question(f"Cancel {seen.plan.job.reference} in {seen.where}?")

    def shown(self, seen: Found) -> Iterator[str]:
        """What ends, what is lost, and what is left."""
        yield from seen.plan.lines
        for pod in seen.plan.job.pods if self.now else ():
            if pod not in seen.plan.own_pods:
                yield f"pod {pod['metadata']['name']} bears the job's label and was not shown to be made by it: it is left"

    def differences(self, shown: Found, now: Found) -> Iterator[Difference]:
        """Another job of the name, and another loss."""
        if now.plan.uid != shown.plan.uid:
            yield Difference(f"{now.plan.job.reference} was made again meanwhile", is_grave=True)
        yield from (Difference(line, is_grave=True) for line in now.plan.lines[1:] if line not in shown.plan.lines)

    def result(self, seen: Found, report: Report) -> Iterator[str]:
        """How it ended."""
        plan, ending = seen.plan, _ending(report)
        left = [(action, outcome) for action, outcome in report.left if outcome.gave is None]
        yield from (f"{action.object.kind} {action.object.name}: {'; '.join(outcome.said)}" for action, outcome in left)
        if not ending.is_gone:
            if left:
                return
            yield f"{plan.job.reference} is still there: `{typed(f'trn why {self.stack} {plan.job.name}')}`, or run this again"
        elif plan.saves and ending.saved_step is None:
            yield f"{plan.job.reference} is gone, and no worker said that it saved a checkpoint: the last one in {plan.folder} counts"
        else:
            kept = f", with a checkpoint of step {ending.saved_step} in {plan.folder}" if ending.saved_step is not None else ""
            yield f"{plan.job.reference} is gone{kept}"

    def data(self, seen: Found, report: Report) -> Mapping[str, Any]:
        """For `--json`."""
        ending = _ending(report)
        return {
            "job": seen.plan.job.reference,
            "is_gone": ending.is_gone,
            "checkpoint_expected": seen.plan.saves,
            "checkpoint_step": ending.saved_step,
        }


def _identity(resource: Resource, item: Object) -> Kube:
    metadata = item["metadata"]
    return Kube(resource.kind, f"{metadata['namespace']}/{metadata['name']}", str(metadata.get("uid") or ""))


def _ending(report: Report) -> Ending:
    return next((outcome.gave for _, outcome in report.outcomes if outcome.gave is not None), Ending(False, None))


def _followed(plan: CancelPlan, kubernetes: Kubernetes, log: LastLog | None) -> Outcome:
    """Waits until neither the job nor anything that it made is there: an operator may make some of it again before it hears of the end."""
    ever, waits = dict(plan.owners), (plan.grace_s + MARGIN_S) // PAUSE_S
    looks = iter(range(waits))

    def settled(site: Site) -> Outcome | None:
        there = makers(kubernetes, plan.job.namespace, [kind.resource for kind in JOB_KINDS])
        ever.update(there)
        is_gone = not plan.own(ever) & there.keys()
        if not is_gone and next(looks, None) is not None:
            return None
        step = log.saved_step() if log is not None else None
        if log is not None and log.wrong:
            site.tell(f"the log of its first pod could not be read to the end: {log.wrong}")
        if not is_gone:
            return Outcome("unsure", ("it is still there",), gave=Ending(False, step))
        if plan.saves and step is None:
            return Outcome("unsure", ("no worker said that it saved a checkpoint",), gave=Ending(True, None))
        return Outcome("done", gave=Ending(True, step))

    return Outcome("done", settled=settled, waits=waits + 1)
