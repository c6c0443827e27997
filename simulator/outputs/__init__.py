"""Ids and outputs that each resource type comes back with, shaped like the provider's own and drawn from the seed."""

from collections.abc import Mapping
from typing import Any

from simulator.errors import UnknownType
from simulator.outputs import aws, kubernetes
from simulator.outputs.context import Context, context_of, default_tags_of
from simulator.replacements import takes_tags

__all__ = ["Context", "all_tags", "answer", "context_of", "default_tags_of"]


def answer(context: Context, resource_type: str, name: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Id and outputs of a new resource.

    Raises UnknownType for a type that no table has.
    """
    if resource_type.startswith("pulumi:providers:"):
        return context.uuid(), dict(inputs)
    table = kubernetes.ANSWERS if resource_type.startswith("kubernetes:") else aws.ANSWERS
    make = table.get(resource_type)
    if make is None:
        raise UnknownType(
            f"the simulated cloud does not know {resource_type} (resource {name}); add it to simulator/outputs with its source"
        )
    resource_id, computed = make(context, inputs)
    return resource_id, {**inputs, **computed, **all_tags(resource_type, inputs, context.default_tags)}


def all_tags(resource_type: str, inputs: Mapping[str, Any], default_tags: Mapping[str, str]) -> dict[str, Any]:
    """`tagsAll`: a resource's own tags over the default tags of its provider; nothing for a type that takes none."""
    return {"tagsAll": {**default_tags, **(inputs.get("tags") or {})}} if takes_tags(resource_type) else {}
