"""Looking and deleting: rounds until nothing is left, so that a run which was stopped can be run again."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from botocore.exceptions import ClientError

from facts.names import CLUSTER_TAG
from operations.aws.api import Api, tags_of
from operations.aws.control_plane import described
from operations.aws.errors import IN_USE, NOT_FOUND, THROTTLED, code_of
from operations.aws.found import KINDS, Found, Kind, Place, kind_named
from operations.aws.network import cluster_vpc_ids
from operations.cluster.sweep.plan import SweepPlan, plan_sweep
from operations.errors import CommandError

ROUNDS = 80
PAUSE_S = 15
"""Together 20 minutes: a control plane with its node groups takes about 15 to go."""
STALLED_ROUNDS = 8
"""Rounds without a change after which a sweep gives up, once AWS has refused something for good: the rest may hang on it."""
Tell = Callable[[str], None]


def place_of(api: Api, cluster: str) -> Place:
    """Where to look for a cluster's objects.

    Raises CommandError where an EKS cluster has the name and is not this program's: its controllers mark their objects with it.
    """
    entry = described(api, cluster)
    if entry is not None and tags_of(entry, "tags").get(CLUSTER_TAG) != cluster:
        wrong = f"there is an EKS cluster `{cluster}` in {api.region} that lacks the tag {CLUSTER_TAG}={cluster}: it is not this program's"
        raise CommandError(wrong, "nothing was looked for; give the stack another `trn:name`")
    return Place(cluster, cluster_vpc_ids(api, cluster))


def look(api: Api, place: Place, kinds: Collection[Kind] = KINDS) -> Iterator[Found]:
    """Everything of the kinds that is the cluster's."""
    for kind in kinds:
        yield from kind.find(api, place)


@dataclass(frozen=True)
class Outcome:
    """What a sweep came to."""

    deleted: list[Found]
    """What was seen, deleted, and is no longer there."""
    left: list[tuple[Found, str]]
    """What is still there, with what AWS said last."""


@dataclass(frozen=True)
class Sweep:
    """One sweep: what to leave alone, and how to pass the time."""

    api: Api
    cluster: str
    pause: Callable[[float], None]
    tell: Tell
    keep_ids: Collection[str] = ()
    with_data: bool = False
    show: Callable[[int, int], None] = lambda gone, seen: None
    """Called with the number of deleted objects and the number of all that were seen."""

    def plan(self) -> SweepPlan:
        """What would be deleted now. Reads only."""
        return plan_sweep(look(self.api, place_of(self.api, self.cluster)), self.keep_ids, with_data=self.with_data)

    def run(self, plan: SweepPlan) -> Outcome:
        """Delete until a look finds nothing more, or nothing that can go.

        Objects are deleted in order, and those that others still block are tried again in the next round.
        """
        refused, seen = dict[str, str](), dict[str, Found]()
        there, unchanged = set[str](), 0
        for number in range(ROUNDS):
            if number:
                self.pause(PAUSE_S)
                plan = self.plan()
            before, there = there, {found.id for found in plan.deletions}
            unchanged = unchanged + 1 if there == before else 0
            seen |= {found.id: found for found in plan.deletions}
            self.show(len(seen) - len(there), len(seen))
            for found in plan.deletions:
                text, again = ("", True) if found.id in refused else self._delete(found)
                if not again:
                    refused[found.id] = text
            if there <= refused.keys() or (refused and unchanged >= STALLED_ROUNDS):
                break
        said = {found.id: refused.get(found.id, "still held, or still going, when the time was up") for found in plan.deletions}
        return Outcome(
            deleted=[found for name, found in seen.items() if name not in there],
            left=[(found, said[found.id]) for found in plan.deletions],
        )

    def _delete(self, found: Found) -> tuple[str, bool]:
        """What AWS said, empty for consent, and whether to look at it again."""
        if found.going:
            return "", True
        try:
            kind_named(found.kind).delete(self.api, found)
        except ClientError as error:
            code = code_of(error)
            text = f"{code}: {error.response.get('Error', {}).get('Message', '')}"
            # Already gone, or blocked by an object that is deleted later: continue.
            again = code in NOT_FOUND or code in IN_USE or code in THROTTLED
            if not again:
                self.tell(f"refused {found.kind} {found.id}: {text}")
            return text, again
        self.tell(f"deleting {found.kind} {found.id}")
        return "", True
