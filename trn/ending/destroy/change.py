"""A destroy of a stack as a change: a drain, `pulumi destroy` until it succeeds or another try would be wrong, and a sweep."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from facts.typed import typed
from trn.aws.api import Api
from trn.aws.eks import described
from trn.aws.leftovers import Found
from trn.change.action import NOT_CONFIRMED, Action, Difference, Hold, Outcome, Pace, PulumiRun, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Aws, Kube, StateId, id_of
from trn.change.known import Unknown, known, unknowns
from trn.change.ownership import Ownership
from trn.change.report import ChangeDocument, Report, entry
from trn.change.sweep_plan import INSTANCE_TAG
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE
from trn.ending.drain import change as draining
from trn.ending.drain.change import Drain, Inside, look_inside
from trn.ending.sweep import change as sweeping
from trn.ending.sweep.change import Leftovers, Sweep, identity_of, said_of
from trn.ending.sweep.view import KeptEntry, entry_of, leftover_lines, lines_of
from trn.engine.pulumi import NO_STACK
from trn.engine.recovery import TRIES, Attempt, first, following, refuse_locked, refuse_misuse
from trn.engine.stack_state import StackState, ask_state

if TYPE_CHECKING:
    from rich.console import RenderableType

CLEAR, PULUMI, SWEEP = 2, 3, 4
"""Phases, after the two of a drain."""
PAUSE_S = sweeping.PAUSE_S
NOTHING_INSIDE = frozenset({"", "CREATING", "FAILED", "DELETING"})
"""EKS's words for a cluster in which nothing can run: empty where EKS was asked and has none of the name."""
WHAT_RUNS = "what runs in the cluster"
_BY_PULUMI_LOCK = 2
"""Looks before which Pulumi's own lock is tried: before the question, and under the lock."""


class DestroyReport(ChangeDocument, frozen=True):
    """What `trn destroy` did: how far each part came."""

    schema_: Literal["trn-destroy"] = "trn-destroy"
    drained: bool | None = None
    undrained: tuple[str, ...] | None = None
    """What was in the cluster at the drain's last look, as KIND NAME; so is what follows."""
    unconfirmed: tuple[str, ...] | None = None
    """What appeared in the cluster after the question, and would go with it."""
    drain_ended: str | None = None
    """What could not be seen at the drain's last look; empty where all could."""
    tries: int | None = None
    destroyed: bool | None = None
    swept: tuple[str, ...] | None = None
    kept: tuple[KeptEntry, ...] | None = None
    """What the sweep leaves alone; empty before it."""


@dataclass
class Rounds:
    """How far a destroy has come."""

    looks: int = 0
    found: frozenset[Aws] = frozenset()
    """All that carried the cluster's name before the question: consent to the destroy is consent to sweep it."""
    held: frozenset[tuple[str, ...]] = frozenset()
    """What the state held then."""
    inside: Inside | None = None
    """The cluster as it was seen last, before Pulumi ran."""
    tried: list[Attempt] = field(default_factory=list[Attempt])
    commands: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """Of the last try, what is still to be run."""
    following: Attempt | None = None
    clears: int = 0
    """Looks in which what hangs is deleted before the next try."""
    is_destroyed: bool = False
    is_told: bool = False
    """The plan of the sweep after it was shown."""


@dataclass(frozen=True)
class Seen:
    """What a look saw."""

    ownership: Ownership
    state: StackState
    id: StateId
    status: str
    """EKS's word for the cluster."""
    is_protected: bool
    """By EKS."""
    inside: Inside | None
    """None where nothing can run in the cluster, or there is none."""
    left: Leftovers
    came: frozenset[tuple[str, ...]]
    """What came into the state since the question."""
    is_begun: bool
    """Pulumi has begun to destroy it."""
    is_destroyed: bool
    is_clearing: bool
    """The cluster is gone, and Pulumi's next try waits for what hangs on it."""

    @property
    def unsaved(self) -> str:
        """File systems that Pulumi deletes without a backup."""
        return ", ".join(sorted(self.state.unsaved))


def status_of(api: Api, cluster: str) -> str:
    """EKS's word for the cluster; empty where EKS says that there is none. Raises what botocore raises: an error is no answer."""
    return str((described(api, cluster) or {}).get("status", ""))


