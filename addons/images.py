"""Images of an air-gapped cluster: where each is in a mirror, and the Helm values that point a chart there."""

from collections.abc import Mapping
from typing import Any

from facts.charts import Contract

Values = dict[str, Any]


def mirrored(image: str, registry: str | None) -> str:
    """The image in a mirror that keeps paths and tags and changes the host; the image itself without a mirror."""
    return f"{registry}/{image.partition('/')[2]}" if registry else image


def mirror_values(contract: Contract, registry: str) -> Values:
    """Values that make the chart pull from the mirror: a whole repository, or the registry alone, as the chart has it."""
    values: Values = {}
    for image in contract.images:
        name = mirrored(str(image["image"]), registry).rpartition(":")[0]
        if "repository" in image:
            _set(values, image["repository"], name)
        elif "registry" in image:
            _set(values, image["registry"], registry)
        if "digest" in image:
            # The digest is the original's; a mirror that repacks has another.
            _set(values, image["digest"], "")
    return values


def overlaid(values: Mapping[str, Any], over: Mapping[str, Any]) -> Values:
    """A copy of `values` with those of `over` put in, map by map."""
    merged = dict(values)
    for key, value in over.items():
        merged[key] = overlaid(merged[key], value) if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping) else value
    return merged


def _set(values: Values, path: str, value: str) -> None:
    *sections, last = path.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[last] = value
