"""A destroy of one stack from its first look to its end: what must hold before anything is drained, the question, and the steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from trn.aws.api import Api
from trn.aws.control_plane import described
from trn.aws.leftovers import KINDS, Found
from trn.aws.lock import locked, this_run
from trn.aws.places import look, place_of
from trn.change.ownership import Consent, Ownership, StackCluster, chosen_stack, read_ownership, refuse_change, refuse_mismatch
from trn.change.sweep_plan import Keeping, SweepPlan
from trn.cli.errors import MISUSE, CommandError, OwnershipError
from trn.cli.watching import Watching
from trn.ending.destroy import run
from trn.ending.drain.run import asking
from trn.ending.sweep.run import judged
from trn.ending.sweep.stack import Choices, bound, sweep_of
from trn.engine.pulumi import NO_STACK, Pulumi
from trn.engine.recovery import refuse_locked, refuse_misuse
from trn.engine.stack_state import ask_state


@dataclass(frozen=True)
class Before:
    """What is known before anything is drained."""

    ownership: Ownership
    keeping: Keeping
    """For the sweep: whose objects, and which data."""
    found: tuple[Found, ...]
    """Everything that carries the cluster's name now."""
    leftovers: SweepPlan
    """Of it, what the sweep deletes: Pulumi does not know it."""
    busy: run.Busy | None
    """The cluster from inside, and what a drain does there; None where there is no cluster, or none in which anything runs."""


def destroy_stack(
    api: Api, pulumi: Pulumi, subject: StackCluster, consent: Consent, watching: Watching, choices: Choices,
    *, is_protected: bool, shown: Callable[[Before], None], swept: Callable[[SweepPlan], None], report: run.Report | None = None,
) -> run.Report:  # fmt: skip
    """Drain, destroy and sweep one stack.

    `is_protected`: the settings' `deletionProtection`. `shown` and `swept` are called with what is about to be asked. `report`: takes
    what is done, however it ends. Raises CommandError, with nothing drained, where it is not this stack's cluster, or may not be
    destroyed now; and in the midst, where more would go than was confirmed.
    """
    report = run.Report() if report is None else report
    before = look_before(api, pulumi, subject, choices, consent.identity, watching, is_protected=is_protected)
    refuse_locked(pulumi, subject.stack, before.ownership.state.root)
    report.identity, report.unseen = before.ownership.identity, dict(before.busy.plan.unknown) if before.busy else {}
    shown(before)
    if report.unseen:
        consent.type_name(subject.cluster, "it is not known what runs in the cluster, and all of it goes with it: see `not known` above")
    if choices.final_backup and before.ownership.state.unsaved:
        consent.agree_apart(*without_backup(before.ownership))
    if not before.ownership.is_proven and before.leftovers.deletions:
        consent.type_name(subject.cluster, f"Pulumi's state of stack `{subject.stack}` does not say whose these objects are")
    consent.agree(question(before))
    holder = this_run(before.ownership.caller, f"destroy {subject.stack}")
    with locked(api, subject.cluster, holder, watching.tell, break_lock=choices.break_lock) as lock:
        report.began = True

        def check() -> None:
            lock.refuse_lost()
            refuse_change(api, before.ownership)

        def check_state() -> frozenset[str]:
            check()
            return ask_state(pulumi, subject.stack, subject.cluster).ids

        confirmed = before.ownership.state.held

        def check_covered() -> None:
            nonlocal confirmed
            check()
            confirmed |= agreed_growth(ask_state(pulumi, subject.stack, subject.cluster).held - confirmed, consent, watching.tell)

        check()
        if before.busy is not None:
            run.drain(before.busy, report, watching, check, asking(consent, watching.tell))
        if report.unconfirmed or (report.drain_ended and run.status_of(api, subject.cluster) not in run.NOTHING_INSIDE):
            return report

        def clear() -> None:
            report.cleared += _clear(api, before, choices, watching, check_state)

        run.pulumi_destroy(
            subject.stack, pulumi.run, watching.tell, lambda: run.status_of(api, subject.cluster), report, clear, check_covered
        )
        if report.destroyed:
            _sweep(api, before, choices, watching, check_state, consent, report, swept)
    return report


def look_before(
    api: Api, pulumi: Pulumi, subject: StackCluster, choices: Choices, named: str, watching: Watching, *, is_protected: bool
) -> Before:
    """Read state and account. Reads only. Raises CommandError where the stack may not be destroyed."""
    ownership = read_ownership(api, pulumi, subject)
    if not ownership.state.exists:
        refuse_misuse(subject.stack, NO_STACK[0])
    refuse_mismatch(ownership)
    if ownership.status and ownership.state.identity is None:
        wrong = f"Pulumi's state of stack `{subject.stack}` is empty, and the cluster `{subject.cluster}` is up ({ownership.status})"
        raise CommandError(wrong, "`pulumi whoami --verbose` names the backend: is it the one that made the cluster?", code=MISUSE)
    refuse_others(ownership)
    refuse_protected(ownership, is_protected=is_protected)
    refuse_given(ownership)
    found = tuple(look(api, place_of(api, subject.cluster), watching.tracked(KINDS)))
    stack = chosen_stack(ownership, found, named)
    keeping = Keeping(ownership.owner(stack), ownership.state.ids, choices.data)
    return Before(ownership, keeping, found, judged(api, found, keeping), run.look_inside(api, subject.cluster, watching.tell))


