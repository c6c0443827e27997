"""What AWS's lists show of the account: objects of the program, what AWS and controllers made beside them, and neighbours.

Time passes by looks. What takes time to delete is shown as being deleted for some looks; a new object, or one that is
gone, may be shown late, as lists of AWS do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from facts.resources import ec2_tags
from simulator.account.neighbours import goes_along, holders
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.aws_endpoint import compute_entries, eks_entries, network_entries, service_entries
from simulator.aws_endpoint.entries import Entry, Kind
from simulator.aws_endpoint.wire import Refused

_MODULES = (network_entries, compute_entries, eks_entries, service_entries)
KINDS: Mapping[str, Kind] = {kind.name: kind for module in _MODULES for kind in module.KINDS}
_DERIVED = {name: makers for module in _MODULES for name, makers in module.DERIVED.items()}


@dataclass(frozen=True)
class Delays:
    """How far the lists lag behind the account, in looks at a kind."""

    deleting: int = 1
    """For which an object whose deletion takes time is shown as being deleted, and one that is being created as such."""
    changing: int = 1
    """For which an object that takes its time to change is shown as it was before, and as being changed."""
    unseen: int = 0
    """For which a new object is not shown."""
    still_seen: int = 0
    """For which an object that is gone is shown as it was."""


@dataclass
class Inventory:
    """Lists and deletions over one account."""

    world: World
    region: str
    """From which the account is looked at."""
    delays: Delays = field(default_factory=Delays)
    _going: dict[tuple[str, str], int] = field(default_factory=dict)
    _coming: dict[tuple[str, str], int] = field(default_factory=dict)
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    _last: dict[str, dict[str, Entry]] = field(default_factory=dict)
    """What there was of a kind at the last look at it."""
    _ghosts: dict[tuple[str, str], tuple[int, Entry]] = field(default_factory=dict)
    _changing: dict[tuple[str, str], tuple[int, Entry]] = field(default_factory=dict)

    def look(self, kind: str) -> dict[str, Entry]:
        """Entries of a kind by id, as a list shows them at this moment; time passes."""
        self._pass(kind)
        entries = self.entries(kind)
        if self.delays.still_seen:
            for which in self._last.get(kind, {}).keys() - entries.keys():
                self._ghosts[kind, which] = (self.delays.still_seen, self._last[kind][which])
            self._last[kind] = entries
        shown = self._as_shown(kind, entries)
        for which in entries:
            self._seen[kind, which] += 1
        for waiting in (self._ghosts, self._changing):
            for key, (looks, entry) in list(waiting.items()):
                if key[0] == kind:
                    waiting[key] = (looks - 1, entry)
                    if looks <= 1:
                        del waiting[key]
        return shown

    def _as_shown(self, kind: str, entries: dict[str, Entry]) -> dict[str, Entry]:
        """Entries as lists and descriptions show them, which lag behind."""
        shown = {which: entry for which, entry in entries.items() if self._seen[kind, which] >= self.delays.unseen}
        ghosts = {which: entry for (of_kind, which), (_, entry) in self._ghosts.items() if of_kind == kind and which not in entries}
        before = {which: entry for (of_kind, which), (_, entry) in self._changing.items() if of_kind == kind and which in shown}
        return shown | ghosts | before

    def entries(self, kind: str) -> dict[str, Entry]:
        """Entries of a kind by id as they are; no time passes."""
        made = KINDS[kind]
        found = dict(self._of_resources(made))
        for maker in _DERIVED.get(kind, ()):
            found |= {which: entry for which, entry in maker(self.world.state, self.region) if which not in found}
        found |= self.world.state.others.get(kind, {})
        return _with_tags(found, self.world.state) if kind == "subnet" else found

    def _of_resources(self, kind: Kind) -> Iterator[tuple[str, Entry]]:
        if kind.describe is not None:
            scheduled = [CloudObject(item, "deleting") for item in self.world.state.scheduled.values() if item.type == kind.type]
            for item in (*self.world.state.existing(kind.type), *scheduled):
                yield item.registration.id, kind.with_status(kind.describe(self.world.state, item.registration), item.status)

    def one(self, kind: str, **members: str) -> tuple[str, Entry]:
        """Id and entry of the object with these members; a member that an entry lacks is taken to fit. Time passes after the look.

        Raises Refused where there is none.
        """
        entries = self._as_shown(kind, self.entries(kind))
        self.look(kind)
        for which, entry in entries.items():
            if all(entry.get(key, value) == value for key, value in members.items()):
                return which, entry
        raise Refused(KINDS[kind].not_found, KINDS[kind].not_found_text.format_map(members), 404)

    def _object(self, kind: str, which: str) -> CloudObject | None:
        return self.world.state.find(KINDS[kind].type, which) if KINDS[kind].type else None

    def is_changing(self, kind: str, which: str) -> bool:
        """Whether a change of it is under way."""
        return (kind, which) in self._changing

    def change(self, kind: str, which: str, *, meanwhile: Entry | None = None, **inputs: object) -> None:
        """Set inputs of an object, judged as an update where it is a resource.

        `meanwhile`: what is shown of it until it has changed; such a change must become ready, or is taken back. None for what
        changes at once. Raises Refused where there is no such object, or the account refuses it.
        """
        entries = self.entries(kind)
        if which not in entries:
            raise Refused(KINDS[kind].not_found, f"{which} does not exist")
        if meanwhile is not None and self.delays.changing:
            self._changing[kind, which] = (self.delays.changing, {**entries[which], **meanwhile})
        item = self._object(kind, which)
        if item is None:
            self.world.state.others[kind][which] |= inputs
            return
        old = item.registration
        refusal = self.world.update(old, replace(old, inputs={**old.inputs, **inputs}))
        if refusal is None and meanwhile is not None:
            refusal = self.world.settle(item.registration)
            if refusal is not None:
                item.registration = old
        self.world.faults.ended(old)
        if refusal is not None:
            raise Refused(refusal.code, refusal.text)

    def delete(self, kind: str, which: str) -> Entry:
        """Delete an object, judged by the rules of the account; some deletions take a few looks.

        Raises Refused where there is no such object, or something holds it.
        """
        entries = self.entries(kind)
        if which not in entries:
            raise Refused(KINDS[kind].not_found, f"{which} does not exist")
        for code, holder in holders(self.entries, kind, which) if which in self.world.state.others.get(kind, {}) else ():
            raise Refused(code, f"{which} is held by {holder}")
        if self.delays.still_seen:
            self._last.setdefault(kind, {})[which] = entries[which]
        item = self._object(kind, which)
        if item is not None:
            self._delete_resource(KINDS[kind], item)
        elif which in self.world.state.others.get(kind, {}):
            self._delete_other(KINDS[kind], which)
        else:
            self._delete_derived(kind, which, entries[which])
        return {}

    def _delete_resource(self, kind: Kind, item: CloudObject) -> None:
        # AWS knows nothing of the engine's options.
        registration = replace(item.registration, options={})
        refusal = self.world.begin_delete(registration)
        self.world.faults.ended(registration)
        if refusal is not None:
            raise Refused(refusal.code, refusal.text)
        if not kind.is_slow:
            self.world.finish_delete(registration)

    def _delete_other(self, kind: Kind, which: str) -> None:
        others = self.world.state.others[kind.name]
        if kind.is_slow:
            others[which].update(kind.with_status(others[which], "deleting"))
            self._going.setdefault((kind.name, which), self.delays.deleting)
            return
        del others[which]
        if kind.name == "lb":
            self.world.state.others.get("interface", {}).pop(f"eni-of-{which}", None)

    def _delete_derived(self, kind: str, which: str, entry: Entry) -> None:
        """What AWS or a controller made: strays go; what belongs to a living object stays with it."""
        state = self.world.state
        for stray in list(state.strays.values()):
            if compute_entries.stands_for(stray, kind, which, self.region):
                rest = tuple(each for each in stray.subnet_ids if compute_entries.stray_interface(stray, each) != which)
                if kind == "interface" and rest:
                    state.add_stray(replace(stray, subnet_ids=rest))
                else:
                    state.drop_stray(stray)
                return
        if kind in ("instance", "volume"):
            # Its Auto Scaling group launches another one at once.
            return
        code = "CannotDelete" if goes_along(entry) else "DependencyViolation"
        raise Refused(code, f"{which} is in use, and is deleted with what it belongs to")

    def _pass(self, kind: str) -> None:
        """One look nearer to the end of what is under way."""
        made = KINDS[kind]
        for item in self.world.state.existing(made.type) if made.type else ():
            key = (kind, item.registration.id)
            if item.status == "deleting" and self._count_down(self._going, key):
                self.world.finish_delete(replace(item.registration, options={}))
            elif item.status == "creating" and self._count_down(self._coming, key):
                self.world.orphan(item.registration)
        for which in list(self.world.state.others.get(kind, {})):
            if (kind, which) in self._going and self._count_down(self._going, (kind, which)):
                del self.world.state.others[kind][which]

    def _count_down(self, looks: dict[tuple[str, str], int], key: tuple[str, str]) -> bool:
        left = looks.setdefault(key, self.delays.deleting) - 1
        if left < 0:
            del looks[key]
            return True
        looks[key] = left
        return False


def _with_tags(entries: dict[str, Entry], state: AccountState) -> dict[str, Entry]:
    """Entries with the tags that resources of the program put on them."""
    added = dict(entries)
    for tag in state.ready(ec2_tags.TAG.token):
        entry, key = added.get(tag.inputs["resourceId"]), tag.inputs["key"]
        if entry is not None:
            rest = [each for each in entry.get("Tags", ()) if each["Key"] != key]
            added[tag.inputs["resourceId"]] = {**entry, "Tags": [*rest, {"Key": key, "Value": tag.inputs["value"]}]}
    return added
