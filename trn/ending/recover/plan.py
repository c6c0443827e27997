"""What a recovery does: a value made from the state and from what was found in the account.

What was being made under a URN that the state holds is one of three. Its predecessor was deleted to make room for it: it takes that place.
It differs from the live one: it is a replacement on its way, and takes the place of the live one, which waits for its deletion from then
on, as it would have done. Else a later run made it again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from facts.resources.table import TYPES
from facts.typed import typed
from trn.aws.sighting import Sighting
from trn.engine.interrupted import Pending, State

Found = Mapping[str, "tuple[Sighting, ...] | None"]
"""By URN: what was found, or None where the type cannot be looked for or the inputs do not identify the object."""

MADE_TWICE = frozenset(token for token, item in TYPES.items() if item.second == "another")
"""Types of which AWS makes a second one without a word: the others have a name or a place of their own."""


@dataclass(frozen=True)
class Import:
    """One object to import into the state."""

    pending: Pending
    sighting: Sighting
    in_place: bool = False
    """Whether the state holds its URN: it takes over that place, where `pulumi import` refuses."""


@dataclass(frozen=True)
class Unclear:
    """One creation of which a person must say what became of it."""

    pending: Pending
    why: str
    do: str


@dataclass(frozen=True)
class Plan:
    """What would be done, and why nothing is done where something is not clear."""

    imports: tuple[Import, ...] = ()
    uninstalls: tuple[Import, ...] = ()
    """Helm releases that were not installed to their end."""
    making: tuple[Import, ...] = ()
    """What AWS is still making: waited for."""
    never_made: tuple[Pending, ...] = ()
    settled: tuple[Pending, ...] = ()
    """The state holds the resource already: a later run, or an import by hand."""
    leftovers: tuple[Import, ...] = ()
    """Objects that a later run made a second time; the first is found by the sweep."""
    refreshed: tuple[Pending, ...] = ()
    """Changes and deletions without an end: read again."""
    unclear: tuple[Unclear, ...] = ()

    @property
    def has_work(self) -> bool:
        """Whether anything was found without an end."""
        return any(vars(self).values())

    @property
    def deeds(self) -> frozenset[tuple[str, ...]]:
        """All that would be changed, each with what tells its object from every other."""
        imports = {("import", item.pending.urn, item.sighting.id, item.sighting.born) for item in self.imports}
        secrets = {("uninstall", *part) for item in self.uninstalls for part in item.sighting.parts}
        cleared = {("clear", item.urn) for item in (*self.never_made, *self.settled, *self.refreshed)}
        return frozenset(imports | secrets | cleared)


def plan_recovery(state: State, found: Found) -> Plan:
    """Sort every operation without an end by what became of it."""
    kept: dict[str, list[Any]] = {name: [] for name in Plan.__dataclass_fields__}
    for pending in _unique(state.pending):
        if pending.doing != "creating":
            kept["refreshed"].append(pending)
            continue
        sightings = found.get(pending.urn)
        unknown = [sighting for sighting in sightings or () if (pending.type, sighting.id) not in state.known]
        if state.is_there(pending.urn) and (not pending.is_custom or state.live[pending.urn].get("inputs", {}) == pending.inputs):
            kept["settled"].append(pending)
            if pending.type in MADE_TWICE:
                kept["leftovers"] += [Import(pending, sighting) for sighting in unknown if not sighting.doubt]
        elif sightings is None:
            kept["unclear"].append(_not_looked_for(pending))
        else:
            _sort(pending, unknown, kept, in_place=pending.urn in state.live)
    return Plan(**{name: tuple(items) for name, items in kept.items()})


def _sort(pending: Pending, sightings: list[Sighting], kept: dict[str, list[Any]], *, in_place: bool) -> None:
    doubtful = [sighting for sighting in sightings if sighting.doubt]
    if doubtful:
        kept["unclear"].append(_doubtful(pending, doubtful[0]))
    elif len(sightings) > 1:
        kept["unclear"].append(_several(pending, sightings))
    elif not sightings:
        kept["never_made"].append(pending)
    else:
        where = {"half": "uninstalls", "making": "making"}.get(sightings[0].progress, "imports")
        kept[where].append(Import(pending, sightings[0], in_place))


def _unique(pending: Iterable[Pending]) -> list[Pending]:
    """One for each URN: a run on top of another leaves the first one's operations as they were."""
    return list({item.urn: item for item in pending}.values())


def _not_looked_for(pending: Pending) -> Unclear:
    why = "its type, or what it was made from, does not tell how to find it"
    return Unclear(pending, why, f"if it exists, {_by_hand(pending, 'ID')}; if not, `{typed('pulumi refresh')}` and clear it when asked")


def _doubtful(pending: Pending, sighting: Sighting) -> Unclear:
    do = f"see who made it; if it is this stack's, {_by_hand(pending, sighting.id)}; if not, `{typed('pulumi up')}` needs another name, or it gone"
    return Unclear(pending, f"{sighting.id}: {sighting.doubt}", do)


def _by_hand(pending: Pending, which: str) -> str:
    parts = [f"pulumi import {pending.type} {pending.name} {which} --protect=false --generate-code=false"]
    parts += [f'--parent "parent={pending.parent}"'] if pending.parent else []
    parts += [f'--provider "provider={pending.provider}"'] if pending.provider else []
    return typed(" ".join(parts))


def _several(pending: Pending, sightings: list[Sighting]) -> Unclear:
    ids = ", ".join(sighting.id for sighting in sightings)
    return Unclear(pending, f"there are {len(sightings)}: {ids}", "delete all but one, then run this again")


def taken_over(deployment: Mapping[str, Any], imports: Iterable[Import]) -> dict[str, Any]:
    """A deployment of `pulumi stack export` in which these have taken the places that it holds, as the engine would have written it.

    A successor stands right before what it replaces: what it needs was saved before, what needs it comes after.
    """
    made = {item.pending.urn: {**item.pending.entry, "id": item.sighting.id} for item in imports}
    resources: list[Mapping[str, Any]] = []
    for entry in deployment.get("resources") or ():
        if entry.get("delete") or entry["urn"] not in made:
            resources.append(entry)
            continue
        resources.append(made[entry["urn"]])
        if not entry.get("pendingReplacement"):
            resources.append({**entry, "delete": True})
    return {**deployment, "resources": resources}


def import_file(imports: Iterable[Import]) -> dict[str, Any]:
    """What `pulumi import --file` reads: resources with the parents and providers that they would have had."""
    names: dict[str, str] = {}
    resources: list[dict[str, str]] = []
    for item in imports:
        entry = {"type": item.pending.type, "name": item.pending.name, "id": item.sighting.id}
        for key, urn in (("parent", item.pending.parent), ("provider", item.pending.provider)):
            if urn:
                entry[key] = names.setdefault(urn, f"{key}{len(names)}")
        resources.append(entry)
    return {"nameTable": {name: urn for urn, name in names.items()}, "resources": resources}
