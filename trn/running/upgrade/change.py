"""An upgrade as a change: step by step, keys into the stack file, `pulumi up`, and a look at what EKS then has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from facts.kubernetes_versions import minors_behind
from facts.typed import typed
from trn.change.action import Action, Difference, Ended, Hold, Outcome, Pace, PulumiRun, Question, Refusal, written
from trn.change.clients import access
from trn.change.hold import cluster_lock
from trn.change.identity import File, StateId, file_id, file_of, state_id
from trn.change.occupants import Occupants, occupants, shown_occupants
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE, CommandError
from trn.cli.findings import Finding, exit_code, finding_lines, warned
from trn.cli.watching import Watching
from trn.engine.effects import Effect
from trn.engine.job_site import site_of
from trn.engine.program import record_stack
from trn.engine.recovery import refuse_misuse
from trn.engine.stack_edit import edited, refuse_uneditable, stack_text
from trn.engine.stack_file import StackFile, changed_keys, read_stack_file, with_edits
from trn.engine.stack_names import stack_path
from trn.kubernetes.client import Kubernetes
from trn.running.upgrade.check import Subject, findings_of, refuse_unknown_charts
from trn.running.upgrade.look import (
    Found,
    late_addons,
    look,
    moved,
    pending,
    refuse_foreign,
    refuse_resized,
    refuse_rolled,
    rolled,
    shown,
    standing_of,
)
from trn.running.upgrade.steps import Group, Standing, Step, minors_to, readable, release_for, settings_before, standing_file, steps
from trn.running.upgrade.timed import Timed, UpgradeStep, plan_table, refused_lines, targets_of, timed, walk_of

if TYPE_CHECKING:
    from rich.console import RenderableType

WAIT_S, LOOKS = 60, 7 * 24 * 60
"""Between two looks at jobs that are waited for, and how many: seven days."""
ROUNDS = 20
"""How often it may stop to ask about jobs, or about an edit of the stack file."""
RUN = "upgrade "


class UpgradeReport(ChangeDocument, frozen=True):
    """What `trn upgrade` would do, or did."""

    schema_: Literal["trn-upgrade"] = "trn-upgrade"
    seconds: float | None = None
    findings: tuple[Finding, ...] | None = None
    steps: tuple[UpgradeStep, ...] | None = None
    stopped_at: str | None = None
    """The step that failed; null where none did."""


@dataclass(frozen=True)
class Seen:
    """What a look saw."""

    file: StackFile
    which: File
    state: StateId
    standing: Standing
    steps: tuple[Timed, ...] = ()
    """None where everything is of the target."""
    texts: tuple[str, ...] = ()
    """Of the stack file: before the first step, and after each."""
    findings: tuple[Finding, ...] = ()
    is_resumed: bool = False
    """An earlier run was stopped on the way, and may have changed what Pulumi's state does not know of."""
    occupants: Mapping[str, Occupants] = field(default_factory=dict[str, Occupants])
    """By group that is rolled."""

    def on(self, step: Step) -> Occupants:
        """Jobs and pods on the nodes that a step rolls."""
        return self.occupants.get(step.group.name, Occupants()) if step.group is not None else Occupants()


