"""An upgrade of one stack's cluster: the look before, and the run under the cluster's lock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from facts.kubernetes_versions import minors_behind
from stacks.settings import Settings
from trn.aws.api import Api
from trn.aws.lock import locked, this_run
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.change.occupants import Occupants, occupants
from trn.change.ownership import Consent, StackCluster, agreed, read_ownership, refuse_change, refuse_mismatch
from trn.cli.errors import CommandError
from trn.cli.findings import Finding, warned
from trn.cli.watching import Watching
from trn.engine.effects import Effect
from trn.engine.job_site import site_of
from trn.engine.program import record_stack
from trn.engine.stack_edit import edit_stack, refuse_uneditable
from trn.engine.stack_file import StackFile, changed_keys, read_stack_file, with_edits
from trn.kubernetes.client import Kubernetes
from trn.running.upgrade.check import Subject, findings_of, refuse_unknown_charts
from trn.running.upgrade.configuration import readable, settings_before, standing_file
from trn.running.upgrade.look import late_addons, look, pending, refuse_foreign, refuse_moved, shown, standing_of
from trn.running.upgrade.path import minors_to
from trn.running.upgrade.releases import release_for
from trn.running.upgrade.run import Choices, Outcome, Ways, run
from trn.running.upgrade.steps import Group, Standing, Step, steps
from trn.running.upgrade.timed import Timed, timed


@dataclass(frozen=True)
class Before:
    """What is known before anything is changed."""

    settings: Settings
    standing: Standing
    minors: tuple[str, ...]
    steps: tuple[Timed, ...]
    """Empty where everything is of the target."""
    findings: tuple[Finding, ...]
    is_resumed: bool
    """An earlier run was stopped on the way."""


def look_before(api: Api, stack_file: StackFile, settings: Settings, target: str, accepted: frozenset[str], watching: Watching) -> Before:
    """Checks and plan; reads only. Raises CommandError where it is not this stack's cluster, there is no way, or a step's settings are refused."""
    subject = StackCluster(stack_file.project, stack_file.stack, settings.name)
    refuse_mismatch(read_ownership(api, access().pulumi(stack_file.stack), subject))
    found = look(api, settings, watching)
    minors = minors_to(found.control_plane, target)
    plane = settings.control_plane.kubernetes_version
    notes = list[Finding]()
    late, waiting = list[str](), list[Effect]()
    if plane == found.control_plane:
        late = late_addons(api, settings.name, record_stack(readable(stack_file)))
    if readable(stack_file) is not stack_file:
        do = "the program refuses this minor, so `pulumi preview` cannot say: see that nothing else was edited since the last `pulumi up`"
        notes.append(warned("stack file", f"{plane} leaves standard support", do))
    elif 0 <= minors_behind(plane, found.control_plane) <= 1:
        waiting = pending(access().pulumi(stack_file.stack), stack_file)
    standing = standing_of(
        found, plane, late, [shown(effect) for effect in waiting], cluster=settings.name,
        is_default="kubernetes_version" not in settings.control_plane.model_fields_set,
    )  # fmt: skip
    refuse_foreign(waiting, stack_file)
    planned = steps(standing, target, lambda group, minor: release_for(group, minor, settings))
    is_resumed = (
        bool(standing.unfinished) or plane != found.control_plane or any(group.minor != found.control_plane for group in found.groups)
    )
    if not planned:
        return Before(settings, standing, minors, (), (), is_resumed)
    kubernetes, there = _inside(api, settings, stack_file.stack, planned)
    recording = record_stack(standing_file(stack_file, standing))
    refuse_unknown_charts(recording, accepted)
    today = datetime.now(UTC).date()
    looked_at = Subject(api, kubernetes, settings.name, found, planned, minors, recording, accepted, there, today)
    findings = (*notes, *findings_of(looked_at))
    return Before(settings, standing, minors, tuple(timed(stack_file, standing, planned)), findings, is_resumed)


def _inside(api: Api, settings: Settings, stack: str, planned: list[Step]) -> tuple[Kubernetes | None, dict[str, Occupants]]:
    try:
        kubernetes = cluster_of(api, settings.name)
        groups = [step.group for step in planned if step.group is not None]
        return kubernetes, {group.name: _occupants(kubernetes, settings, stack, group) for group in groups}
    except CommandError:
        # The check of budgets says so.
        return None, {}


def _occupants(kubernetes: Kubernetes, settings: Settings, stack: str, group: Group) -> Occupants:
    return occupants(kubernetes, group.name, settings.training.namespace, site_of(settings, stack))


@dataclass(frozen=True)
class Upgrade:
    """One run, with everything it changes."""

    api: Api
    stack_file: StackFile
    before: Before
    consent: Consent
    watching: Watching

    def run(self, choices: Choices, show: Callable[[str, Occupants], None], *, break_lock: bool) -> Outcome:
        """Ask, take the lock, and walk the steps. Raises CommandError where it is not this stack's cluster, or jobs are in the way."""
        stack, settings = self.stack_file.stack, self.before.settings
        subject = StackCluster(self.stack_file.project, stack, settings.name)
        ownership = read_ownership(self.api, access().pulumi(stack), subject)
        agreed(ownership, self.consent, self.watching.tell)
        # Not at the fifth step: a file that cannot be written leaves the cluster between two minors.
        refuse_uneditable(stack, [edit for timed in self.before.steps for edit in timed.step.edits], self.stack_file.root)
        way = " and ".join(timed.step.title for timed in self.before.steps if timed.step.kind == "control plane")
        ends = f"{way}: cannot be taken back" if way else "what an earlier run left"
        self.consent.agree(f"Upgrade {settings.name} in {len(self.before.steps)} steps ({ends})?")
        holder = this_run(ownership.caller, f"upgrade {stack} --to {self.before.minors[-1]}")
        with locked(self.api, settings.name, holder, self.watching.tell, break_lock=break_lock) as lock:

            def check() -> None:
                lock.refuse_lost()
                refuse_change(self.api, ownership)

            def edited(done: Sequence[Step]) -> Sequence[str]:
                planned = with_edits(self.stack_file, [edit for step in done for edit in step.edits])
                return changed_keys(planned, read_stack_file(stack, self.stack_file.root))

            ways = Ways(
                pulumi=lambda: access().pulumi(stack),
                edit=lambda edits: edit_stack(stack, edits, self.stack_file.root),
                occupants=lambda group: _occupants(cluster_of(self.api, settings.name), settings, stack, group),
                show=show,
                verify=self._verify,
                check=check,
                edited=edited,
            )
            # While the question stood, another operator may have upgraded: the lock was theirs then.
            refuse_moved(self.before.standing, look(self.api, settings, self.watching))
            return run(stack, self.before.steps, ways, choices, self.consent, self.watching, is_resumed=self.before.is_resumed)

    def _verify(self, step: Step) -> str:
        """What EKS does not have yet, though Pulumi said that all went well."""
        file = read_stack_file(self.stack_file.stack, self.stack_file.root)
        found = look(self.api, settings_before(file), self.watching)
        if found.control_plane != step.minor:
            return f"EKS still has the control plane at {found.control_plane}"
        if step.kind == "add-ons":
            late = late_addons(self.api, self.before.settings.name, record_stack(file))
            return f"EKS still has {', '.join(late)}" if late else ""
        if step.group is not None:
            there = next((group.minor for group in found.groups if group.name == step.group.name), step.minor)
            return f"EKS still has the nodes of {step.group.name} at {there}" if there != step.minor else ""
        return ""
