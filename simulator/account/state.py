"""What exists in the simulated account: objects by type and id, and strays, which belong to no resource of the program.

Nothing here decides what is allowed (`judge`) or what follows from a change (`consequences`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime

from simulator.account import kinds
from simulator.account.allowances import Allowances, Job
from simulator.account.ledger import Ledger
from simulator.account.neighbours import Entry
from simulator.account.objects import CloudObject, Status, Stray
from simulator.recording import Registration

Amounts = Callable[["AccountState", CloudObject], Mapping[Hashable, int]]
"""What an object has, for a ledger."""


@dataclass
class AccountState:
    """Everything in the account, and the limits that AWS has set for it. Mutable; each change asserts what must hold."""

    allowances: Allowances = field(default_factory=Allowances)
    job: Job = field(default_factory=Job)
    strays: dict[str, Stray] = field(default_factory=dict)
    """By name."""
    others: dict[str, dict[str, Entry]] = field(default_factory=dict)
    """What others made in the account, by kind and id (`simulator.account.neighbours`)."""
    creations: Counter[str] = field(default_factory=Counter)
    """How often each URN was created: a resource that is created again gets a new id."""
    scheduled: dict[str, Registration] = field(default_factory=dict)
    """What waits for its deletion, by id: AWS still shows it for days, nothing can use it, and it bills nothing."""
    found_namespaces: frozenset[str] = frozenset()
    """Namespaces that AWS found in a real cluster, whoever made them; not kept."""
    now: datetime | None = None
    """The day and time that it is in the account; None where nothing depends on it."""
    _objects: dict[str, dict[str, CloudObject]] = field(default_factory=dict)
    _ledgers: dict[str, dict[Amounts, Ledger]] = field(default_factory=dict, repr=False, compare=False)
    """By type of their objects."""
    _void: dict[str, set[str]] = field(default_factory=dict, repr=False, compare=False)
    """Type to the types of whose objects some ledger rests on it."""

    def __post_init__(self) -> None:
        for item in self:
            item.changed = self._changed

    def copy(self) -> "AccountState":
        """An independent account with the same content."""
        objects = {kind: {key: replace(item, changed=None) for key, item in there.items()} for kind, there in self._objects.items()}
        return AccountState(
            self.allowances,
            self.job,
            dict(self.strays),
            deepcopy(self.others),
            Counter(self.creations),
            dict(self.scheduled),
            self.found_namespaces,
            self.now,
            objects,
        )

    def existing(self, resource_type: str) -> list[CloudObject]:
        """All objects of a type, in any status."""
        return list(self._objects.get(resource_type, {}).values())

    def types(self) -> list[str]:
        """Types of which there may be an object."""
        return list(self._objects)

    def ready(self, resource_type: str) -> list[Registration]:
        """Objects of a type that can be used."""
        return [item.registration for item in self.existing(resource_type) if item.status == "ready"]

    @property
    def whole(self) -> "AccountState":
        """The account with all of its clusters (`simulator.account.one_cluster`)."""
        return self

    def find(self, resource_type: str, resource_id: str, cluster: str = "") -> CloudObject | None:
        """One object by its physical id. `cluster`: name of the one whose API server keeps it, where it is known."""
        there = self._objects.get(resource_type, {})
        place = _place(there, resource_type, resource_id, cluster)
        return None if place is None else there[place]

    def of(self, registration: Registration) -> CloudObject | None:
        """The object of a resource."""
        return self.find(registration.type, registration.id, registration.cluster)

    def __iter__(self) -> Iterator[CloudObject]:
        return (item for objects in self._objects.values() for item in objects.values())

    def add(self, registration: Registration, status: Status) -> CloudObject:
        """A new object. Its id must be free: two objects of a type never share one."""
        assert registration.id, f"{registration.urn} has no id"
        assert self.of(registration) is None, f"{registration.type} {registration.id} exists already"
        return self._set(CloudObject(registration, status))

    def put(self, registration: Registration, status: Status = "ready") -> CloudObject:
        """An object as it is to be, in place of the one with its id where there is one."""
        assert registration.id, f"{registration.urn} has no id"
        return self._set(CloudObject(registration, status))

    def remove(self, registration: Registration) -> None:
        """The object is gone; it must exist."""
        there = self._objects.get(registration.type, {})
        place = _place(there, registration.type, registration.id, registration.cluster)
        assert place is not None, f"{registration.type} {registration.id} does not exist"
        gone = there.pop(place)
        gone.changed = None
        self._enter(place, gone, there=False)

    def schedule(self, registration: Registration) -> None:
        """The object can no longer be used, and is deleted in some days; it must exist."""
        self.remove(registration)
        self.scheduled[registration.id] = registration

    def add_stray(self, stray: Stray) -> None:
        """Add an object that belongs to no resource of the program; it replaces one of the same name and cluster."""
        same = self.strays.get(stray.name)
        self.strays[stray.name if same is None or same.cluster == stray.cluster else f"{stray.name} of {stray.cluster}"] = stray

    def drop_stray(self, stray: Stray) -> None:
        """It is gone; one of its name and cluster need not be there."""
        for name in [name for name, item in self.strays.items() if (item.name, item.cluster) == (stray.name, stray.cluster)]:
            del self.strays[name]

    def leftovers(self) -> list[tuple[str, str]]:
        """(URN, description) of everything that exists, sorted."""
        objects = [(item.registration.urn, item.what) for item in self]
        return sorted([*objects, *((stray.urn, stray.what) for stray in self.strays.values())])

    def registrations(self) -> Sequence[Registration]:
        """All objects, for a bill."""
        return [item.registration for item in self]

    def ledger(self, resource_type: str, amounts: Amounts, *, rests_on: tuple[str, ...] = ()) -> Ledger:
        """Sums over all objects of a type. `rests_on`: types of further objects that the amounts depend on."""
        kept = self._ledgers.setdefault(resource_type, {})
        if amounts not in kept:
            kept[amounts] = Ledger(rests_on)
            for other in rests_on:
                self._void.setdefault(other, set()).add(resource_type)
            for place, item in self._objects.get(resource_type, {}).items():
                kept[amounts].enter(place, amounts(self, item))
        return kept[amounts]

    def holders(self, resource_type: str, amounts: Amounts, key: Hashable) -> list[CloudObject]:
        """Objects of a type that have some of it, the first to have it first."""
        return [self._objects[resource_type][which] for which in self.ledger(resource_type, amounts).holders(key)]

    def _set(self, item: CloudObject) -> CloudObject:
        made = item.registration
        there = self._objects.setdefault(made.type, {})
        place = _place(there, made.type, made.id, made.cluster)
        if place is not None:
            there[place].changed = None
        there[place or _name(made.id, made.cluster)] = item
        item.changed = self._changed
        return item

    def _changed(self, item: CloudObject) -> None:
        made = item.registration
        place = _place(self._objects[made.type], made.type, made.id, made.cluster)
        assert place is not None, f"{made.type} {made.id} does not exist"
        self._enter(place, item, there=True)

    def _enter(self, place: str, item: CloudObject, *, there: bool) -> None:
        kind = item.registration.type
        for amounts, ledger in self._ledgers.get(kind, {}).items():
            ledger.enter(place, amounts(self, item) if there else {})
        for resting in self._void.pop(kind, ()):
            self._ledgers[resting] = {key: ledger for key, ledger in self._ledgers[resting].items() if kind not in ledger.rests_on}


def _name(resource_id: str, cluster: str) -> str:
    """Two clusters may each keep an object of one id."""
    return f"{resource_id} in {cluster}" if cluster else resource_id


def _place(there: Mapping[str, CloudObject], resource_type: str, resource_id: str, cluster: str) -> str | None:
    """Where an object is among those of its type; of an object whose cluster is not known, the first of its id."""
    for name in (_name(resource_id, cluster), resource_id):
        if name in there:
            return name
    kept = there.items() if not cluster and kinds.is_kubernetes(resource_type) else ()
    return next((name for name, item in kept if item.registration.id == resource_id), None)
