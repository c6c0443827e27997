"""Looks in the account and the cluster for what a run was making, and waits for what AWS is still making."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from facts.resources.queries import Leftover, Lookup, Tagging
from facts.resources.table import TYPES
from trn.aws.api import Api
from trn.aws.cluster_identity import moment
from trn.aws.sighting import Sighting, sightings
from trn.cli.errors import CommandError
from trn.ending.recover.objects import Objects
from trn.ending.recover.plan import Plan, plan_recovery
from trn.engine.interrupted import Pending, State

LOOKUPS: Mapping[str, Lookup] = {token: item.lookup for token, item in TYPES.items() if isinstance(item.lookup, Lookup)}
"""How each AWS type is found, by its token."""
NAMED: Mapping[str, Leftover] = {
    token: item.leftover
    for token, item in TYPES.items()
    if token in LOOKUPS and LOOKUPS[token].mark == "part" and not LOOKUPS[token].query.tags
    if isinstance(item.tagging, Tagging) and isinstance(item.leftover, Leftover) and item.leftover.detail is not None
}
"""Types that are found by a name which anybody may have given, and how a sweep reads their tags."""
ROUNDS, PAUSE_S = 160, 15
"""Together 40 minutes: the provider itself waits 30 for a control plane."""


@dataclass(frozen=True)
class Recovery:
    """One recovery, with how to pass the time."""

    api: Api
    cluster: str
    connect: Callable[[], Objects | None]
    """Asked once, and only where something lives behind the API server; None where there is no cluster."""
    pause: Callable[[float], None]
    tell: Callable[[str], None]
    stack: str = ""
    """As in the tag `trn:stack`; `/trn/dev` where the organization is not known. What another stack made is not imported."""
    is_guess: bool = False
    """Nothing says that a creation had begun: what cannot be looked for is taken as not there."""

    @cached_property
    def objects(self) -> Objects | None:
        """The cluster's objects, None where there is no cluster."""
        return self.connect()

    def plan(self, state: State) -> Plan:
        """What to do, once nothing that was found is still being made.

        Raises CommandError where something is not ready after 40 minutes, and what a look raises.
        """
        plan = Plan()
        for _ in range(ROUNDS):
            found = {pending.urn: self.seen(pending) for pending in state.pending if pending.doing == "creating"}
            plan = plan_recovery(state, {urn: in_time(urn, state, there) for urn, there in found.items()})
            if not plan.making:
                return plan
            self.tell("waiting for " + ", ".join(f"{item.pending} ({item.sighting.said})" for item in plan.making))
            self.pause(PAUSE_S)
        names = ", ".join(f"{item.pending} {item.sighting.id}" for item in plan.making)
        raise CommandError(f"still not ready after 40 minutes: {names}", "run this again; what was made so far stays as it is")

    def uninstall(self, plan: Plan) -> None:
        """Forget the releases that were not installed to their end; their objects stay. Raises CommandError where one has changed since."""
        for item in plan.uninstalls:
            # Found through the cluster, so there is one.
            assert self.objects is not None
            namespace, _, _ = item.sighting.id.partition("/")
            for secret in self.objects.uninstall(namespace, item.sighting.parts):
                self.tell(f"deleted Secret {namespace}/{secret}; the objects of the release stay, the next `pulumi up` takes them over")

    def seen(self, pending: Pending) -> tuple[Sighting, ...] | None:
        """What may have been made of one creation; None where that cannot be known."""
        if not pending.is_custom:
            return ()
        try:
            if pending.type.startswith("kubernetes:"):
                return tuple(self.objects.find(pending.type, pending.inputs)) if self.objects else ()
            if pending.type in LOOKUPS:
                return tuple(sightings(self.api, LOOKUPS[pending.type], self.cluster, pending.inputs, self.stack, NAMED.get(pending.type)))
        except LookupError:
            # The inputs lack what identifies such an object.
            pass
        return () if self.is_guess else None


def in_time(urn: str, state: State, found: tuple[Sighting, ...] | None) -> tuple[Sighting, ...] | None:
    """The same, with a doubt about what was made before the killed run could have made it, or after its end."""
    if found is None:
        return None
    since, until = state.window(urn)
    judged = list[Sighting]()
    for item in found:
        at = moment(item.born)
        late = "after" if until and at > until else "before" if since and at < since else ""
        judged.append(
            replace(item, doubt=f"it was made at {at}, {late} the run that was killed") if at and late and not item.doubt else item
        )
    return tuple(judged)