def refuse_others(ownership: Ownership) -> None:
    """Raises CommandError where the state holds more clusters than this one: Pulumi would delete them too, and only this one is drained."""
    subject, state = ownership.subject, ownership.state
    others = sorted((state.clusters.keys() | state.doomed) - {subject.cluster})
    if others and not state.is_gone:
        wrong = (
            f"Pulumi's state of stack `{subject.stack}` holds more than {subject.cluster}: {', '.join(others)} would be deleted undrained"
        )
        raise CommandError(f"{wrong}; nothing was drained", f"`pulumi up --stack {subject.stack}` ends a replacement that was stopped")


def without_backup(ownership: Ownership) -> tuple[str, str]:
    """The question about file systems of which the stack file wants a backup and Pulumi's state does not, and how to get one."""
    which, stack = ", ".join(sorted(ownership.state.unsaved)), ownership.subject.stack
    wrong = f"no backup will be made of {which}: the stack file says `finalBackup: true`, Pulumi's state does not say so yet"
    return wrong, f"`pulumi up --stack {stack}` writes it into the state; then destroy"


def agreed_growth(grown: frozenset[tuple[str, ...]], consent: Consent, tell: Callable[[str], None]) -> frozenset[tuple[str, ...]]:
    """What has come into the state since the question, if it may go as well. Raises OwnershipError where nobody said so."""
    if not grown:
        return grown
    for urn, *which in sorted(grown):
        tell(f"new in Pulumi's state since it was confirmed: {urn} {which[0]}")
    if consent.yes or not consent.ask(f"{len(grown)} resources came into the state since you were asked. Destroy them as well?"):
        wrong = f"{len(grown)} resources came into Pulumi's state since it was confirmed: nothing more was destroyed"
        raise OwnershipError(wrong, "another run of Pulumi has made them: see who it was; run this again, and it asks about all of it")
    return grown


def refuse_protected(ownership: Ownership, *, is_protected: bool) -> None:
    """Raises CommandError where the settings or EKS protect the cluster: jobs would be drained for nothing."""
    if is_protected or ownership.is_protected:
        where = "the stack file" if is_protected else "EKS, though not in the stack file"
        hint = f"set `controlPlane.deletionProtection: false`, then `pulumi up --stack {ownership.subject.stack}`"
        raise CommandError(f"the cluster is protected from deletion in {where}; nothing was drained", hint)


def refuse_given(ownership: Ownership) -> None:
    """Raises CommandError where Pulumi would delete what the stack file says that others keep: made by the stack, and given away since."""
    subject = ownership.subject
    held = sorted(ownership.state.ids & subject.existing_ids)
    if held:
        wrong = f"Pulumi's state holds {', '.join(held)}, and the stack file says that others keep it: `pulumi destroy` would delete it"
        hint = (
            f"`pulumi stack --show-urns --stack {subject.stack}` names it, and `pulumi state delete URN --stack {subject.stack}` makes the"
            " state forget it; if the stack is to delete it, remove it from the stack file"
        )
        raise CommandError(f"{wrong}; nothing was drained", hint)


def question(before: Before) -> str:
    """What is asked: everything that goes."""
    identity, subject = before.ownership.identity, before.ownership.subject
    leftovers = len(before.leftovers.deletions)
    more = f", and {leftovers} objects beside it" if leftovers else ""
    if before.busy is not None and before.busy.plan.counts:
        more += f", after a drain ({before.busy.plan.counts})"
    return (
        f"Destroy stack {subject.stack}: cluster {subject.cluster} in {identity.region}, account {identity.account},"
        f" {before.ownership.state.count} resources{more}, with its data?"
    )


def _clear(api: Api, before: Before, choices: Choices, watching: Watching, check: Callable[[], frozenset[str]]) -> list[Found]:
    """Delete what was shown before the question, Pulumi does not hold, and no controller looks after any more: an instance of
    Karpenter's, say, in a subnet that Pulumi deletes. Nothing while there is a cluster: its controllers do it.
    """
    if described(api, before.ownership.subject.cluster) is not None:
        return []
    sweep = sweep_of(api, Keeping(before.keeping.owner, check(), choices.data), choices, watching)
    shown = {found.key for found in before.found}
    confirmed = SweepPlan(tuple(found for found in sweep.plan().deletions if found.key in shown))
    return replace(sweep, check=check).run(confirmed).deleted if confirmed.deletions else []


def _sweep(
    api: Api, before: Before, choices: Choices, watching: Watching, check: Callable[[], frozenset[str]], consent: Consent, report: run.Report,
    swept: Callable[[SweepPlan], None],
) -> None:  # fmt: skip
    """Sweep what `pulumi destroy` left. What was not in the account at the question is asked about; `--yes` covers the one plan."""
    sweep = sweep_of(api, Keeping(before.keeping.owner, data=before.keeping.data), choices, watching)
    plan = sweep.plan()
    swept(plan)
    new = plan.new_since(SweepPlan(before.found))
    if new:
        consent.agree(f"{len(new)} of {len(plan.deletions)} were not there when you were asked. Delete all {len(plan.deletions)}?")
    report.kept = list(plan.kept)
    report.outcome = bound(sweep, plan, check, consent)