@dataclass(frozen=True)
class Upgrade:
    """Bring a cluster to another Kubernetes minor."""

    stack_file: StackFile
    cluster: str
    to: str
    accepted: frozenset[str] = frozenset()
    """Charts whose range the caller accepts."""
    waits: bool = False
    """For jobs on nodes that are rolled."""
    interrupts: bool = False
    """The jobs on nodes that are rolled."""
    yes: bool = False
    looks: int = LOOKS
    begun: list[Timed] = field(default_factory=list[Timed])
    """Steps whose `pulumi up` has begun."""
    document = UpgradeReport
    pace = Pace(ROUNDS, WAIT_S, LOOKS + 2, in_order=True)

    @property
    def stack(self) -> str:
        """Its name."""
        return self.stack_file.stack

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"upgrade {self.stack} --to {self.to}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, _: Whose) -> Seen:
        """Checks and plan, once EKS changes nothing any more. The stack file and the state first: what changes meanwhile is seen later."""
        text, which = stack_text(self.stack, self.stack_file.root), file_id(stack_path(self.stack, self.stack_file.root))
        state, file = state_id(site.pulumi, self.stack), self._file()
        settings = settings_before(file)
        found = look(site.api, settings, Watching(site.tell, site.pause, site.show))
        minors, plane = minors_to(found.control_plane, self.to), settings.control_plane.kubernetes_version
        late, waiting, notes = list[str](), list[Effect](), list[Finding]()
        if plane == found.control_plane:
            late = late_addons(site.api, settings.name, record_stack(readable(file)))
        if readable(file) is not file:
            do = f"the program refuses this minor, so `{typed('pulumi preview')}` cannot say: see that nothing else was edited since the last `{typed('pulumi up')}`"
            notes.append(warned("stack file", f"{plane} leaves standard support", do))
        elif 0 <= minors_behind(plane, found.control_plane) <= 1:
            waiting = pending(self._pulumi(), file)
        ended = rolled(found, waiting, file)
        standing = standing_of(
            found, plane, late, [shown(effect) for effect in waiting if effect.urn not in ended], cluster=settings.name,
            is_default="kubernetes_version" not in settings.control_plane.model_fields_set, ended=ended,
        )  # fmt: skip
        refuse_foreign(waiting, file)
        planned = steps(standing, self.to, lambda group, minor: release_for(group, minor, settings))
        if not planned:
            return Seen(file, which, state, standing)
        recording = record_stack(standing_file(file, standing))
        # Each step after it finds nothing but what it writes.
        if (whole := next((number for number, step in enumerate(planned) if not targets_of(step, recording)), None)) is not None:
            written_by_then = [edit for step in planned[: whole + 1] for edit in step.edits]
            refuse_rolled(waiting, found, with_edits(file, written_by_then), planned[whole].group)
        kubernetes, there = self._inside(site, planned)
        refuse_unknown_charts(recording, self.accepted)
        # Not at the fifth step: a file that cannot be written leaves the cluster between two minors.
        refuse_uneditable(self.stack, [edit for step in planned for edit in step.edits], file.root)
        today = datetime.now(UTC).date()
        subject = Subject(site.api, kubernetes, settings.name, found, planned, minors, recording, self.accepted, there, today)
        is_resumed = bool(standing.unfinished or standing.rolled) or plane != found.control_plane
        is_resumed = is_resumed or any(group.minor != found.control_plane for group in found.groups)
        # After a whole run of its own the state is as this run left it.
        is_resumed = is_resumed and all(each.targets for each in self.begun)
        if is_resumed:
            refuse_resized(found, file)
        findings, texts = (*notes, *findings_of(subject)), [text]
        for step in planned:
            texts.append(edited(texts[-1], step.edits))
        return Seen(file, which, state, standing, tuple(timed(file, standing, planned)), tuple(texts), findings, is_resumed, there)

    def _file(self) -> StackFile:
        return read_stack_file(self.stack, self.stack_file.root)

    def _pulumi(self) -> Any:
        # Made anew: the stack file may be another one than when the command began.
        return access().pulumi(self.stack)

    def _inside(self, site: Site, planned: Sequence[Step]) -> tuple[Kubernetes | None, dict[str, Occupants]]:
        try:
            kubernetes = site.kubernetes()
            return kubernetes, {step.group.name: self._occupants(kubernetes, step.group) for step in planned if step.group is not None}
        except CommandError:
            # The check of budgets says so.
            return None, {}

    def _occupants(self, kubernetes: Kubernetes, group: Group) -> Occupants:
        settings = settings_before(self.stack_file)
        return occupants(kubernetes, group.name, settings.training.namespace, site_of(settings, self.stack))

    def refusals(self, seen: Seen) -> Iterator[Refusal]:
        """A check that fails, a step that the account refuses, and jobs of which nothing was said."""
        if exit_code(seen.findings) or any(each.errors for each in seen.steps):
            what = "nothing more was changed" if self.begun else "nothing was changed"
            yield Refusal(f"{what}: first what failed above", shown=tuple(self.shown(seen)))
        if self.yes and self._asks_now(seen):
            hint = f"add --wait to wait for their end, or --interrupt once their teams agree; docs/upgrade.md has the way with `{typed('trn roll')}`"
            yield Refusal(f"jobs run on {_jobs(seen, seen.steps[0].step)}; --yes alone does not stop them", hint, MISUSE)

    def _asks(self, seen: Seen, step: Step) -> bool:
        """Whether jobs stop for a step, and nothing was said of them in advance."""
        return bool(seen.on(step).jobs) and not self.waits and not self.interrupts

    def _asks_now(self, seen: Seen) -> bool:
        return bool(seen.steps) and self._asks(seen, seen.steps[0].step)

    def actions(self, seen: Seen) -> list[Action]:
        """The steps up to the next one that stops jobs: it is asked about when it is the first, and all else is done."""
        found, which = list[Action](), seen.which
        for number, each in enumerate(seen.steps):
            step = each.step
            if number and self._asks(seen, step):
                later = partial(_held, f"jobs run on {_jobs(seen, step)}")
                found.append(Action(f"ask before {step.title}", seen.state, "jobs run there", later, is_change=False))
                break
            before, after = seen.texts[number : number + 2]
            then = which if after == before else file_of(which.path, after)
            if self.waits and step.group is not None:
                found.append(self._wait(step.group, seen))
            because = f"interrupts {_jobs(seen, step)}" if seen.on(step).jobs and not self.waits else f"stops {each.stops}"
            do = partial(self._run, seen, number, which, then, after)
            found.append(PulumiRun(f"{RUN}{step.title}", seen.state, because, do, wanted=(which, then)))
            which = then
        return found

    # What is done

    def _run(self, seen: Seen, number: int, before: File, after: File, text: str, site: Site, _: StateId) -> Outcome:
        each = seen.steps[number]
        step, jobs = each.step, frozenset[Any]()
        if step.group is not None and not self.interrupts:
            agreed = frozenset[Any]() if self.waits else seen.on(step).objects
            jobs = frozenset(item for item in self._occupants(site.kubernetes(), step.group).objects - agreed if item.kind != "pod")
        if jobs:
            return _held(f"{', '.join(sorted(item.name for item in jobs))} has started on nodes that {step.title} rolls", site)
        if (written(before, text) if after != before else Outcome("done" if file_id(before.path) == before else "moved")).kind != "done":
            planned = with_edits(seen.file, [edit for earlier in seen.steps[:number] for edit in earlier.step.edits])
            keys = "; ".join(changed_keys(planned, self._file())) or "no key, but its text"
            return _held(f"the stack file has been edited since the plan was shown: {keys}", site, kind="moved")
        self.begun.append(each)
        site.tell(f"step {number + 1} of {len(seen.steps)}: {step.title}")
        # With targets it looks again at those alone.
        is_stale = seen.is_resumed and all(earlier.targets for earlier in seen.steps[:number])
        code, printed = self._pulumi().run(up_command(self.stack, each.targets, refresh=is_stale), {})
        if code:
            refuse_misuse(self.stack, printed)
            raise self._stopped(step, "what Pulumi printed says why")
        return Outcome("done", settled=partial(self._verified, step))

    def _stopped(self, step: Step, why: str) -> Ended:
        return Ended("failed", f"stopped at {step.title}: {why}", f"put it right, then `{typed(f'trn {self.name}')}` goes on there")

    def _verified(self, step: Step, site: Site) -> Outcome:
        """Raises Ended where EKS lacks what the step should have brought, though Pulumi said that all went well."""
        file = self._file()
        found = look(site.api, settings_before(file), Watching(site.tell, site.pause, site.show))
        if wrong := _lacks(site, self.cluster, file, found, step):
            raise self._stopped(step, f"EKS still has {wrong}")
        return Outcome("done")

    def _wait(self, group: Group, seen: Seen) -> Action:
        left = iter(range(self.looks))

        def settled(site: Site) -> Outcome | None:
            there = self._occupants(site.kubernetes(), group)
            if not there.jobs:
                return Outcome("done")
            if next(left, None) is None:
                wrong = f"jobs still run on {group.name}: {', '.join(row.name for row in there.jobs)}"
                raise CommandError(wrong, "run it again with --wait, or with --interrupt once their teams agree")
            return None

        def do(site: Site, _: StateId) -> Outcome:
            if there := self._occupants(site.kubernetes(), group).counts:
                site.tell(f"waiting for {there} on {group.name} to end")
            return Outcome("done", settled=settled)

        return Action(f"wait for the jobs on {group.name}", seen.state, "--wait", do, is_change=False)

    # What is said

    def question(self, seen: Seen) -> Question:
        """What of it can be taken back, and whom it stops."""
        now = [action.verb.removeprefix(RUN) for action in self.actions(seen) if isinstance(action, PulumiRun)]
        way = " and ".join(each.step.title for each in seen.steps if each.step.kind == "control plane")
        ends = f"{way}: cannot be taken back" if way else "what an earlier run left"
        jobs = f", and interrupt {_jobs(seen, seen.steps[0].step)}" if self._asks_now(seen) else ""
        return Question(f"Upgrade {self.cluster} in {len(now)} steps ({ends}){jobs}?")

    def shown(self, seen: Seen) -> "Iterator[RenderableType]":
        """Findings, plan, and who is on nodes that are rolled."""
        if not seen.steps:
            return
        yield from finding_lines(seen.findings)
        yield plan_table(seen.steps)
        yield from refused_lines(seen.steps)
        for group, there in seen.occupants.items():
            if there.jobs:
                yield from shown_occupants(group, there)

    def differences(self, shown: Seen, now: Seen) -> Iterator[Difference]:
        """Another run was faster, or somebody edited the stack file: the steps would write older minors, or carry out more."""
        if changed := moved(shown.standing, now.standing):
            yield Difference(f"the cluster has changed since the plan was shown: {', '.join(changed)}", is_grave=True)
        if now.which != shown.which:
            keys = "; ".join(changed_keys(shown.file, now.file)) or "no key, but its text"
            yield Difference(f"the stack file has been edited since the plan was shown: {keys}", is_grave=True)
        if now.state != shown.state:
            yield Difference(f"the state of stack `{self.stack}` has changed since it was shown", is_grave=True)

    def result(self, seen: Seen, report: Report) -> Iterator[str]:
        """How it ended."""
        if report.left:
            for action, outcome in report.left:
                yield f"stopped at {action.verb.removeprefix(RUN)}: {'; '.join(outcome.said)}"
            yield f"put it right, then `{typed(f'trn {self.name}')}` goes on there"
        elif report.outcomes:
            yield f"{self.cluster} is of {self.to}; the stack file says so too: commit it"
        elif not seen.steps:
            yield f"{self.cluster} is of {self.to}: control plane, add-ons and nodes; nothing to do"

    def data(self, seen: Seen, report: Report) -> dict[str, Any]:
        """For `--json`: with the steps of earlier rounds."""
        planned = [each.step for each in seen.steps]
        every = [*(each for each in self.begun if each.step not in planned), *seen.steps]
        done = {action.verb for action, outcome in report.outcomes if outcome.kind == "done"}
        left = [action.verb.removeprefix(RUN) for action, _ in report.left if isinstance(action, PulumiRun)]
        ended = [each.step for each in every if f"{RUN}{each.step.title}" in done]
        return {**walk_of(every, ended, next(iter(left), None)), "findings": seen.findings}


