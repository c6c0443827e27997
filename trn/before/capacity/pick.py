"""Compares the candidates of a node group on the account, and writes the best into the stack file: by the ranking of `trn capacity find`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from facts.regions import zone_ids
from facts.typed import typed
from stacks.settings import NodeGroup, Settings
from trn.before.capacity.changes import MAX_ZONES, followers
from trn.before.capacity.region import RegionView
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import Way, ranked, ways
from trn.before.init.offers import second_zone
from trn.cli.errors import MISUSE, CommandError
from trn.engine.stack_edit import Edit
from trn.engine.stack_state import StackState

Place = tuple[str, str]
"""Region and zone id."""


@dataclass(frozen=True)
class Pick:
    """The candidates of one group, compared."""

    group: str
    now: Place
    """Where the group is."""
    ways: tuple[Way, ...]
    """Of all candidates, best first; those with an obstacle last."""
    silent: tuple[tuple[Place, str], ...]
    """Candidates for which there is no way at all, and why."""

    @property
    def best(self) -> Way | None:
        """The first that nothing stands against; None where there is none."""
        return next((way for way in self.ways if not way.obstacle), None)


def places(settings: Settings, group: NodeGroup) -> list[Place]:
    """Where the group may be: its own place, then its candidates."""
    named = [(candidate.region or settings.region, candidate.zone_id) for candidate in group.candidates]
    return list(dict.fromkeys([(settings.region, settings.zones_of(group)[0]), *named]))


def candidates_of(settings: Settings, name: str) -> list[Place]:
    """All places of a group. Raises CommandError where it has no candidate."""
    group = settings.node_groups[name]
    if not group.candidates:
        hint = f"`{typed('trn capacity find')}` shows what there is; then `nodeGroups.{name}.candidates: [{{zoneId: ..., region: ...}}]`"
        raise CommandError(f"`nodeGroups.{name}` has no `candidates`", hint, code=MISUSE)
    return places(settings, group)


def pick(settings: Settings, wanted: Wanted, views: Sequence[RegionView], account: str) -> Pick:
    """Rank the group's places by how it buys its instances now."""
    group, there = settings.node_groups[wanted.group], candidates_of(settings, wanted.group)
    found = [
        way
        for view in views
        for way in ways(view, wanted, account, settings)
        if (way.region, way.zone_id) in there and _is_bought_so(group, way)
    ]
    having, problems = {(way.region, way.zone_id) for way in found}, {view.region: view.problems for view in views}
    silent = [(place, _why(problems.get(place[0], {}))) for place in there if place not in having]

    def key(way: Way) -> tuple[object, ...]:
        # Among equals the group stays: a move replaces its nodes.
        cost = way.usd if way.usd is not None else float("inf")
        return bool(way.obstacle), way.starts, cost, (way.region, way.zone_id) != there[0]

    return Pick(wanted.group, there[0], tuple(sorted(ranked(found, settings.region), key=key)), tuple(silent))


def _why(problems: object) -> str:
    told = "; ".join(f"{what}: {why}" for what, why in problems.items()) if isinstance(problems, dict) else ""
    return told or "nothing of this kind is there"


def _is_bought_so(group: NodeGroup, way: Way) -> bool:
    """Whether a way leaves it at how the group is bought: a place is picked, not a price model."""
    if group.capacity_type == "CAPACITY_BLOCK":
        return way.is_block
    return way.kind == ("spot" if group.capacity_type == "SPOT" else "on-demand")


def edits(settings: Settings, name: str, way: Way) -> list[Edit]:
    """What the move changes in the stack file; nothing where the group is there already."""
    group = settings.node_groups[name]
    if (way.region, way.zone_id) == places(settings, group)[0]:
        return []
    return [*(_region_edits(settings, way) if way.region != settings.region else ()), *_group_edits(settings, name, way)]


def _region_edits(settings: Settings, way: Way) -> Iterator[Edit]:
    yield Edit(("region",), way.region)
    zones = [way.zone_id]
    for name, group in settings.node_groups.items():
        zones += [candidate.zone_id for candidate in group.candidates if candidate.region == way.region]
        if group.zone_ids:
            yield Edit(("nodeGroups", name, "zoneIds"), None)
        if any(candidate.region is None for candidate in group.candidates):
            # Without its region a candidate would be one of the new region.
            spelt = [{"region": candidate.region or settings.region, "zoneId": candidate.zone_id} for candidate in group.candidates]
            yield Edit(("nodeGroups", name, "candidates"), spelt)
    zones = list(dict.fromkeys(zones))
    if len(zones) == 1:
        zones.append(second_zone(way.zone_id, way.region, zone_ids(way.region)))
    yield Edit(("network", "zones"), zones[:MAX_ZONES])
    if settings.storage.lustre.zone_id is not None:
        yield Edit(("storage", "lustre", "zoneId"), None)
    if settings.control_plane.zones:
        yield Edit(("controlPlane", "zones"), None)


def _group_edits(settings: Settings, name: str, way: Way) -> Iterator[Edit]:
    group, place = settings.node_groups[name], ("nodeGroups", name)
    if way.region == settings.region:
        yield Edit((*place, "zoneIds"), [way.zone_id])
    if group.capacity_reservation_id is None:
        return
    # A reservation lies in one zone: the one that the group has is not in the other.
    yield Edit((*place, "capacityReservationId"), None)
    if group.capacity_type == "CAPACITY_BLOCK":
        yield Edit((*place, "capacityType"), None)
        yield Edit((*place, "size"), 0)
        if group.capacity_block is not None:
            yield Edit((*place, "capacityBlock"), None)


def refuse_move(settings: Settings, way: Way, state: StackState, stack: str) -> None:
    """Raises CommandError where the stack is up and the way is in another region: it would be destroyed and made anew there."""
    if way.region != settings.region and not state.is_gone:
        wrong = f"stack `{stack}` is up in {settings.region}, {state.count} resources: its region cannot be changed to {way.region}"
        raise CommandError(wrong, f"`{typed(f'trn destroy {stack}')}` first; or give the other region a stack of its own, by `trn init`")


def lines(told: Pick, settings: Settings) -> Iterator[str]:
    """The comparison, best first, and what the best does not bring along."""
    for number, way in enumerate(told.ways, 1):
        usd = "unknown" if way.usd is None else f"{way.usd:,.2f}"
        starts = f"{way.starts:%Y-%m-%d %H:%M}"
        here = ", where it is" if (way.region, way.zone_id) == told.now else ""
        yield f"{number:>2}  {way.region}, {way.zone_id}{here}: {way.kind}, {starts} UTC, {usd} USD{f'; {way.obstacle}' if way.obstacle else ''}"
    for (region, zone_id), why in told.silent:
        yield f" -  {region}, {zone_id}: {why}"
    best = told.best
    if best is not None and (best.region, best.zone_id) != told.now:
        held = settings.node_groups[told.group].capacity_reservation_id
        if held is not None:
            yield f"note     {held} leaves the stack file and is billed all the same: `{typed('trn capacity calendar')}` lists it"
        yield from (f"note     {line}" for line in followers(settings, best, told.group, edits(settings, told.group, best)))