def _with_unseen(now: Inside, before: Inside | None) -> Inside:
    """What is not seen any more is not gone: what was not confirmed holds Pulumi up until a look shows that it went."""
    if before is None or not (unseen := list(unknowns(now))):
        return now
    gone = now.known.unknown
    kept = [step for step in before.known.steps if isinstance(now.plan, Unknown) or step.target.resource.kind in gone]
    plan = replace(now.known, steps=(*now.known.steps, *kept))
    return replace(now, kubernetes=now.kubernetes or before.kubernetes, plan=plan, unlisted=tuple(unseen))


@dataclass(frozen=True)
class Destroy:
    """Drain, destroy and sweep one stack. It may be run again after any failure."""

    stack: str
    drain: Drain
    sweep: Sweep
    is_protected: bool
    """The settings' `deletionProtection`."""
    rounds: Rounds = field(default_factory=Rounds, compare=False)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"destroy {self.stack}"

    document = DestroyReport

    @property
    def pace(self) -> Pace:
        """A drain's and a sweep's one after the other. What goes before Pulumi may stay for ever; a sweep comes after it or not at all."""
        nodes, drain = (rounds * draining.PAUSE_S // PAUSE_S for rounds in (draining.PATIENCE, draining.ROUNDS))
        rounds = drain + 2 * TRIES + sweeping.ROUNDS
        return Pace(rounds, PAUSE_S, patience=(nodes, drain, drain, rounds))

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    # What is there

    def look(self, site: Site, whose: Whose) -> Seen:
        """The state, the cluster from inside, and what is in the account beside the state."""
        rounds, cluster = self.rounds, whose.cluster
        rounds.looks += 1
        state = ask_state(site.pulumi, self.stack, cluster)
        if not (state.exists or rounds.tried):
            refuse_misuse(self.stack, NO_STACK[0])
        entry = described(site.api, cluster) or {}
        left, is_destroyed = self.sweep.left_over(site, whose, state.ids), rounds.is_destroyed or state.is_empty
        if rounds.is_destroyed and not rounds.is_told:
            rounds.is_told = True
            for line in lines_of(cluster, left.plan):
                site.tell(line)
        if rounds.looks == 1:
            rounds.found = frozenset(map(identity_of, (*left.plan.deletions, *(item for item, _ in left.plan.kept))))
            rounds.held = state.held
        if rounds.looks <= _BY_PULUMI_LOCK:
            refuse_locked(site.pulumi, self.stack, state.root)
        is_clearing = bool(rounds.tried) and not (is_destroyed or entry) and rounds.clears < sweeping.STALLED_ROUNDS
        rounds.clears += is_clearing
        inside, status = self._inside(site, whose, str(entry.get("status", "")))
        return Seen(
            whose.ownership, state, id_of(state, self.stack), status, bool(entry.get("deletionProtection")), inside, left,
            state.held - rounds.held, bool(rounds.tried), is_destroyed, is_clearing,
        )  # fmt: skip

    def _inside(self, site: Site, whose: Whose, status: str) -> tuple[Inside | None, str]:
        """The cluster from inside, and EKS's word for it. Once Pulumi has begun to take it down it is not looked into any more."""
        rounds = self.rounds
        if status not in NOTHING_INSIDE and not rounds.tried:
            kubernetes = known(WHAT_RUNS, site.kubernetes)
            now = (
                Inside(whose.cluster, whose.ownership.identity, None, kubernetes)
                if isinstance(kubernetes, Unknown)
                else look_inside(kubernetes, whose)
            )
            rounds.inside = _with_unseen(now, rounds.inside)
            if list(unknowns(now)):
                # It may not answer because it is gone by now.
                status = status_of(site.api, whose.cluster)
        if status in NOTHING_INSIDE and not rounds.tried:
            rounds.inside = None
        return (None if status in NOTHING_INSIDE else rounds.inside), status

    def refusals(self, seen: Seen) -> Iterator[Refusal]:
        """Where the stack may not be destroyed now, before anything is drained for nothing."""
        if seen.is_begun:
            return
        stack, subject, state = self.stack, seen.ownership.subject, seen.state
        if seen.status and state.identity is None:
            yield Refusal(
                f"Pulumi's state of stack `{stack}` is empty, and the cluster `{subject.cluster}` is up ({seen.status})",
                "`pulumi whoami --verbose` names the backend: is it the one that made the cluster?", MISUSE,
            )  # fmt: skip
        others = sorted((state.clusters.keys() | state.doomed) - {subject.cluster})
        if others and not state.is_gone:
            # Pulumi would delete them too.
            wrong = f"Pulumi's state of stack `{stack}` holds more than {subject.cluster}: {', '.join(others)} would be deleted undrained"
            yield Refusal(f"{wrong}; nothing was drained", f"`{typed(f'pulumi up --stack {stack}')}` ends a replacement that was stopped")
        if self.is_protected or seen.is_protected:
            where = "the stack file" if self.is_protected else "EKS, though not in the stack file"
            hint = f"set `controlPlane.deletionProtection: false`, then `{typed(f'pulumi up --stack {stack}')}`"
            yield Refusal(f"the cluster is protected from deletion in {where}; nothing was drained", hint)
        # Made by the stack, and given away since.
        if given := sorted(state.ids & subject.existing_ids):
            wrong = f"Pulumi's state holds {', '.join(given)}, and the stack file says that others keep it: `{typed('pulumi destroy')}` would delete it"
            hint = (
                f"`{typed(f'pulumi stack --show-urns --stack {stack}')}` names it, and `{typed(f'pulumi state delete URN --stack {stack}')}` makes the"
                " state forget it; if the stack is to delete it, remove it from the stack file"
            )
            yield Refusal(f"{wrong}; nothing was drained", hint)

    # What is done

    def actions(self, seen: Seen) -> list[Action]:
        """The drain's, one run of Pulumi's CLI, and the sweep's."""
        came = ", ".join(f"{urn} {which[0]}" for urn, *which in sorted(seen.came))
        because = f"it holds {seen.state.count} resources{came and f'; new since you were asked: {came}'}"
        run = PulumiRun(typed("pulumi destroy"), seen.id, because, self._run, PULUMI, expects="within")
        return [
            *(self.drain.actions(seen.inside) if seen.inside else ()),
            *(() if seen.is_destroyed else (run,)),
            *(
                self._swept(action, item, seen)
                for action, item in zip(self.sweep.actions(seen.left), seen.left.plan.deletions, strict=True)
            ),
        ]

    def _swept(self, action: Action, item: Found, seen: Seen) -> Action:
        """After Pulumi; and before its next try where the cluster is gone: its controllers would have done it, and something may hang on it."""
        found = self.rounds.found
        # An interface of a node is free, and so listed, only once its node is gone.
        was_there = action.object in found or item.tags.get(INSTANCE_TAG) in {which.name for which in found}
        is_cleared = seen.is_clearing and was_there

        def do(site: Site, which: Aws) -> Outcome:
            outcome = action.do(site, which)
            if not is_cleared or outcome.kind != "refused":
                return outcome
            # What refuses it may be Pulumi's: the sweep after it tries again.
            self.sweep.rounds.refused.pop(which, None)
            return replace(outcome, kind="held")

        return replace(
            action, do=do, phase=CLEAR if is_cleared else SWEEP,
            follows=lambda other: action.follows(other) or (was_there and isinstance(other, PulumiRun)),
        )  # fmt: skip

    def _run(self, site: Site, _: StateId) -> Outcome:
        """One command: the state is looked at again before the next."""
        rounds = self.rounds
        if not rounds.commands:
            attempt = rounds.following or first(self.stack)
            rounds.tried.append(attempt)
            rounds.commands = list(attempt.commands)
            if attempt.why:
                site.tell(f"try {len(rounds.tried)}: {attempt.why}")
        attempt = rounds.tried[-1]
        code, printed = site.pulumi.run(rounds.commands.pop(0), dict(attempt.environment))
        if code == 0 and rounds.commands:
            return Outcome("held", (attempt.why,))
        # The CLI ends well, too, where a signal has stopped it half-way: the state tells.
        if code == 0 and ask_state(site.pulumi, self.stack, site.subject.cluster).is_gone:
            rounds.is_destroyed = True
            return Outcome("going")
        rounds.commands, rounds.clears = [], 0
        rounds.following = following(self.stack, printed, rounds.tried, lambda: status_of(site.api, site.subject.cluster))
        if rounds.following is None:
            return Outcome("refused", (f"failed after {len(rounds.tried)} tries; what it printed last says why",), is_last=True)
        return Outcome("held", ("it failed; what it printed last says why",))

    # What is said

    def question(self, seen: Seen) -> Question:
        """Everything that goes; apart from it, the backups that nobody makes."""
        identity, leftovers = seen.ownership.identity, len(seen.left.plan.deletions)
        more = f", and {leftovers} objects beside it" if leftovers else ""
        if seen.inside is not None and (counts := seen.inside.known.counts):
            more += f", after a drain ({counts})"
        text = (
            f"Destroy stack {self.stack}: cluster {seen.ownership.subject.cluster} in {identity.region}, account {identity.account},"
            f" {seen.state.count} resources{more}, with its data?"
        )
        apart = None
        if self.sweep.final_backup and seen.unsaved:
            wrong = f"no backup will be made of {seen.unsaved}: the stack file says `finalBackup: true`, Pulumi's state does not say so yet"
            apart = wrong, f"`{typed(f'pulumi up --stack {self.stack}')}` writes it into the state; then destroy"
        return Question(text, apart=apart, is_named_blindly=True)

    def shown(self, seen: Seen) -> "Iterator[RenderableType]":
        """What is there beside the state, and what a drain does."""
        yield from leftover_lines(seen.left.plan)
        if seen.inside is not None:
            yield from self.drain.shown(seen.inside)
        else:
            yield f"the cluster is {seen.status}: nothing runs in it" if seen.status else "there is no cluster to drain, going on"

    def differences(self, shown: Seen, now: Seen) -> Iterator[Difference]:
        """A backup that Pulumi would have made; all else are actions of their own."""
        if self.sweep.final_backup and now.state.unsaved - shown.state.unsaved:
            yield Difference(f"no backup will be made of {now.unsaved}", is_grave=True)

    def result(self, seen: Seen, report: Report) -> Iterator[str]:
        """One line for each of the three parts, what is kept and what is left."""
        if not report.outcomes:
            yield f"nothing is left to destroy: there is no cluster {seen.ownership.subject.cluster}, and Pulumi's state holds nothing"
        data = self.data(seen, report)
        stayed, tries = data["undrained"], data["tries"]
        yield "drain    " + ("idle" if data["drained"] else f"{len(stayed)} objects stayed" if stayed else "left out")
        yield "destroy  " + (self._why_not(seen, report) if not seen.is_destroyed else f"done at try {tries}" if tries > 1 else "done")
        yield from (f"new      {target}" for target in data["unconfirmed"])
        if seen.is_destroyed:
            yield f"sweep    {len(data['swept'])} deleted, {len(self.sweep.left(report))} left"
            yield from (f"kept     {item.kind} {item.id}: {why}" for item, why in seen.left.plan.kept)
        yield from (f"left     {item.kind} {item.id}: {said}" for item, said in self.sweep.left(report))
        if report.left:
            yield f"next     {typed(f'trn destroy {self.stack}')}: it may be run again"

    def _why_not(self, seen: Seen, report: Report) -> str:
        """Why Pulumi did not destroy it."""
        begun = "" if self.rounds.tried else "not begun: "
        for action, outcome in report.outcomes:
            if isinstance(action, PulumiRun) and outcome == NOT_CONFIRMED:
                return f"{begun}{len(seen.came)} resources came into the state after the question"
            if isinstance(action, PulumiRun) and self.rounds.tried:
                return "; ".join(outcome.said)
        return f"{begun}{len(_new(report))} objects appeared in the cluster after the question, and would go with it"

    def data(self, seen: Seen, report: Report) -> dict[str, Any]:
        """For `--json`: how far each part came."""
        rounds = self.rounds
        inside = rounds.inside if report.has_lock else None
        there = [str(step.target) for step in inside.known.steps] if inside else []
        unseen = list(unknowns(inside))
        return {
            "drained": inside is not None and not (there or unseen),
            "undrained": there,
            "unconfirmed": _new(report),
            "drain_ended": "; ".join(map(str, unseen)),
            "tries": len(rounds.tried),
            "destroyed": seen.is_destroyed or rounds.is_destroyed,
            "swept": [f"{item.kind} {item.id}" for item in self.sweep.deleted(seen.left, report)],
            "kept": [{**entry_of(item), "why": why} for item, why in seen.left.plan.kept] if seen.is_destroyed else [],
            "left": [{**entry(each, what), "said": [said_of(what)]} for each, what in report.left],
        }


def _new(report: Report) -> list[str]:
    """What appeared in the cluster after the question, and would go with it."""
    found = (action.object for action, outcome in report.outcomes if outcome == NOT_CONFIRMED)
    return [f"{each.kind} {each.name}" for each in found if isinstance(each, Kube)]
