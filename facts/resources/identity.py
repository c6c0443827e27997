"""By what an object can be found again when its id was never written down: its name, its place, or its tags.

A run that is killed leaves objects whose ids are in no state. What has an identity can then be found, and imported or
deleted; what has none is a silent leak.
"""

from facts.resources.outputs import Inputs
from facts.resources.resource_type import Identity


def by(*keys: str) -> Identity:
    """Objects that these inputs identify."""

    def find(inputs: Inputs) -> str | None:
        values = [inputs.get(key) for key in keys]
        return " ".join(map(str, values)) if all(value is not None for value in values) else None

    return find


def by_name_tag(*keys: str) -> Identity:
    """Objects without a name: their `Name` tag identifies them, beside the inputs that say what they belong to."""

    def find(inputs: Inputs) -> str | None:
        name = (inputs.get("tags") or {}).get("Name")
        belongs = [str(inputs.get(key)) for key in keys]
        return " ".join([f"Name={name}", *belongs]) if name else None

    return find


def by_all(*keys: str) -> Identity:
    """Objects that these inputs identify, whether they are set or not."""
    return lambda inputs: " ".join(str(inputs.get(key)) for key in keys)


def kubernetes_object(inputs: Inputs) -> str | None:
    """Name and namespace of an object behind the API server."""
    metadata = inputs.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    return f"{namespace}/{name}" if name and namespace else name
