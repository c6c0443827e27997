"""Asks AWS for the objects of a type, by what facts/resources says of it: operations, keys, filters and words."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from facts.regions import partition
from facts.resources.api_calls import put
from facts.resources.queries import Deletion, Detail, Entry, Leftover, Lookup, Query
from facts.resources.rights import Scope
from facts.resources.table import FOREIGN, TYPES
from trn.aws.api import Api, Call, account_of
from trn.aws.errors import NOT_FOUND, code_of


def call_of(query: Query) -> Call:
    """A query as a declared call."""
    return Call(query.service, query.operation, query.scopes)


def declared_calls() -> Iterator[Call]:
    """Every call that `trn` can make for the types and other objects of facts/resources."""
    for item in (*TYPES.values(), *FOREIGN):
        lookup = getattr(item, "lookup", None)
        if isinstance(lookup, Lookup):
            yield from _looking(lookup.query, lookup.detail)
        if isinstance(item.leftover, Leftover) and isinstance(item.deletion, Deletion):
            yield from _looking(item.leftover.query, item.leftover.detail)
            if item.leftover.origin is not None:
                yield call_of(item.leftover.origin.query)
            yield from deleting_calls(item.deletion, item.leftover.scopes)


def deleting_calls(deletion: Deletion, scopes: tuple[Scope, ...]) -> Iterator[Call]:
    """The calls of a deletion with its steps."""
    yield Call(deletion.service, deletion.operation, scopes)
    for operation in deletion.takes:
        yield Call(deletion.service, operation, deletion.takes_scopes or scopes)
    for step in deletion.steps:
        yield Call(deletion.service, step.operation, scopes)
        if step.asks is not None:
            yield call_of(step.asks.query)


def _looking(query: Query, detail: Detail | None) -> Iterator[Call]:
    yield call_of(query)
    if detail is not None:
        yield call_of(detail.query)


def at(value: Any, place: str) -> Any:
    """The value at a place such as `Status.Code`; `A[]` is the only entry of list A. None where there is none."""
    for part in place.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part.removesuffix("[]"))
        if part.endswith("[]"):
            value = value[0] if value and len(value) == 1 else None
    return value


def given(inputs: Mapping[str, Any], place: str) -> Any:
    """The value of an input. Raises LookupError where there is none: such an object cannot be identified."""
    value = at(inputs, place)
    if value is None:
        raise LookupError(place)
    return value


def filled(places: Mapping[str, str], source: Callable[[str], Any], constants: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Parameters of a call, from places in an entry or in inputs."""
    parameters: dict[str, Any] = {}
    for place, value in (constants or {}).items():
        put(parameters, place, copy.deepcopy(value))
    for parameter, place in places.items():
        put(parameters, parameter, source(place))
    return parameters


def asked(api: Api, query: Query, parameters: Mapping[str, Any]) -> Iterator[Entry]:
    """The objects that a query answers with; none where the service says that it does not exist.

    What is listed as a text is an entry with that text as its `id`.
    """
    known = {query.account: account_of(api)} if query.account else {}
    try:
        for entry in _answered(api, query, {**parameters, **known}):
            whole = {**entry, **known}
            yield {**whole, "Arn": text(query.arn, {**whole, "partition": partition(api.region)})} if query.arn else whole
    except ClientError as error:
        if code_of(error) not in NOT_FOUND:
            raise


def _answered(api: Api, query: Query, parameters: Mapping[str, Any]) -> Iterator[Entry]:
    outer, _, inner = query.entries.partition("[].")
    if query.one:
        answer = api.call(call_of(query), **parameters)
        entry = at(answer, outer) if outer else answer
        if entry:
            yield entry
        return
    for item in api.pages(call_of(query), outer, **parameters):
        if inner:
            yield from ({**item, **part} for part in item.get(inner, ()))
        else:
            yield item if isinstance(item, Mapping) else {"id": item}


def detailed(api: Api, entries: Iterable[Entry], detail: Detail | None) -> Iterator[Entry]:
    """Entries with what another call returns about them; an entry that the call does not return is left out."""
    if detail is None:
        yield from entries
    elif detail.at_once > 1:
        yield from _in_batches(api, entries, detail)
    else:
        for entry in entries:
            parameters = filled(detail.parameters, lambda place, entry=entry: at(entry, place))
            if detail.into:
                yield {**entry, detail.into: list(asked(api, detail.query, parameters))}
            else:
                yield from ({**entry, **answer} for answer in asked(api, detail.query, parameters))


def _in_batches(api: Api, entries: Iterable[Entry], detail: Detail) -> Iterator[Entry]:
    ((parameter, place),) = detail.parameters.items()
    known = {at(entry, place): entry for entry in entries}
    names = iter(known)
    while batch := list(islice(names, detail.at_once)):
        for answer in asked(api, detail.query, {parameter.removesuffix("[]"): batch}):
            yield {**known[answer[detail.query.id]], **answer}


def text(pattern: str, entry: Entry) -> str:
    """A pattern with the places of an entry in braces; a place that is empty leaves nothing."""
    return re.sub(r"\{([^}]+)\}", lambda match: str(at(entry, match[1]) or ""), pattern).strip()
