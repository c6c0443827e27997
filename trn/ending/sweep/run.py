"""Looking and deleting: rounds until nothing is left, so that a run which was stopped can be run again."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property

from botocore.exceptions import ClientError

from trn.aws.api import Api
from trn.aws.errors import IN_USE, NOT_FOUND, THROTTLED, code_of
from trn.aws.fsx import deletion_constants
from trn.aws.leftovers import CLUSTERS, KINDS, Found, Kind, Place
from trn.aws.owner_tags import Owner
from trn.aws.places import look
from trn.aws.role_users import role_users
from trn.change.sweep_plan import ROLES, Keeping, SweepPlan, plan_sweep
from trn.ending.sweep.holders import holder_of

ROUNDS = 80
PAUSE_S = 15
"""Together 20 minutes: a control plane with its node groups takes about 15 to go."""
STALLED_ROUNDS = 8
"""Rounds without a change after which a sweep gives up, once something stays for good, refused or kept: the rest may hang on it."""
NOT_CONFIRMED = "appeared after the plan was confirmed: it was not deleted"
Tell = Callable[[str], None]


def judged(api: Api, found: Collection[Found], keeping: Keeping) -> SweepPlan:
    """What of these would be deleted, after a look at which clusters use the roles among them. Reads only."""
    if any(item.kind == ROLES for item in found):
        keeping = replace(keeping, role_users=role_users(api))
    return plan_sweep(found, keeping)


@dataclass(frozen=True)
class Outcome:
    """What a sweep came to."""

    deleted: list[Found]
    """What was seen, deleted, and is no longer there."""
    left: list[tuple[Found, str]]
    """What is still there, with what AWS said last."""


@dataclass(frozen=True)
class Sweep:
    """One sweep for one owner: what to leave alone, and how to pass the time."""

    api: Api
    owner: Owner
    pause: Callable[[float], None]
    tell: Tell
    keeping: Keeping = field(default_factory=Keeping)
    """Its owner is the sweep's."""
    final_backup: bool = False
    """Whether the settings want a backup of the file system that is deleted."""
    check: Callable[[], frozenset[str]] = frozenset
    """Called before each round: ids that Pulumi's state holds by now, which are kept too. Raises where the cluster is no longer the
    one that was confirmed, or the lock is lost."""
    agree: Callable[[tuple[Found, ...]], bool] = lambda found: False
    """Asked about what appeared since the plan was confirmed."""
    show: Callable[[int, int], None] = lambda gone, seen: None
    """Called with the number of deleted objects and the number of all that were seen."""

    @cached_property
    def place(self) -> Place:
        """Where it looks."""
        return Place(self.owner.cluster, self.owner.vpc_ids)

    def judged(self, found: Collection[Found], held: frozenset[str] = frozenset()) -> SweepPlan:
        """What of these would be deleted. `held`: ids that are kept beside those that were known from the start."""
        return judged(self.api, found, replace(self.keeping, owner=self.owner, ids=self.keeping.ids | held))

    def plan(self) -> SweepPlan:
        """What would be deleted now. Reads only."""
        return self.judged(list(look(self.api, self.place)))

    def run(self, confirmed: SweepPlan) -> Outcome:
        """Delete what was confirmed until a look finds nothing more of it, or nothing that can go.

        In each round the kinds are looked at one after the other, and what is seen is judged again before it is deleted: its tags,
        its account, its time of creation. What others still block is tried again in the next round.
        """
        refused, seen = dict[str, str](), {found.key: found for found in confirmed.deletions}
        there, unchanged, plan = set[str](), 0, confirmed
        for number in range(ROUNDS):
            if number:
                self.pause(PAUSE_S)
            blocked = set[str]()
            plan = self._round(confirmed, refused, blocked, self.check())
            new = tuple(found for found in plan.new_since(confirmed) if found.key not in refused)
            if new and self.agree(new):
                confirmed = SweepPlan((*confirmed.deletions, *new))
                new = ()
            refused |= {found.key: NOT_CONFIRMED for found in new}
            before, there = there, {found.key for found in plan.deletions}
            seen |= {found.key: found for found in plan.deletions}
            # What a later look finds held by the state is neither deleted nor to be deleted.
            for found, _ in plan.kept:
                seen.pop(found.key, None)
            # What is being deleted needs its time, whatever else has been refused.
            going = any(found.going for found in plan.deletions)
            unchanged = unchanged + 1 if there == before and not going else 0
            self.show(len(seen) - len(there), len(seen))
            if not going and there <= refused.keys() | blocked:
                self._add_held(plan, blocked - refused.keys(), refused)
            if there <= refused.keys() or ((refused or plan.kept) and unchanged >= STALLED_ROUNDS):
                break
        said = {found.key: refused.get(found.key, "still held, or still going, when the time was up") for found in plan.deletions}
        return Outcome(
            deleted=[found for key, found in seen.items() if key not in there],
            left=[(found, said[found.key]) for found in plan.deletions],
        )

    def _add_held(self, plan: SweepPlan, blocked: Collection[str], refused: dict[str, str]) -> None:
        """Say what is held for good by an object that stays: another try is of no use while that lives."""
        listed = {found.key for found in plan.deletions}
        strangers = (found for kind in KINDS for found in kind.in_vpcs(self.api, self.place) if found.key not in listed)
        staying = [*plan.kept, *((found, why) for found in strangers if (why := self.owner.objection(found)))]
        # In the order of deletion: what is held holds what comes after it.
        for found in plan.deletions:
            holder = holder_of(found, staying) if found.key in blocked else None
            if holder is not None:
                refused[found.key] = f"held by {holder[0].kind} {holder[0].id}, which stays: {holder[1]}"
                self.tell(f"{found.kind} {found.id} is {refused[found.key]}")
            if found.key in refused:
                staying.append((found, refused[found.key]))

    def _round(self, confirmed: SweepPlan, refused: dict[str, str], blocked: set[str], held: frozenset[str]) -> SweepPlan:
        """One pass over all kinds, in the order in which they can be deleted; what was seen in it.

        `blocked` takes what AWS refused because something hangs on it.
        """
        seen = list[Found]()
        # Whether the cluster stays decides on what its controllers look after, and is known before any kind is looked at.
        clusters = list(CLUSTERS.find(self.api, self.place))
        for kind in KINDS:
            found = list(kind.find(self.api, self.place))
            plan = self.judged([*found, *(clusters if kind is not CLUSTERS else ())], held)
            now = SweepPlan(tuple(item for item in plan.deletions if item.kind == kind.name))
            new = {item.key for item in now.new_since(confirmed)}
            for item in now.deletions:
                if item.key not in new and item.key not in refused:
                    self._delete(kind, item, refused, blocked)
            seen += found
        return self.judged(seen, held)

    def _delete(self, kind: Kind, found: Found, refused: dict[str, str], blocked: set[str]) -> None:
        """Delete one object, and keep what AWS says: where another try is of no use, and where something hangs on it."""
        if found.going:
            return
        try:
            kind.delete(self.api, found, deletion_constants(found.kind, found.tags, final_backup=self.final_backup))
        except ClientError as error:
            code = code_of(error)
            text = f"{code}: {error.response.get('Error', {}).get('Message', '')}"
            if code in IN_USE:
                blocked.add(found.key)
            # Already gone, or blocked by an object that is deleted later: continue.
            if code not in NOT_FOUND and code not in IN_USE and code not in THROTTLED:
                self.tell(f"refused {found.kind} {found.id}: {text}")
                refused[found.key] = text
            return
        except KeyboardInterrupt:
            self.tell(f"stopped while deleting {found.kind} {found.id}: it may be done")
            raise
        self.tell(f"deleting {found.kind} {found.id}")
