"""The simulated account as it stands: what exists, in which state, and what nobody's graph knows of.

The rules that it asks stand in `simulator.account.rules`; nothing here decides what is allowed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from simulator.account import consequences
from simulator.account.allowances import Account, Job
from simulator.account.faults import Faults
from simulator.account.kinds import RELEASE
from simulator.account.objects import Status, Stray, Thing
from simulator.account.rule import Refusal, Stage
from simulator.account.rules import rules_for
from simulator.recording import Registration


@dataclass
class World:
    """The simulated account. Mutable: requests change it."""

    account: Account = field(default_factory=Account)
    job: Job = field(default_factory=Job)
    faults: Faults = field(default_factory=Faults)
    strays: dict[str, Stray] = field(default_factory=dict)
    creations: Counter[str] = field(default_factory=Counter)
    """How often each URN was made: one that is made again gets an id of its own."""
    _things: dict[str, dict[str, Thing]] = field(default_factory=dict)

    def copy(self) -> "World":
        """An account of its own with the same content."""
        things = {kind: {key: replace(thing) for key, thing in there.items()} for kind, there in self._things.items()}
        return World(self.account, self.job, self.faults.copy(), dict(self.strays), Counter(self.creations), things)

    def existing(self, resource_type: str) -> list[Thing]:
        """What there is of a type, in any state."""
        return list(self._things.get(resource_type, {}).values())

    def ready(self, resource_type: str) -> list[Registration]:
        """What there is of a type and can be used."""
        return [thing.registration for thing in self.existing(resource_type) if thing.status == "ready"]

    def find(self, resource_type: str, resource_id: str) -> Thing | None:
        """One object by its physical id."""
        return self._things.get(resource_type, {}).get(resource_id)

    def __iter__(self) -> Iterator[Thing]:
        return (thing for things in self._things.values() for thing in things.values())

    def ask(self, stage: Stage, registration: Registration) -> Refusal | None:
        """The first rule, or fault, that stands against it."""
        if not exists_in_cloud(registration):
            return None
        struck = self.faults.strike(stage, registration)
        if struck is not None:
            return struck
        for one in rules_for(stage, registration.type):
            refusal = one.check(self, registration)
            if refusal is not None:
                return refusal
        return None

    def begin_create(self, registration: Registration) -> Refusal | None:
        """A request to make something; from then on it is there, whatever becomes of who asked."""
        refusal = self.ask("create", registration)
        if refusal is None and exists_in_cloud(registration):
            self._put(Thing(registration, "making"))
            self.creations[registration.urn] += 1
        return refusal

    def settle(self, registration: Registration) -> Refusal | None:
        """Let what is being made become ready, where nothing keeps it from that."""
        thing = self.find(registration.type, registration.id)
        if thing is None:
            return None
        refusal = self.ask("settle", registration)
        if refusal is None:
            thing.status = "ready"
        return refusal

    def abandon(self, registration: Registration, refusal: Refusal) -> None:
        """Nobody waits any longer for what did not become ready."""
        thing = self.find(registration.type, registration.id)
        if thing is not None and refusal.leaves == "nothing":
            self._drop(registration)
        elif thing is not None:
            thing.status = "failed" if refusal.leaves == "failed" else "unready"

    def update(self, old: Registration, new: Registration) -> Refusal | None:
        """Change something in place, or refuse."""
        refusal = self.ask("update", new)
        thing = self.find(old.type, old.id)
        if refusal is None and thing is not None:
            thing.registration = replace(new, id=old.id)
            if thing.status == "unready":
                refusal = self.settle(thing.registration)
        return refusal

    def begin_delete(self, registration: Registration) -> Refusal | None:
        """A request to delete something. What is gone already counts as deleted."""
        if registration.options.get("retainOnDelete"):
            return None
        thing = self.find(registration.type, registration.id)
        refusal = self.ask("delete", registration)
        if refusal is None and thing is not None:
            thing.status = "leaving"
        return refusal

    def finish_delete(self, registration: Registration) -> None:
        """Its end, and what that brings about."""
        if registration.options.get("retainOnDelete") or self.find(registration.type, registration.id) is None:
            return
        self._drop(registration)
        consequences.of_deletion(self, registration)

    def put(self, registration: Registration, status: Status = "ready") -> None:
        """Something is there without anybody's request, such as what an earlier run has made."""
        self._put(Thing(registration, status))

    def leaving(self, registration: Registration) -> bool:
        """Whether its deletion has been accepted."""
        thing = self.find(registration.type, registration.id)
        return thing is not None and thing.status == "leaving"

    def orphan(self, registration: Registration) -> None:
        """Whoever asked for it is gone. AWS goes on by itself; a Helm release stays as it was, half installed."""
        thing = self.find(registration.type, registration.id)
        if thing is None:
            return
        if registration.type == RELEASE:
            thing.status = "failed"
            return
        refusal = self.settle(registration)
        if refusal is not None:
            thing.status = "failed" if refusal.leaves == "failed" else "unready"
        self.faults.ended(registration)

    def lose(self, registration: Registration) -> None:
        """Something goes without anybody's request, and without consequences."""
        self._drop(registration)

    def verify(self) -> list[tuple[Registration, str, Refusal]]:
        """What is wrong with a cluster that is up: resource, rule, and why it cannot be used for what it is there for."""
        found: list[tuple[Registration, str, Refusal]] = []
        for thing in sorted(self, key=lambda thing: thing.registration.urn):
            for one in rules_for("verify", thing.registration.type):
                refusal = one.check(self, thing.registration)
                if refusal is not None:
                    found.append((thing.registration, one.name, refusal))
        return found

    def stray(self, made: Stray) -> None:
        """Something appears that no resource stands for."""
        self.strays[made.name] = made

    def leftovers(self) -> list[tuple[str, str]]:
        """(URN, what) of all that is there, sorted."""
        things = [(thing.registration.urn, thing.what) for thing in self]
        return sorted([*things, *((stray.urn, stray.what) for stray in self.strays.values())])

    def registrations(self) -> Sequence[Registration]:
        """What exists, for a bill."""
        return [thing.registration for thing in self]

    def _put(self, thing: Thing) -> None:
        self._things.setdefault(thing.registration.type, {})[thing.registration.id] = thing

    def _drop(self, registration: Registration) -> None:
        self._things.get(registration.type, {}).pop(registration.id, None)


def exists_in_cloud(registration: Registration) -> bool:
    """Whether a registration stands for something outside the engine: components and providers do not."""
    return registration.custom and not registration.type.startswith("pulumi:providers:")
