"""A sweep of what a stack left in the account, as a change."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import ClientError

from trn.aws.errors import IN_USE, NOT_FOUND, THROTTLED, code_of
from trn.aws.fsx import deletion_constants
from trn.aws.leftovers import CLUSTERS, KINDS, Found, Place, born, kind_named
from trn.aws.places import look, place_of
from trn.change.action import NOT_CONFIRMED, Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import cluster_lock
from trn.change.identity import Aws
from trn.change.ownership import Ownership, chosen_stack
from trn.change.report import ChangeDocument, EndedEntry, Report, entry
from trn.change.sweep_plan import INSTANCE_TAG, Keeping, SweepPlan
from trn.change.whose import Site, Whose
from trn.ending.sweep.holders import holder_of
from trn.ending.sweep.plan import Today, ask_today, judged, refuse_living
from trn.ending.sweep.view import FoundEntry, KeptEntry, entry_of, lines_of, plan_fields
from trn.engine.recovery import refuse_locked
from trn.engine.stack_state import ask_state

if TYPE_CHECKING:
    from rich.console import RenderableType

ROUNDS = 80
PAUSE_S = 15
"""Together 20 minutes: a control plane with its node groups takes about 15 to go."""
STALLED_ROUNDS = 8
"""Rounds without a change after which a sweep gives up, once something stays for good, refused or kept: the rest may hang on it."""
NOT_DELETED = "appeared after the plan was confirmed: it was not deleted"
TIME_UP = "still held, or still going, when the time was up"
_BY_PULUMI_LOCK = 2
"""Looks before which Pulumi's own lock is tried: before the question, and under the lock."""


class LeftInAccount(EndedEntry, frozen=True):
    """What stays in the account."""

    usd_per_day: float | None
    """Null where no price is known."""


class SweepReport(ChangeDocument, frozen=True):
    """What `trn sweep --delete` did."""

    schema_: Literal["trn-sweep"] = "trn-sweep"
    left: tuple[LeftInAccount, ...] = ()
    cluster: str | None = None
    usd_per_day: float | None = None
    found: tuple[FoundEntry, ...] | None = None
    """The plan that was shown."""
    kept: tuple[KeptEntry, ...] | None = None
    deleted: tuple[FoundEntry, ...] | None = None


@dataclass
class Rounds:
    """What a sweep has met with so far: what holds what, and what moves, shows in rounds only."""

    today: Today = field(default_factory=Today)
    stack: str = ""
    place: Place | None = None
    shown: SweepPlan = field(default_factory=lambda: SweepPlan(()))
    """The first look's."""
    seen: dict[Aws, Found] = field(default_factory=dict[Aws, Found])
    looks: int = 0
    unchanged: int = 0
    """Looks in a row that saw the same, and nothing of it on its way."""
    there: frozenset[Aws] = frozenset()
    """At the last look."""
    tried: set[Aws] = field(default_factory=set[Aws])
    """Since then."""
    blocked: set[Aws] = field(default_factory=set[Aws])
    """Of it, what something hangs on."""
    refused: dict[Aws, str] = field(default_factory=dict[Aws, str])


@dataclass(frozen=True)
class Leftovers:
    """What a look found, and what of it goes."""

    ownership: Ownership
    plan: SweepPlan
    keeping: Keeping
    place: Place
    clusters: tuple[Found, ...]
    staying: tuple[tuple[Found, str], ...] = ()
    """What keeps other things from going, once nothing moves but it."""
    is_stalled: bool = False
    """Nothing has moved for long, and something stays for good: the rest may hang on it."""


def identity_of(item: Found) -> Aws:
    """The object for as long as it lives. What AWS makes again by itself has a name for its identity, and no time."""
    return Aws(item.kind, item.id, item.id, "" if item.is_by_name else born(item.entry))


