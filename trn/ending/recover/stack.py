"""A recovery of one stack from its first look to its end: whose it is, what was made, the question, the lock, a second look, the import."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trn.aws.api import Api
from trn.aws.lock import locked, this_run
from trn.change.ownership import Consent, Ownership, StackCluster, read_ownership, refuse_change, refuse_mismatch
from trn.cli.errors import CommandError, OwnershipError
from trn.cli.watching import Watching
from trn.ending.recover.look import Recovery
from trn.ending.recover.objects import objects_of
from trn.ending.recover.plan import Plan
from trn.ending.recover.pulumi import exported, import_and_refresh, with_orphans
from trn.engine.pulumi import Pulumi
from trn.engine.recovery import refuse_locked


@dataclass
class Report:
    """How it went."""

    plan: Plan = field(default_factory=Plan)
    """Of the last look."""
    done: bool = False


def recover_stack(
    api: Api, pulumi: Pulumi, subject: StackCluster, consent: Consent, watching: Watching, report: Report,
    shown: Callable[[Plan], None], owned: Callable[[Ownership], None], *, orphans: bool = False, break_lock: bool = False,
) -> None:  # fmt: skip
    """Find what a killed run had made, ask, look again under the lock, import it.

    `shown` and `owned` are called with what is about to be asked. Raises CommandError where it is not this stack's cluster, another
    operator or run of Pulumi is at it, or more would be taken than was agreed to.
    """
    ownership = read_ownership(api, pulumi, subject)
    refuse_mismatch(ownership, unfinished=True)
    stack = subject.stack

    def look() -> tuple[Recovery, Plan]:
        state = exported(stack, pulumi.ask)
        if orphans:
            if state.pending:
                hint = f"run `trn recover {stack}` first, without --orphans"
                raise CommandError(f"{len(state.pending)} operations have no end yet", hint)
            state = with_orphans(state, stack, pulumi.ask)
        owner = state.stack or ownership.identity.stack or f"/{subject.project}/{stack}"
        recovery = Recovery(api, subject.cluster, lambda: objects_of(api, subject.cluster), watching.pause, watching.tell, owner, orphans)
        return recovery, recovery.plan(state)

    _, plan = look()
    report.plan = plan
    shown(plan)
    work = len(plan.imports) + len(plan.uninstalls)
    # Without orphans a refresh alone is work too: it clears the operations that are settled.
    report.done = not plan.unclear and not work and (orphans or not plan.has_work)
    if report.done or plan.unclear:
        return
    # Looking may have taken forty minutes.
    ownership = read_ownership(api, pulumi, subject)
    refuse_mismatch(ownership, unfinished=True)
    refuse_locked(pulumi, stack, ownership.state.root)
    owned(ownership)
    consent.agree(f"Import {len(plan.imports)}, uninstall {len(plan.uninstalls)}, then refresh {stack}?")
    with locked(api, subject.cluster, this_run(ownership.caller, f"recover {stack}"), watching.tell, break_lock=break_lock) as lock:

        def check() -> None:
            lock.refuse_lost()
            refuse_change(api, ownership)

        def run(command: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
            check()
            return pulumi.run(command, environment)

        check()
        # A run of Pulumi that lives holds this: what it is making is not ours to finish.
        refuse_locked(pulumi, stack, ownership.state.root)
        recovery, again = look()
        report.plan = again
        if again.unclear:
            shown(again)
            return
        agree_again(plan, again, consent, shown)
        recovery.uninstall(again)
        report.done = import_and_refresh(again, stack, pulumi.ask, run)


def agree_again(plan: Plan, again: Plan, consent: Consent, shown: Callable[[Plan], None]) -> None:
    """Ask again where more would be done than was agreed to. Raises OwnershipError where `--yes` was said to less."""
    new = again.deeds - plan.deeds
    if not new:
        return
    shown(again)
    if consent.yes:
        wrong = f"{len(new)} objects are there, or changed, that were not when it was confirmed: nothing was changed"
        raise OwnershipError(wrong, "another run is at it, or has just ended; run this again")
    consent.agree(
        f"{len(new)} of these were not there when you were asked. Import {len(again.imports)}, uninstall {len(again.uninstalls)}?"
    )
