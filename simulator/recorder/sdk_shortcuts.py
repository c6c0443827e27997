"""What the Pulumi SDK does in a recording that nothing reads, or that can be had in fewer steps; together two fifths of its time.

Only for the time of a recording: the real engine meets the SDK as it is.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

from pulumi import _types, log
from pulumi.output import Output, _OutputData
from pulumi.resource import Resource
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import rpc
from pulumi.runtime.proto import source_pb2

_create_urn, _contains_unknowns = sdk_resource.create_urn, rpc.contains_unknowns
_PLAIN = (str, bool, int, float, type(None))


@contextmanager
def shortcuts(program_log: logging.Logger) -> Iterator[None]:
    """Within it the SDK registers resources with less work. `program_log`: debug messages are made only if it takes them."""
    replaced = [*_SHORTCUTS, *([] if program_log.isEnabledFor(logging.DEBUG) else [(log, "debug", _say_nothing)])]
    originals = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    for module, name, shorter in replaced:
        setattr(module, name, shorter)
    try:
        yield
    finally:
        for module, name, original in originals:
            setattr(module, name, original)


def _transfer_properties(resource: Resource, properties: Mapping[str, Any], custom: bool) -> dict[str, Callable[..., None]]:
    """Outputs of a resource's properties, and what resolves each.

    One future for each, as the SDK has it for URN and id, in place of four futures and a task that waits for them. The SDK's list
    of what is under way lacks them: the registration that resolves them is in it, and fails for the same reason.
    """
    loop, resolvers = asyncio.get_running_loop(), dict[str, Callable[..., None]]()
    for name in properties:
        if name == "urn" or (name == "id" and custom):
            continue
        data = loop.create_future()
        output = object.__new__(Output)
        output._data = data
        resource.__dict__[name] = output
        resolvers[name] = partial(_resolve, resource, data)
    return resolvers


def _resolve(
    resource: Resource,
    data: "asyncio.Future[Any]",
    value: Any,
    is_known: bool,
    is_secret: bool,
    dependencies: set[Resource] | None,
    failed: Exception | None,
) -> None:
    if failed is not None:
        data.set_exception(failed)
    else:
        data.set_result(_OutputData({*(dependencies or ()), resource}, value, is_known, is_secret))


def _urn(name: Any, type_: Any, parent: Any = None, project: str | None = None, stack: str | None = None) -> Output[str]:
    """As the SDK's, which makes five outputs of the three texts."""
    if not (isinstance(name, str) and isinstance(type_, str) and isinstance(parent, str)):
        return _create_urn(name, type_, parent, project, stack)
    urn: Output[str] = object.__new__(Output)
    urn._data = asyncio.get_running_loop().create_future()
    urn._data.set_result(_OutputData(set(), f"{parent[: parent.rfind('::')]}${type_}::{name}", True, False))
    return urn


def _has_unknowns(value: Any) -> bool:
    return type(value) not in _PLAIN and _contains_unknowns(value)


def _say_nothing(*_: Any, **__: Any) -> None:
    pass


_SHORTCUTS: tuple[tuple[ModuleType, str, Callable[..., Any]], ...] = (
    # It notes where in the program each resource is made, for the engine's own messages.
    (sdk_resource, "_get_stack_trace", source_pb2.StackTrace),
    (sdk_resource, "create_urn", _urn),
    (rpc, "transfer_properties", _transfer_properties),
    (rpc, "contains_unknowns", _has_unknowns),
    # What is inside an annotation is always the same.
    (_types, "unwrap_type", lru_cache(maxsize=None)(_types.unwrap_type)),
    (_types, "unwrap_optional_type", lru_cache(maxsize=None)(_types.unwrap_optional_type)),
)