@dataclass(frozen=True)
class Sweep:
    """Delete what a stack left: round by round, in the order in which AWS takes it."""

    stack: str
    with_data: frozenset[str] = frozenset()
    """Kinds of data, and ids of data, that are deleted too."""
    final_backup: bool = False
    """As in the stack file."""
    named: str = ""
    """The stack whose objects are meant, where the state does not say."""
    rounds: Rounds = field(default_factory=Rounds, compare=False)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"sweep {self.stack}"

    document = SweepReport

    @property
    def pace(self) -> Pace:
        """Tests shorten it."""
        return Pace(ROUNDS, PAUSE_S)

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, whose: Whose) -> Leftovers:
        """The plan, and that Pulumi is at rest."""
        seen, rounds = self.planned(site, whose), self.rounds
        if seen.plan.deletions and rounds.today.unknown_since is None and rounds.looks <= _BY_PULUMI_LOCK:
            refuse_locked(site.pulumi, self.stack, whose.ownership.state.root)
        return seen

    def planned(self, site: Site, whose: Whose) -> Leftovers:
        """What it would delete now, by the state that was given and by today's."""
        rounds, state = self.rounds, whose.ownership.state
        if not rounds.looks and site.state_file is not None:
            rounds.today = ask_today(site.pulumi, site.subject, site.state_file)
        is_known = rounds.today.unknown_since is None
        # A run of Pulumi that began meanwhile makes what no earlier state knows.
        held = state.ids | (ask_state(site.pulumi, self.stack, whose.cluster).ids if is_known else frozenset())
        return self.left_over(site, whose, held | rounds.today.ids)

    def left_over(self, site: Site, whose: Whose, held: frozenset[str]) -> Leftovers:
        """Everything that carries the cluster's name, and what is kept of it. `held`: ids that Pulumi's state holds."""
        rounds, ownership, api = self.rounds, whose.ownership, site.api
        is_first, rounds.looks = not rounds.looks, rounds.looks + 1
        place = rounds.place or place_of(api, whose.cluster)
        found = list(look(api, place))
        if is_first:
            rounds.stack = chosen_stack(ownership, found, self.named)
        owner = ownership.owner(rounds.stack)
        rounds.place = Place(whose.cluster, owner.vpc_ids, place.originals)
        keeping = Keeping(owner, held, self.with_data, rounds.today.unknown_since)
        plan = judged(api, found, keeping)
        if is_first:
            rounds.shown = plan
        clusters = tuple(item for item in found if item.kind == CLUSTERS.name)
        return Leftovers(ownership, plan, keeping, rounds.place, clusters, *self._met(site, plan, keeping))

    def _met(self, site: Site, plan: SweepPlan, keeping: Keeping) -> tuple[tuple[tuple[Found, str], ...], bool]:
        """What stays and may hold the rest, once all of that is refused; and whether nothing has moved for too long."""
        rounds, now = self.rounds, {identity_of(item): item for item in plan.deletions}
        is_going, tried = any(item.going for item in plan.deletions), rounds.tried
        # What the last round saw and left alone was not confirmed.
        left_alone = {which for which in now if tried and which in rounds.there and which not in tried}
        stuck, blocked = rounds.refused.keys() | left_alone, rounds.blocked
        rounds.unchanged = rounds.unchanged + 1 if tried and rounds.there == now.keys() and not is_going else 0
        rounds.there, rounds.tried, rounds.blocked = frozenset(now), set(), set()
        rounds.seen |= now
        staying = list[tuple[Found, str]]()
        if now and blocked and not is_going and now.keys() <= stuck | blocked:
            owner = keeping.owner
            strangers = (item for kind in KINDS for item in kind.in_vpcs(site.api, rounds.place or Place("")))
            others = ((item, owner.objection(item) if owner else "") for item in strangers if identity_of(item) not in now)
            staying = [*plan.kept, *((item, why) for item, why in others if why)]
            staying += [(now[which], rounds.refused.get(which, "it was not confirmed")) for which in now if which in stuck]
        return tuple(staying), rounds.unchanged >= STALLED_ROUNDS and bool(stuck or plan.kept)

    def refusals(self, seen: Leftovers) -> Iterator[Refusal]:
        """A cluster that lives."""
        yield from refuse_living(seen.ownership, seen.plan)

    def actions(self, seen: Leftovers) -> list[Action]:
        """One for each object."""
        fresh = dict[str, dict[Aws, Found]]()

        def again(site: Site, which: Aws) -> Found | None:
            if which.kind not in fresh:
                kind = kind_named(which.kind)
                found = list(kind.find(site.api, seen.place))
                plan = judged(site.api, [*found, *(seen.clusters if kind is not CLUSTERS else ())], seen.keeping)
                fresh[which.kind] = {identity_of(item): item for item in plan.deletions}
            return fresh[which.kind].get(which)

        return [self._action(item, seen, again) for item in seen.plan.deletions]

    def _action(self, item: Found, seen: Leftovers, again: Callable[[Site, Aws], Found | None]) -> Action:
        def do(site: Site, which: Aws) -> Outcome:
            self.rounds.tried.add(which)
            if seen.is_stalled:
                return Outcome("refused", (TIME_UP,))
            now = again(site, which)
            if now is None:
                return Outcome("moved", ("it is not as it was a moment ago",))
            return Outcome("held", (TIME_UP,)) if now.going else self._delete(site, which, now, seen.staying)

        return Action("delete", identity_of(item), item.because, do, follows=lambda other: other.object.name == item.tags.get(INSTANCE_TAG))

    def _delete(self, site: Site, which: Aws, item: Found, staying: Iterable[tuple[Found, str]]) -> Outcome:
        """Delete one object. What hangs on another is tried again, unless that one stays."""
        refusal = ""
        try:
            more = deletion_constants(item.kind, item.tags, final_backup=self.final_backup)
            kind_named(item.kind).delete(site.api, item, more)
            site.tell(f"deleting {item.kind} {item.id}")
        except ClientError as error:
            code = code_of(error)
            if code in IN_USE:
                self.rounds.blocked.add(which)
                holder = holder_of(item, staying)
                refusal = f"held by {holder[0].kind} {holder[0].id}, which stays: {holder[1]}" if holder else ""
            # Already gone, or put off: the next round tells.
            elif code not in NOT_FOUND and code not in THROTTLED:
                refusal = f"{code}: {error.response.get('Error', {}).get('Message', '')}"
        except KeyboardInterrupt:
            site.tell(f"stopped while deleting {item.kind} {item.id}: it may be done")
            raise
        if not refusal:
            return Outcome("held", (TIME_UP,))
        site.tell(f"{item.kind} {item.id} is {refusal}" if which in self.rounds.blocked else f"refused {item.kind} {item.id}: {refusal}")
        self.rounds.refused[which] = refusal
        return Outcome("refused", (refusal,))

    def question(self, seen: Leftovers) -> Question | None:
        """How many; and the name, where the backend does not say what the stack holds."""
        identity, count = seen.ownership.identity, len(seen.plan.deletions)
        what = f"Delete {count} resources of {seen.ownership.subject.cluster} in {identity.region}, account {identity.account}?"
        is_known = self.rounds.today.unknown_since is None
        return Question(what, "" if is_known else f"Pulumi's backend does not say what stack `{self.stack}` holds today")

    def shown(self, seen: Leftovers) -> "Iterable[RenderableType]":
        """The plan, with prices."""
        return lines_of(seen.ownership.subject.cluster, seen.plan)

    def differences(self, _shown: Leftovers, _now: Leftovers) -> tuple[Difference, ...]:
        """None but the actions themselves."""
        return ()

    def result(self, seen: Leftovers, report: Report) -> Iterator[str]:
        """What went and what stayed."""
        if not report.outcomes:
            yield f"nothing of {seen.ownership.subject.cluster} is left over"
            return
        deleted = self.deleted(seen, report)
        for item, said in self.left(report):
            yield f"left {item.kind} {item.id}: {said}"
        stays = f", {len(report.left)} left: run it again" if report.left else ", nothing is left"
        yield f"{len(deleted)} deleted{stays}"

    def deleted(self, seen: Leftovers, report: Report) -> list[Found]:
        """What was there and is gone. What a later look finds held by the state is neither deleted nor to be deleted."""
        kept = {identity_of(item) for item, _ in seen.plan.kept}
        return [self.rounds.seen[which] for action, _ in report.done if isinstance(which := action.object, Aws) and which not in kept]

    def left(self, report: Report) -> list[tuple[Found, str]]:
        """What is still there, with why."""
        return [(self.rounds.seen[which], said_of(outcome)) for action, outcome in report.left if isinstance(which := action.object, Aws)]

    def data(self, seen: Leftovers, report: Report) -> dict[str, Any]:
        """For `--json`: the plan that was shown, and what became of it."""
        return {
            **plan_fields(seen.ownership.subject.cluster, self.rounds.shown),
            "deleted": [entry_of(item) for item in self.deleted(seen, report)],
            "left": [
                {**entry(action, outcome), "said": [said_of(outcome)], "usd_per_day": self.rounds.seen[which].usd_per_day}
                for action, outcome in report.left
                if isinstance(which := action.object, Aws)
            ],
        }


def said_of(outcome: Outcome) -> str:
    """Why something stays."""
    return NOT_DELETED if outcome == NOT_CONFIRMED else "; ".join(outcome.said)
