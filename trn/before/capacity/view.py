"""What `trn capacity find` prints: the ways in order, what each changes, what does not work, and what is not known; the same as data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from textwrap import wrap
from typing import Any, Literal

from facts.document import Document, Part
from facts.typed import typed
from stacks.settings import Settings
from trn.before.capacity.changes import edits, followers
from trn.before.capacity.region import RegionView
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import Way, ranked, unsold, ways
from trn.engine.stack_edit import as_yaml

WIDTH = 80
_KINDS = {"on-demand": "on demand", "spot": "spot"}


class WantedPart(Part, frozen=True):
    """What is looked for."""

    group: str
    instance_type: str
    instances: int
    seconds: int
    from_: datetime


class EditPart(Part, frozen=True):
    """One change of the stack file."""

    key: str
    value: Any
    deleted: bool


class WayPart(Part, frozen=True):
    """One way to have the instances."""

    kind: str
    region: str
    zone_id: str
    starts_at: datetime
    ends_at: datetime | None
    instances: int
    usd: float | None
    """Beyond what is paid anyway; null where no price is known."""
    id: str | None
    """Of the offer or reservation."""
    promised: bool
    notes: tuple[str, ...]
    obstacle: str | None
    """Why it does not work now; null where nothing is in its way."""
    changes: tuple[EditPart, ...]
    must_follow: tuple[str, ...]
    """What does not move to the other place by itself."""


class UnknownPart(Part, frozen=True):
    """What a region did not say."""

    region: str
    what: str
    why: str


class FindReport(Document, frozen=True):
    """What `trn capacity find` found."""

    schema_: Literal["trn-capacity-find"] = "trn-capacity-find"
    stack: str
    region: str
    wanted: WantedPart
    ways: tuple[WayPart, ...]
    """Best first."""
    unknown: tuple[UnknownPart, ...]
    not_offered: tuple[str, ...]
    """Regions in which no zone offers the type."""


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
    yield f"     {typed(command)}"


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


def report_of(told: Found) -> FindReport:
    """For `--json`."""
    wanted = told.wanted
    return FindReport(
        stack=told.stack,
        region=told.settings.region,
        wanted=WantedPart(
            group=wanted.group,
            instance_type=wanted.instance_type,
            instances=wanted.count,
            seconds=wanted.hours * 3600,
            from_=wanted.earliest,
        ),
        ways=tuple(_way_part(told, way) for way in told.ways),
        unknown=tuple(UnknownPart(region=region, what=what, why=why) for region, what, why in told.unknown),
        not_offered=tuple(told.empty),
    )


def _way_part(told: Found, way: Way) -> WayPart:
    changes = edits(told.settings, told.wanted, way)
    return WayPart(
        kind=way.kind,
        region=way.region,
        zone_id=way.zone_id,
        starts_at=way.starts,
        ends_at=way.ends,
        instances=way.count,
        usd=way.usd,
        id=way.id or None,
        promised=way.is_promised,
        notes=tuple(way.notes),
        obstacle=way.obstacle or None,
        changes=tuple(EditPart(key=edit.key, value=edit.value, deleted=edit.value is None) for edit in changes),
        must_follow=tuple(followers(told.settings, way, told.wanted.group, changes)),
    )
