"""What `trn capacity find` prints: the ways in order, what each changes, what does not work, and what is not known; the same as data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import time
from textwrap import wrap
from typing import Any

from stacks.settings import Settings
from trn.before.capacity.changes import edits, followers
from trn.before.capacity.region import RegionView
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import Way, ranked, unsold, ways
from trn.engine.stack_edit import Edit, as_yaml

SCHEMA = "trn-capacity/1"
WIDTH = 80
_KINDS = {"on-demand": "on demand", "spot": "spot"}


@dataclass(frozen=True)
class Found:
    """Everything that was found, ranked."""

    stack: str
    settings: Settings
    wanted: Wanted
    views: Sequence[RegionView]
    ways: Sequence[Way]

    @property
    def working(self) -> list[Way]:
        """Ways that nothing stands against, best first."""
        return [way for way in self.ways if not way.obstacle]

    @property
    def blocked(self) -> list[Way]:
        """Ways that do not work as things are."""
        return [way for way in self.ways if way.obstacle]

    @property
    def unknown(self) -> list[tuple[str, str, str]]:
        """Region, what is not known of it, and why."""
        return [(view.region, what, why) for view in self.views for what, why in view.problems.items()]

    @property
    def empty(self) -> list[str]:
        """Regions in which no zone offers the type, and no way was found."""
        having = {way.region for way in self.ways}
        return [view.region for view in self.views if view.region not in having and not view.problems]


def found(stack: str, settings: Settings, wanted: Wanted, views: Sequence[RegionView], account: str) -> Found:
    """Rank what the regions have."""
    listed = [way for view in views for way in ways(view, wanted, account, settings)]
    return Found(stack, settings, wanted, views, ranked(listed, settings.region))


def lines(told: Found, details: int, rows: int) -> Iterator[str]:
    """For a terminal of 80 columns; commands stay on one line. `rows`: ways in the table, beside the best of each kind, which is always
    there; `details`: how many of them have their change of the stack file printed."""
    shown = _shown(told.working, rows)
    count = len(told.views)
    yield str(told.wanted)
    yield f"for `nodeGroups.{told.wanted.group}` of stack {told.stack}; {count} region{'s' * (count != 1)} asked"
    yield ""
    yield f"    {'begins (UTC)':<16}  {'zone':<10}  {'as':<27}  {'USD more':>12}" if told.working else "nothing that works was found"
    for number, way in shown:
        yield f"{number:>2}  {begins(way, told.wanted):<16}  {way.zone_id:<10}  {name_of(way):<27}  {money(way):>12}"
    if len(told.working) > len(shown):
        yield f"    and {len(told.working) - len(shown)} more: --rows {len(told.working)}"
    for number, way in explained(shown, details):
        yield from ("", *_details(told, number, way))
    if len(told.working) > details:
        yield ""
        yield f"what the others change: --details {len(shown)}, or --json"
    yield from _section("does not work now", [f"{way.zone_id}, {name_of(way)}: {way.obstacle}" for way in told.blocked])
    yield from _section("not known", [f"{region}, {what}: {why}" for region, what, why in told.unknown])
    yield from _section("no capacity blocks", [text] if (text := unsold(told.wanted)) else [])
    yield from _section("nothing there", [", ".join(told.empty)] if told.empty else [])


def _shown(ways: Sequence[Way], rows: int) -> list[tuple[int, Way]]:
    """The first ways with their numbers, and the best of each kind: zones of spot and on demand begin at once, and a block never does."""
    numbered = list(enumerate(ways, 1))
    return [(number, way) for number, way in numbered if number <= rows or number in _best(numbered)]


def explained(shown: Sequence[tuple[int, Way]], count: int) -> list[tuple[int, Way]]:
    """Ways whose change of the stack file is printed, each with its number: the best of each kind before the second of any."""
    chosen = sorted(shown, key=lambda each: (each[0] not in _best(shown), each[0]))[: max(count, 0)]
    return sorted(chosen, key=lambda each: each[0])


def _best(numbered: Sequence[tuple[int, Way]]) -> set[int]:
    """Numbers of the first of each kind."""
    return set({way.kind: number for number, way in reversed(numbered)}.values())


def _section(title: str, rows: Sequence[str]) -> Iterator[str]:
    if rows:
        yield ""
        yield f"{title}:"
        for row in rows:
            yield from _wrapped(row, "  ", "    ")


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    """A sentence in lines of the width; what is in backquotes stays whole where it fits."""
    return wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)


def _details(told: Found, number: int, way: Way) -> Iterator[str]:
    yield f"{number}  {name_of(way)} in {way.zone_id}, {way.region}"
    if way.ends is not None:
        emptied = "; EC2 ends its nodes from 30 minutes before" if way.is_block else ""
        yield f"   until {way.ends:%Y-%m-%d %H:%M} UTC{emptied}"
    for note in way.notes:
        yield from _wrapped(note, "   ", "   ")
    if way.kind == "block":
        yield from _how_bought(told, way)
    changes = edits(told.settings, told.wanted, way)
    if changes:
        yield f"   in Pulumi.{told.stack}.yaml:"
        yield from (f"   {line}" for line in as_yaml(changes))
    else:
        yield f"   Pulumi.{told.stack}.yaml says so already"
    follow = followers(told.settings, way, told.wanted.group, changes)
    if follow:
        yield "   does not follow by itself:"
        for line in follow:
            yield from _wrapped(line, "   - ", "     ")


def _how_bought(told: Found, way: Way) -> Iterator[str]:
    wanted = told.wanted
    command = f"trn capacity buy {told.stack} {way.id}"
    if wanted.group != next(iter(told.settings.node_groups), None):
        command += f" --group {wanted.group}"
    command += f" --instances {wanted.count} --hours {wanted.hours}"
    if wanted.earliest.time() == time():
        # As with `--from`: EC2 lists some of the blocks that begin from a day on, and the same day lists the same ones.
        command += f" --from {wanted.earliest:%Y-%m-%d}"
    if wanted.group not in told.settings.node_groups:
        command += f" --type {wanted.instance_type}"
    yield "   buy:" if way.region == told.settings.region else f"   buy, once the stack file says {way.region}:"
    yield f"     {command}"


def begins(way: Way, wanted: Wanted) -> str:
    """Its start; `now` for what can be tried at once."""
    return "now" if way.starts <= wanted.earliest else f"{way.starts:%Y-%m-%d %H:%M}"


def name_of(way: Way) -> str:
    """How it is got, with its id."""
    if way.kind == "reservation":
        return way.id
    return f"block {way.id}" if way.kind == "block" else _KINDS[way.kind]


def money(way: Way) -> str:
    """The sum in dollars."""
    return "unknown" if way.usd is None else f"{way.usd:,.2f}"


def as_data(told: Found) -> dict[str, Any]:
    """For `--json`."""
    wanted = told.wanted
    return {
        "schema": SCHEMA,
        "stack": told.stack,
        "region": told.settings.region,
        "wanted": {
            "group": wanted.group,
            "instanceType": wanted.instance_type,
            "instances": wanted.count,
            "hours": wanted.hours,
            "from": f"{wanted.earliest:%Y-%m-%dT%H:%M:%SZ}",
        },
        "ways": [_way_data(told, way) for way in told.ways],
        "unknown": [{"region": region, "what": what, "why": why} for region, what, why in told.unknown],
        "notOffered": told.empty,
    }


def _way_data(told: Found, way: Way) -> dict[str, Any]:
    changes = edits(told.settings, told.wanted, way)
    return {
        "kind": way.kind,
        "region": way.region,
        "zoneId": way.zone_id,
        "begins": f"{way.starts:%Y-%m-%dT%H:%M:%SZ}",
        "ends": None if way.ends is None else f"{way.ends:%Y-%m-%dT%H:%M:%SZ}",
        "instances": way.count,
        "usd": way.usd,
        "id": way.id or None,
        "promised": way.is_promised,
        "notes": list(way.notes),
        "obstacle": way.obstacle or None,
        "changes": [_edit_data(edit) for edit in changes],
        "mustFollow": followers(told.settings, way, told.wanted.group, changes),
    }


def _edit_data(edit: Edit) -> dict[str, Any]:
    return {"key": edit.key, "value": edit.value, "deleted": edit.value is None}
