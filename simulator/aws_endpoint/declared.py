"""What the services answer to every call that facts/resources names: lists, descriptions, tags and deletions, read from there.

What a service does beside that is in the other modules; their handlers replace those of the same name.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from facts.resources.queries import Deletion, Query
from simulator.aws_endpoint import filters
from simulator.aws_endpoint.entries import Entry, Kind
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.aws_endpoint.wire import SESSION, Handler

_TAGS = frozenset({"Tags", "tags", "TagSet"})


def handlers(inventory: Inventory, *, ignores_filters: bool) -> Iterator[tuple[str, Handler]]:
    """By `service.Operation`."""
    for name, asked in _by_operation().items():
        yield name, _describer(inventory, asked) if asked[0][1].one else _lister(inventory, asked, ignores_filters=ignores_filters)
    for name, kinds in _tag_calls().items():
        yield name, _tag_reader(inventory, kinds)
    for kind in KINDS.values():
        if kind.leftover is not None and isinstance(kind.fact.deletion, Deletion):
            yield f"{kind.fact.deletion.service}.{kind.fact.deletion.operation}", _deleter(inventory, kind, kind.fact.deletion)


def _by_operation() -> Mapping[str, list[tuple[Kind, Query]]]:
    """Operation to the kinds that it answers with: rules of security groups are two."""
    found: dict[str, list[tuple[Kind, Query]]] = {}
    for kind in KINDS.values():
        # What is listed within others has its keys there.
        for query in (query for query in kind.queries if "[]" not in query.entries):
            asked = found.setdefault(f"{query.service}.{query.operation}", [])
            if kind not in [known for known, _ in asked]:
                asked.append((kind, query))
    return found


def _tag_calls() -> Mapping[str, list[Kind]]:
    """Operations that give the tags of many objects at once, to the kinds whose tags they give."""
    found: dict[str, list[Kind]] = {}
    for kind in KINDS.values():
        if kind.detail is not None and kind.detail.at_once > 1:
            found.setdefault(f"{kind.detail.query.service}.{kind.detail.query.operation}", []).append(kind)
    return found


def shown(kind: Kind, query: Query, entry: Entry) -> Entry:
    """An entry as this call shows it: without what another call shows."""
    hidden = {*kind.hidden, *(() if query.tags else _TAGS)}
    return {key: value for key, value in entry.items() if key not in hidden}


def _lister(inventory: Inventory, asked: list[tuple[Kind, Query]], *, ignores_filters: bool) -> Handler:
    def answer(given: Entry) -> Entry:
        found = [
            _listed(kind, query, which, entry)
            for kind, query in asked
            for which, entry in inventory.look(kind.name).items()
            if _is_asked_for(kind, query, entry, given, ignores_filters=ignores_filters)
        ]
        return {asked[0][1].entries: found if asked[0][1].id else sorted(found)}

    return answer


def _listed(kind: Kind, query: Query, which: str, entry: Entry) -> Any:
    """An entry of a list, or only what its description is asked for by."""
    if query.id:
        return shown(kind, query, entry)
    asked_by = next((parameter for parameter, place in kind.detail.parameters.items() if place == "id"), "") if kind.detail else ""
    return entry.get(asked_by, which)


def _is_asked_for(kind: Kind, query: Query, entry: Entry, given: Entry, *, ignores_filters: bool) -> bool:
    prefix = kind.leftover.prefix if kind.leftover else ""
    if not ignores_filters and prefix and not str(entry.get(query.id, "")).startswith(given.get(prefix, "")):
        return False
    if not ignores_filters and not filters.passes(entry, given.get("Filters") or given.get("Filter") or ()):
        return False
    members = {name for name in given if name in entry and isinstance(given[name], str)}
    if ignores_filters and members:
        # What a call must be given says whose parts are listed.
        members &= _required(query.service, query.operation)
    return all(entry[name] == given[name] for name in members)


def _describer(inventory: Inventory, asked: list[tuple[Kind, Query]]) -> Handler:
    ((kind, query),) = asked

    def answer(given: Entry) -> Entry:
        members = {name: value for name, value in given.items() if isinstance(value, str)}
        entry = shown(kind, query, inventory.one(kind.name, **members)[1])
        return {query.entries: entry} if query.entries else entry

    return answer


def _tag_reader(inventory: Inventory, kinds: list[Kind]) -> Handler:
    detail = kinds[0].detail
    assert detail is not None
    (parameter,) = detail.parameters
    query = detail.query

    def answer(given: Entry) -> Entry:
        entries = {which: entry for kind in kinds for which, entry in inventory.entries(kind.name).items()}
        names = given[parameter.removesuffix("[]")]
        return {query.entries: [{query.id: name, query.tags: entries.get(name, {}).get(query.tags, [])} for name in names]}

    return answer


def _deleter(inventory: Inventory, kind: Kind, deletion: Deletion) -> Handler:
    def answer(given: Entry) -> Entry:
        if len(deletion.parameters) > 1:
            # What belongs to something is named by both.
            return inventory.delete(kind.name, inventory.one(kind.name, **{name: given[name] for name in deletion.parameters})[0])
        ((parameter, _),) = deletion.parameters.items()
        named = given[parameter.removesuffix("[]")]
        for which in named if isinstance(named, list) else [named]:
            inventory.delete(kind.name, which)
        return {}

    return answer


@cache
def _required(service: str, operation: str) -> frozenset[str]:
    """Parameters that a call cannot do without."""
    shape: Any = SESSION.get_service_model(service).operation_model(operation).input_shape
    return frozenset(shape.metadata.get("required", ())) if shape is not None else frozenset()
