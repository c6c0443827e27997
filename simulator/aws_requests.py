"""The AWS API requests that a recorded resource becomes when it is made, with the API's own names.

Of a recorded up, where all values are known. The default tags of the provider are not in them: they are no input of the resource.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from facts.resources.api_calls import ApiCall, Creation, Member, Members, put
from facts.resources.table import TYPES
from simulator.errors import SimulationError
from simulator.recording import Registration


class NotMapped(SimulationError):
    """A resource type, or an input, whose place in the API is not known. It is never left out silently."""


@dataclass(frozen=True)
class Request:
    """One API call."""

    service: str
    """As botocore names it."""
    operation: str
    parameters: Mapping[str, Any]


def aws_requests(registration: Registration) -> tuple[Request, ...]:
    """The call that makes the resource, and those that follow to finish it; empty for what is no AWS resource.

    Raises NotMapped for a type without a call, and for an input that no call takes.
    """
    if not registration.custom or not registration.type.startswith("aws:"):
        return ()
    where = f"{registration.type} {registration.name}"
    creation = TYPES[registration.type].creation if registration.type in TYPES else None
    if not isinstance(creation, Creation):
        raise NotMapped(f"{where}: no API call is known for this type; add it to facts/resources with its source")
    calls = creation.calls
    known = {key for call in calls for key in (*call.members, *(key for key in (call.needs, call.each) if key))}
    _refuse_unknown(where, "", registration.inputs, known | creation.later)
    made = [call for call in calls if _is_made(call, registration.inputs)]
    if not made:
        needed = ", ".join(f"`{call.needs}`" for call in calls)
        raise NotMapped(f"{where}: the inputs make no API call, one of {needed} is missing")
    return tuple(
        Request(call.service, call.operation, parameters) for call in made for parameters in _all_parameters(call, registration, where)
    )


def _is_made(call: ApiCall, inputs: Mapping[str, Any]) -> bool:
    return call.needs is None or (call.needs in inputs and inputs[call.needs] != call.unless)


def _all_parameters(call: ApiCall, registration: Registration, where: str) -> Iterator[dict[str, Any]]:
    """Parameters of one call, or of one for each entry of a list."""
    if not call.each:
        yield _parameters(call, registration, where)
        return
    for index, entry in enumerate(registration.inputs.get(call.each) or ()):
        path = f"{call.each}[{index}]."
        _refuse_unknown(where, path, entry, call.each_members)
        parameters = _parameters(call, registration, where)
        _fill(parameters, call.each_members, entry, where, path)
        yield parameters


def _parameters(call: ApiCall, registration: Registration, where: str) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for place, value in call.constants.items():
        put(parameters, place, value)
    if call.id_member is not None:
        put(parameters, call.id_member, registration.id)
    for place, output in call.computed.items():
        put(parameters, place, registration.outputs[output])
    _fill(parameters, call.members, registration.inputs, where, "")
    return parameters


def _fill(parameters: dict[str, Any], members: Members, inputs: Mapping[str, Any], where: str, path: str) -> None:
    for key in sorted(set(inputs) & set(members)):
        place, value = _member(members[key], inputs[key], where, f"{path}{key}")
        if value is not None:
            put(parameters, place, value)


def _member(member: Member, value: Any, where: str, path: str) -> tuple[str, Any]:
    """Place and value of one input. A value of the wrong kind is left as it is, for the shapes to refuse."""
    if isinstance(member, str):
        return member, value
    place, inner = member
    if isinstance(inner, list):
        listed = isinstance(value, list)
        return place, [_structure(inner[0], item, where, f"{path}[{index}]") for index, item in enumerate(value)] if listed else value
    return place, _structure(inner, value, where, path) if isinstance(inner, Mapping) else inner(value)


def _structure(members: Members, value: Any, where: str, path: str) -> Any:
    if not isinstance(value, Mapping):
        return value
    _refuse_unknown(where, f"{path}.", value, set(members))
    structure: dict[str, Any] = {}
    _fill(structure, members, value, where, f"{path}.")
    return structure


def _refuse_unknown(where: str, path: str, inputs: Mapping[str, Any], known: Iterable[str]) -> None:
    unknown = sorted(set(inputs) - set(known))
    if unknown:
        close = difflib.get_close_matches(unknown[0], sorted(known), n=1, cutoff=0.75)
        meant = f"; did you mean `{path}{close[0]}`?" if close else "; add it to facts/resources with its source"
        raise NotMapped(f"{where}: no API member is known for the input `{path}{unknown[0]}`{meant}")
