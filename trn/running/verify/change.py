"""Tests of a cluster, as a change: each starts a Job, waits for what it shows, and removes it before the next begins."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from facts.kubernetes_kinds import Resource
from stacks.settings import Settings
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Refusal
from trn.change.hold import job_lock
from trn.change.identity import Kube, New
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE, CommandError
from trn.cli.findings import Finding, exit_code, failed, finding_lines
from trn.kubernetes.claimed import give_templates
from trn.kubernetes.client import AlreadyThere, Conflict, Object
from trn.kubernetes.job_pods import PODS
from trn.running.status.checks import CHECKS, findings_of, guarded
from trn.running.subject import Subject, name_of
from trn.running.verify import collectives, driver, file_system, gang
from trn.running.verify.jobs import TEST_LABEL, is_of, marked
from trn.running.verify.stage import KINDS, Stage, Trial, summary

if TYPE_CHECKING:
    from rich.console import RenderableType

TRIALS: dict[str, Callable[[Stage], Iterator[Finding | Trial]]] = {
    driver.CHECK: driver.check,
    file_system.CHECK: file_system.check,
    gang.CHECK: gang.check,
    collectives.CHECK: collectives.check,
}
"""Checks that start pods, cheapest first."""
WITHOUT_CONTAINERS = (gang.CHECK,)
"""Trials that want their pods placed, and nothing of what runs in them."""
CLEAN_UP = "clean-up"
POLL_S = 3
CLEARING_S = 180
"""How long what was deleted may take to be gone: a pod on a node that is gone stays for minutes."""
WAITS = CLEARING_S // POLL_S + 2
Kind = Literal["done", "moved", "refused", "unsure"]
T = TypeVar("T")


def chosen(only: Sequence[str]) -> list[str]:
    """Names of the checks and trials to do: all, or those named. Raises CommandError for an unknown one."""
    known = [*CHECKS, *TRIALS]
    for name in only:
        if name not in known:
            raise CommandError(f"there is no check `{name}`", f"one of: {', '.join(known)}", code=MISUSE)
    return list(only) or known


class VerifyReport(ChangeDocument, frozen=True):
    """What `trn verify` found."""

    schema_: Literal["trn-verify"] = "trn-verify"
    healthy: bool | None = None
    verdict: str | None = None
    """Whether one can train on it, in a sentence."""
    findings: tuple[Finding, ...] | None = None


@dataclass(frozen=True)
class Seen:
    """What is there, and what is to be tried."""

    stage: Callable[[], Stage]
    left: tuple[tuple[Resource, Object], ...]
    """Of an earlier run: Jobs, and pods whose Job is gone."""
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class Verify:
    """Look at everything, try what only shows when it runs, and leave nothing."""

    stack: str
    settings: Settings
    small_image: str
    training_image: str | None
    checks: Sequence[str]
    """What is only looked at."""
    trials: Sequence[str]
    more: Sequence[Finding] = ()
    """What is known before."""
    clock: Callable[[], float] = time.monotonic
    looked: dict[str, list[Finding]] = field(default_factory=dict[str, list[Finding]])
    planned: dict[str, list[Finding]] = field(default_factory=dict[str, list[Finding]])
    """Of trials that were not begun, by the last look."""
    tried: dict[str, list[Finding]] = field(default_factory=dict[str, list[Finding]])
    document = VerifyReport
    pace = Pace(pause_s=POLL_S, in_order=True)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"verify {self.stack}"

    @property
    def findings(self) -> list[Finding]:
        """All there are by now. A trial that never came to its turn is a failure."""
        found = [*(finding for name in self.looked.values() for finding in name), *self.more]
        for name in self.trials:
            why = "what was started before is in the way" if CLEAN_UP in self.tried else "the run ended before it"
            none = [failed(name, f"could not check: {why}", "see clean-up" if CLEAN_UP in self.tried else "run it again")]
            found += [*self.planned.get(name, ()), *self.tried.get(name, ())] or none
        return [*found, *self.tried.get(CLEAN_UP, ())]

    def hold(self, site: Site, whose: Whose) -> Hold:
        """One verify at a time: two would wait for each other's devices."""
        return job_lock(self.name, "verify", self.settings.training.namespace, site, whose)

    def look(self, site: Site, _: Whose) -> Seen:
        """Everything that `trn status` looks at, once; and what can be tried now."""
        stage = Stage(Subject(self.settings, site.api, site.kubernetes()), self.small_image, self.training_image)
        for number, name in enumerate(each for each in self.checks if each not in self.looked):
            site.show(number, len(self.checks))
            self.looked[name] = list(findings_of(stage.subject, name))
        found = {name: list(guarded(name, TRIALS[name](stage))) for name in self.trials}
        self.planned.update({name: [each for each in parts if isinstance(each, Finding)] for name, parts in found.items()})
        jobs = [(resource, item) for resource in KINDS.values() for item in stage.own(resource)] if self.trials else []
        names = {name_of(item) for _, item in jobs}
        pods = stage.own(PODS) if self.trials else []
        alone = [(PODS, pod) for pod in pods if pod["metadata"]["labels"].get(TEST_LABEL) not in names]
        return Seen(lambda: stage, (*jobs, *alone), tuple(each for parts in found.values() for each in parts if isinstance(each, Trial)))

    def refusals(self, _: Seen) -> Iterator[Refusal]:
        """None: what cannot be tried is a finding."""
        return iter(())

    def actions(self, seen: Seen) -> list[Action]:
        """What an earlier run left goes first. Then two for each trial."""
        return [
            *(self._removal(seen.stage(), resource, item) for resource, item in seen.left),
            *(action for trial in seen.trials for action in self._trial(seen.stage(), trial)),
        ]

    def _removal(self, stage: Stage, resource: Resource, item: Object) -> Action:
        which = Kube(resource.kind, f"{stage.namespace}/{name_of(item)}", str(item["metadata"].get("uid") or ""))
        if resource == PODS:
            gone = Outcome("done", settled=self._gone(stage, PODS, which), waits=WAITS)
            return Action("wait for", which, "its Job is gone", lambda *_: gone, is_change=False)
        return Action("delete", which, "an earlier run left it", lambda site, which: self._deleted(stage, resource, which, site))

    def _trial(self, stage: Stage, trial: Trial) -> Iterator[Action]:
        place = f"{trial.resource.path}/namespaces/{stage.namespace}/{trial.resource.plural}/{trial.name}"
        which = New(trial.resource.kind, f"{stage.namespace}/{trial.name}", place)

        def own(site: Site) -> Kube | None:
            for item in stage.own(trial.resource):
                if name_of(item) == trial.name and is_of(item, site.token):
                    return Kube(which.kind, which.name, str(item["metadata"]["uid"]))
            return None

        def start(site: Site) -> Outcome:
            if hindered := list(trial.hindrance()):
                return self._note(trial.check, "refused", *hindered)
            site.tell(f"starting {trial.name}")
            try:
                made = stage.subject.kubernetes.make(trial.resource, stage.namespace, marked(trial.body, site.token))
                give_templates(stage.subject.kubernetes, trial.templates, made)
            except AlreadyThere:
                do = "look whose it is; what an earlier run left goes when this is run again"
                return self._note(
                    trial.check, "moved", failed(trial.check, f"could not check: this run did not make {which.kind} {which.name}", do)
                )
            except CommandError as error:
                # An answer that was lost may have been a yes.
                if own(site) is None:
                    return self._note(
                        trial.check, "refused", failed(trial.check, f"could not check: {error.args[0]}", error.hint or "run it again")
                    )
            return Outcome("done", settled=self._shown(stage, trial), waits=trial.limit_s // POLL_S + 2)

        def remove(site: Site) -> Outcome:
            made = own(site)
            return self._deleted(stage, trial.resource, made, site) if made else Outcome("done")

        def undo(site: Site) -> None:
            if made := own(site):
                self._deleted(stage, trial.resource, made, site)

        yield Action("try", which, f"it shows {trial.check}", lambda site, _: self._or_finding(trial.check, lambda: start(site)), undo=undo)
        yield Action("remove", which, "it is over", lambda site, _: self._or_finding(CLEAN_UP, lambda: remove(site)))

    def _deleted(self, stage: Stage, resource: Resource, which: Kube, site: Site) -> Outcome:
        name = which.name.rpartition("/")[2]
        site.tell(f"removing {name}")
        with suppress(Conflict):
            stage.subject.kubernetes.delete(resource, name, stage.namespace, uid=which.uid)
        return Outcome("done", settled=self._gone(stage, resource, which), waits=WAITS)

    def _gone(self, stage: Stage, resource: Resource, which: Kube) -> Callable[[Site], Outcome | None]:
        """Until neither it nor a pod of it is there."""
        name, looks = which.name.rpartition("/")[2], iter(range(WAITS - 2))

        def look() -> Outcome | None:
            there = [which.kind for item in stage.own(resource) if item["metadata"].get("uid") == which.uid]
            there += [PODS.kind for _ in stage.pods(name)]
            if there and next(looks, None) is not None:
                return None
            do = "`kubectl describe` says what holds it; run this again to remove it"
            left = [failed(CLEAN_UP, f"{kind} {which.name} is still there", do) for kind in dict.fromkeys(there)]
            return self._note(CLEAN_UP, "unsure", *left) if left else Outcome("done")

        return lambda _: self._or_finding(CLEAN_UP, look)

    def _shown(self, stage: Stage, trial: Trial) -> Callable[[Site], Outcome | None]:
        """Until its pods show it, or the time is over."""
        began, said = self.clock(), [""]

        def shown(site: Site) -> Iterator[Finding | None]:
            pods = stage.pods(trial.name)
            if trial.is_over(pods) or self.clock() - began >= trial.limit_s:
                yield from trial.judged(pods)
                return
            if summary(pods) != said[0]:
                said[0] = summary(pods)
                site.tell(f"{trial.name}: {said[0]}")
            yield None

        def settled(site: Site) -> Outcome | None:
            found = list(guarded(trial.check, shown(site)))
            return None if found == [None] else self._note(trial.check, "done", *(each for each in found if each is not None))

        return settled

    def _note(self, check: str, kind: Kind, *findings: Finding) -> Outcome:
        self.tried.setdefault(check, []).extend(findings)
        return Outcome(kind, tuple(each.what for each in findings))

    def _or_finding(self, check: str, act: Callable[[], T]) -> T | Outcome:
        """What cannot be done is a finding, and ends the tests."""
        (found,) = guarded(check, (act() for _ in range(1)))
        return self._note(check, "unsure", found) if isinstance(found, Finding) else found

    def question(self, _: Seen) -> None:
        """None: what it starts is new and its own."""

    def shown(self, seen: Seen) -> Iterator[str]:
        """What an earlier run left."""
        yield from (
            f"{resource.kind} {self.settings.training.namespace}/{name_of(item)} is of an earlier run: it goes first"
            for resource, item in seen.left
        )

    def differences(self, _shown: Seen, _now: Seen) -> Iterator[Difference]:
        """None that matters: what can be tried is judged again."""
        return iter(())

    def result(self, _: Seen, _report: Report) -> "Iterator[RenderableType]":
        """All findings, and what they come to."""
        yield from finding_lines(self.findings)
        yield verdict(self.settings.name, self.findings)

    def data(self, _: Seen, _report: Report) -> Mapping[str, Any]:
        """For `--json`."""
        found = self.findings
        return {"healthy": exit_code(found) == 0, "verdict": verdict(self.settings.name, found), "findings": found}


def verdict(cluster: str, findings: Sequence[Finding]) -> str:
    """Whether one can train on it, in a sentence."""
    checks = {word: ", ".join(dict.fromkeys(item.check for item in findings if item.verdict == word)) for word in ("fail", "warn", "skip")}
    if checks["fail"]:
        return f"{cluster} is not ready for training: {checks['fail']} failed"
    but = "".join(
        f"; {text}" for text in (checks["warn"] and f"look at {checks['warn']}", checks["skip"] and f"not tried: {checks['skip']}") if text
    )
    return f"{cluster} is ready for training{but}"
