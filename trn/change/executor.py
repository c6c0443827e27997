"""Carries every change out, in one order: whose is it, look, refuse, show, ask, lock, look again, compare, act, report."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from trn.change.action import NOT_CONFIRMED, Action, Change, Ended, KnownBefore, Outcome, Seen
from trn.change.consent import Confirmed, Person
from trn.change.hold import Guard, held
from trn.change.known import unknowns
from trn.change.report import UNDER_WAY, Report, understood, writing
from trn.change.whose import Site, Whose, read_whose
from trn.cli.errors import OwnershipError
from trn.cli.interruption import interrupted_by_signals, signals_kept

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["carry_out", "show"]
GONE = Outcome("gone", ("a later look found nothing left to do about it",))
BEHIND = Outcome("held", ("something that was not confirmed is in its way",))
WAITS = Outcome("held", ("it waits for what goes before it",))
OPEN = ("held", "moved", "going", "unsure")
"""What another round is for."""
BEFORE = ("held", "moved", "not confirmed")
"""Nothing was sent: what has prepared for it is taken back. After a request without an end it stays, for the next run to go on."""


def carry_out(change: Change[Seen], site: Site, person: Person) -> int:
    """The exit code. Raises what ends the change, after the report is written and the lock given back."""
    report = _report(change, site)
    with interrupted_by_signals(), writing(report):
        whose = report.whose = read_whose(site)
        seen = _look(change, site, whose, report)
        plan = change.actions(seen)
        for line in (*whose.lines(), *change.shown(seen), *map(str, report.unknown)):
            site.tell(line)
        if plan:
            confirmed = report.confirmed = person.confirm(whose, plan, change.question(seen), list(unknowns(seen)))
            with held(change, site, whose, report) as guard:
                seen, confirmed = _look_again(change, seen, confirmed, guard, person, report)
                with _taken_back(guard, report):
                    seen = _act(change, seen, confirmed, guard, person, report)
        elif report.unknown:
            raise Ended("unknown", f"it cannot be said that there is nothing to do: {'; '.join(map(str, report.unknown))}")
        elif site.break_lock:
            # Of a run that died when it had nothing left to do but give the lock up.
            with held(change, site, whose, report):
                pass
        report.end = "left" if report.left else "done" if report.outcomes else "nothing"
        for line in change.result(seen, report):
            site.say(line)
    return report.code


def show(change: Change[Seen], site: Site) -> int:
    """What would be done, for `--dry-run`: the first steps, which only read. The exit code; raises and reports as `carry_out`."""
    report = _report(change, site)
    with interrupted_by_signals(), writing(report):
        whose = report.whose = read_whose(site)
        seen = _look(change, site, whose, report)
        for line in (*whose.lines(), *change.shown(seen), *map(str, report.unknown)):
            site.tell(line)
        report.end = "unknown" if report.unknown else "shown"
        for line in change.result(seen, report):
            site.say(line)
    return report.code


def _report(change: Change[Seen], site: Site) -> Report:
    return Report(change.name, site, change.document, own=lambda: change.always if isinstance(change, KnownBefore) else {})


def _look(change: Change[Seen], site: Site, whose: Whose, report: Report) -> Seen:
    seen = change.look(site, whose)
    report.own = lambda: change.data(seen, report)
    report.unknown += [each for each in unknowns(seen) if each not in report.unknown]
    if refusals := list(change.refusals(seen)):
        for line in (line for each in refusals for line in each.shown):
            site.tell(line)
        hint = "\n".join(each.hint for each in refusals if each.hint)
        raise Ended("refused", "\n".join(each.wrong for each in refusals), hint, code=max(each.code for each in refusals))
    return seen


def _look_again(
    change: Change[Seen], shown: Seen, confirmed: Confirmed, guard: Guard, person: Person, report: Report
) -> tuple[Seen, Confirmed]:
    """Under the lock, and again after each question that this leads to: what is agreed to is what the last look saw."""
    while True:
        now = _look(change, guard.site, guard.whose, report)
        differences = list(change.differences(shown, now))
        question = change.question(now)
        grave = [each.what for each in differences if each.is_grave]
        if question is not None and change.question(shown) is None:
            grave.append("what was seen first had nothing to ask about")
        for each in differences:
            if not each.is_grave:
                guard.site.tell(each.what)
        for line in change.shown(now) if grave else ():
            guard.site.tell(line)
        agreed = report.confirmed = person.again(confirmed, guard.whose, change.actions(now), grave, question, list(unknowns(now)))
        if agreed is confirmed and not grave:
            return now, confirmed
        shown, confirmed = now, agreed


def _act(change: Change[Seen], seen: Seen, confirmed: Confirmed, guard: Guard, person: Person, report: Report) -> Seen:
    """Round by round; each ends with a pause and another look. Only what was confirmed is done, and nothing of it twice. The last look."""
    site, pace = guard.site, change.pace
    unseen = {each.what for each in unknowns(seen)}
    for number in range(pace.rounds):
        if number:
            site.pause(pace.pause_s)
            seen = _look(change, site, guard.whose, report)
            confirmed = report.confirmed = person.again(
                confirmed, guard.whose, change.actions(seen), (), change.question(seen), list(unknowns(seen))
            )
            now = {each.what for each in unknowns(seen)}
            if now <= unseen:
                _note_gone(change.actions(seen), report)
            unseen &= now
        if not pace.in_order:
            guard.check()
        plan = change.actions(seen)
        strange = [action for action in plan if not confirmed.covers(action)]
        for place, action in enumerate(plan, 1):
            if action in strange:
                report.note(action, NOT_CONFIRMED)
            elif report.has_ended(action):
                pass
            elif _is_behind(action, strange):
                report.note(action, BEHIND)
            elif _is_behind(action, plan) and number < pace.patience[action.phase - 1]:
                report.note(action, WAITS)
            else:
                moved = guard.check_run(action, each=pace.in_order)
                if moved:
                    report.note(action, moved)
                else:
                    _settle(change, action, guard, report)
                    if report.is_over(action):
                        guard.note_run(action, plan[place:])
                if any(outcome.is_last for _, outcome in report.outcomes):
                    return seen
            if pace.in_order and not report.is_over(action):
                break
        site.show(len(report.done), len(report.outcomes))
        if not any(outcome.kind in OPEN and not _is_behind(action, strange) for action, outcome in report.outcomes):
            break
    return seen


def _is_behind(action: Action, others: Sequence[Action]) -> bool:
    return any(other.phase < action.phase for other in others)


@contextmanager
def _taken_back(guard: Guard, report: Report) -> Iterator[None]:
    """Takes back what was prepared for actions that an error or a person has stopped. Not where another run has the lock: it is at it."""
    try:
        yield
    except OwnershipError:
        raise
    except (Exception, KeyboardInterrupt):
        _take_back(guard, report)
        raise
    if any(outcome.kind in BEFORE for _, outcome in report.outcomes):
        _take_back(guard, report)


def _take_back(guard: Guard, report: Report) -> None:
    def tell(what: "RenderableType") -> None:
        # Of a terminal that is closed: what is taken back does not wait for a reader.
        with suppress(OSError):
            guard.site.tell(what)

    site = replace(guard.site, tell=tell)
    with signals_kept():
        for action, outcome in reversed(report.outcomes):
            if action.undo is None or outcome.kind in ("refused", "not confirmed"):
                continue
            try:
                # Whoever broke the lock while a run of Pulumi lasted is at the same objects.
                guard.check()
                action.undo(site)
                report.note(action, Outcome("taken back", outcome.said if outcome.kind in BEFORE else ()))
            except Exception as error:  # The next one is taken back all the same, and what ended the change is raised.
                report.note(action, Outcome("unsure", (f"not taken back: {understood(error)}",)))
                site.tell(f"{action}: not taken back: {understood(error)}")


def _note_gone(plan: Sequence[Action], report: Report) -> None:
    """What is not to be done any more is nothing that is left. Of what cannot be seen any more nobody can say so. What was never to be done
    and went by itself is none of this run's."""
    for action, outcome in report.left:
        if not any(each.is_within(action) for each in plan):
            report.forget(action) if outcome == NOT_CONFIRMED else report.note(action, GONE)


def _settle(change: Change[Seen], action: Action, guard: Guard, report: Report) -> None:
    """Make one change, and wait for what it leads to. The lock is looked at meanwhile."""
    site, pace = guard.site, change.pace
    report.note(action, UNDER_WAY)
    outcome = _done(action, site, report)
    waits = outcome.waits or pace.waits
    for number in range(waits):
        if outcome.settled:
            site.show(number, waits)
        ended = outcome.settled(site) if outcome.settled else outcome
        if ended is not None:
            report.note(action, ended)
            return
        site.pause(pace.pause_s)
        guard.check()
    report.note(action, Outcome("unsure", (pace.overdue,)))


def _done(action: Action, site: Site, report: Report) -> Outcome:
    from trn.aws.errors import is_refusal

    try:
        return action.do(site, action.object)
    except Exception as error:
        if is_refusal(error) or (isinstance(error, Ended) and error.end == "refused"):
            report.note(action, Outcome("refused", (understood(error),)))
        raise