def up_command(stack: str, targets: Sequence[str], *, refresh: bool) -> tuple[str, ...]:
    """`pulumi up` of a step, for all resources or for those that it names."""
    named = tuple(word for urn in targets for word in ("--target", urn))
    return ("pulumi", "up", "--yes", "--skip-preview", *(("--refresh",) if refresh else ()), *named, "--stack", stack)


def _held(said: str, site: Site, _: Any = None, *, kind: Any = "held") -> Outcome:
    site.tell(said)
    return Outcome(kind, (said,))


def _jobs(seen: Seen, step: Step) -> str:
    """The group that a step rolls, with its jobs."""
    assert step.group is not None
    return f"{step.group.name}: {', '.join(row.name for row in seen.on(step).jobs)}"


def _lacks(site: Site, cluster: str, file: StackFile, found: Found, step: Step) -> str:
    """What EKS still has, otherwise than a step should have left it; empty for nothing."""
    if found.control_plane != step.minor:
        return f"the control plane at {found.control_plane}"
    if step.kind == "add-ons":
        return ", ".join(late_addons(site.api, cluster, record_stack(file)))
    behind = [group for group in found.groups if step.group is not None and group.name == step.group.name and group.minor != step.minor]
    return f"the nodes of {behind[0].name} at {behind[0].minor}" if behind else ""
