"""Between the protocol's structs and plain Python values: unknowns stay marked, secrets are opened."""

from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's mark for a value that a preview does not know yet."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A struct as a dictionary, whole numbers as int, secrets opened."""
    return {key: _value(item) for key, item in struct.fields.items()}


def _value(item: struct_pb2.Value) -> Any:
    kind = item.WhichOneof("kind")
    if kind == "struct_value":
        values = plain(item.struct_value)
        return values.get("value") if values.get(SIGNATURE) == SECRET else values
    if kind == "list_value":
        return [_value(entry) for entry in item.list_value.values]
    if kind == "number_value":
        return int(item.number_value) if item.number_value.is_integer() else item.number_value
    return None if kind in (None, "null_value") else getattr(item, kind)


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """A dictionary as a struct."""
    made = struct_pb2.Struct()
    made.update(dict(values))
    return made


def with_unknowns(inputs: Mapping[str, Any], computed: Mapping[str, Any]) -> dict[str, Any]:
    """What a preview gives: inputs as they are, and everything computed unknown, also inside what the inputs began."""
    given: dict[str, Any] = dict(inputs)
    for key, value in computed.items():
        begun = inputs.get(key)
        given[key] = (
            with_unknowns(begun, {k: v for k, v in value.items() if k not in begun})
            if isinstance(begun, Mapping) and isinstance(value, Mapping)
            else UNKNOWN
        )
    return given


def live_inputs(inputs: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as they stand in the cloud: the state, pruned to the shape of what the program gave."""
    live: dict[str, Any] = {}
    for key, given in inputs.items():
        found = state.get(key, given)
        live[key] = live_inputs(given, found) if isinstance(given, Mapping) and isinstance(found, Mapping) else found
    return live


def updated_state(state: Mapping[str, Any], old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The state after an update: inputs as given now, those no longer given gone, and what was computed kept."""
    merged = {key: value for key, value in state.items() if key not in old_inputs or key in inputs}
    for key, given in inputs.items():
        before, asked = state.get(key), old_inputs.get(key)
        if isinstance(given, Mapping) and isinstance(before, Mapping) and isinstance(asked, Mapping):
            merged[key] = updated_state(before, asked, given)
        else:
            merged[key] = given
    return merged
