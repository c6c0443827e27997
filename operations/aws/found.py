"""What a cluster left, or may have left, in an account."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from facts.prices import hourly
from operations.aws.api import Api, Call, tags_of
from operations.belonging import NAME_TAGS, owned_key, reason

HOURS_PER_DAY = 24


@dataclass(frozen=True)
class Found:
    """One thing that is the cluster's."""

    kind: str
    id: str
    """As Pulumi's state names it."""
    because: str
    """The exact tag, VPC or name that makes it the cluster's."""
    name: str = ""
    usd_per_day: float | None = 0.0
    """None where the price is not known."""
    going: bool = False
    """It is being deleted already."""
    tags: Mapping[str, str] = field(default_factory=dict)
    rest: Mapping[str, Any] = field(default_factory=dict)
    """What its deletion needs besides the id."""


@dataclass(frozen=True)
class Place:
    """Where things are looked for."""

    cluster: str
    vpc_ids: Collection[str] = ()
    """VPCs that carry the cluster's exact tag."""

    def reason(self, tags: Mapping[str, str], vpc_id: str = "") -> str:
        """Why a thing is the cluster's; empty where it is not."""
        return reason(self.cluster, tags, vpc_id, self.vpc_ids)


@dataclass(frozen=True)
class Kind:
    """One kind of thing: how it is found, and how one is deleted."""

    name: str
    find: Callable[[Api, Place], Iterable[Found]]
    delete: Callable[[Api, Found], None]


def per_day(price: str, quantity: float = 1) -> float:
    """USD a day of a quantity of an entry of the price table."""
    return round(hourly(price) * quantity * HOURS_PER_DAY, 4)


def owned_entries(
    api: Api, call: Call, key: str, place: Place, *, id_key: str, vpc_filter: str = "", tags: str = "Tags", filters: str = "Filters",
    only: Mapping[str, list[str]] | None = None,
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:  # fmt: skip
    """Entries of an EC2 list with their tags: those with a tag that can make them the cluster's, and those in its VPCs.

    EC2 joins filters by "and", so each way of belonging is asked for by itself; what comes back is judged again by its finder.
    """
    always = [{"Name": name, "Values": values} for name, values in (only or {}).items()]
    ways = [{"Name": "tag-key", "Values": [*NAME_TAGS, owned_key(place.cluster)]}]
    if vpc_filter and place.vpc_ids:
        ways.append({"Name": vpc_filter, "Values": sorted(place.vpc_ids)})
    seen: set[str] = set()
    for way in ways:
        for entry in api.pages(call, key, **{filters: [*always, way]}):
            if entry[id_key] not in seen:
                seen.add(entry[id_key])
                yield entry, tags_of(entry, tags)


def finder(
    kind: str, call: Call, key: str, id_key: str, *, cost: Callable[[Mapping[str, Any]], float | None] = lambda entry: 0.0,
    name: Callable[[Mapping[str, Any]], str] | None = None, leave: Callable[[Mapping[str, Any]], bool] = lambda entry: False,
    rest: tuple[str, ...] = (), going: str = "", **query: Any,
) -> Callable[[Api, Place], Iterator[Found]]:  # fmt: skip
    """A finder for one list of EC2. `leave` is true for what goes by itself; `going` is the state of what is going already."""

    def find(api: Api, place: Place) -> Iterator[Found]:
        for entry, tags in owned_entries(api, call, key, place, id_key=id_key, **query):
            because = place.reason(tags, _vpc_id(entry) if query.get("vpc_filter") else "")
            if because and not leave(entry):
                kept = {field: entry[field] for field in rest if entry.get(field)}
                is_going = bool(going) and entry["State"] == going
                called = name(entry) if name else tags.get("Name", "")
                yield Found(kind, entry[id_key], because, called, cost(entry), is_going, tags, kept)

    return find


def _vpc_id(entry: Mapping[str, Any]) -> str:
    attached = next(iter(entry.get("Attachments") or ()), {})
    return str(entry.get("VpcId") or attached.get("VpcId") or "")


def deleter(call: Call, parameter: str) -> Callable[[Api, Found], None]:
    """Deletes a thing by its id alone."""

    def delete(api: Api, found: Found) -> None:
        api.call(call, **{parameter: found.id})

    return delete
