"""Between the protocol's structs and plain Python values: unknowns stay marked, secrets are opened."""

from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's mark for a value that a preview does not know yet."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key that marks a special value; the value of this key says which kind."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"
RESOURCE_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"


def plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A struct as a dictionary, whole numbers as int, secrets opened."""
    return {key: _value(item) for key, item in struct.fields.items()}


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """A dictionary as a struct."""
    made = struct_pb2.Struct()
    made.update(dict(values))
    return made


def secret_keys(struct: struct_pb2.Struct) -> frozenset[str]:
    """Top-level keys that hold a secret, at any depth."""
    return frozenset(key for key, item in struct.fields.items() if _holds_secret(item))


def _value(item: struct_pb2.Value) -> Any:
    kind = item.WhichOneof("kind")
    if kind == "struct_value":
        values = plain(item.struct_value)
        return values.get("value") if values.get(SIGNATURE) == SECRET else values
    if kind == "list_value":
        return [_value(entry) for entry in item.list_value.values]
    if kind == "number_value":
        # The protocol knows floats only.
        return int(item.number_value) if item.number_value.is_integer() else item.number_value
    return None if kind in (None, "null_value") else getattr(item, kind)


def _holds_secret(item: struct_pb2.Value) -> bool:
    kind = item.WhichOneof("kind")
    if kind == "struct_value":
        fields = item.struct_value.fields
        return (SIGNATURE in fields and fields[SIGNATURE].string_value == SECRET) or any(_holds_secret(entry) for entry in fields.values())
    return kind == "list_value" and any(_holds_secret(entry) for entry in item.list_value.values)
