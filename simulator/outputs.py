"""Ids and outputs that each resource type comes back with, shaped like the provider's own and drawn from the seed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from facts.regions import dns_suffix, partition
from facts.resources.table import TYPES
from simulator import chance
from simulator.errors import UnknownType
from simulator.recording import Recording, Registration

ACCOUNT = "123456789012"
CREATED_AT = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Context:
    """Source of everything that looks random or regional in an answer."""

    seed: int
    urn: str
    region: str
    partition: str
    dns_suffix: str
    default_tags: Mapping[str, str] = field(default_factory=dict)
    """The AWS provider's own, which it gives to all that it makes."""
    account: str = ACCOUNT
    created_at: str = CREATED_AT

    def hex(self, length: int = 17, what: str = "id") -> str:
        """Hexadecimal digits that belong to this resource."""
        return chance.digest(self.seed, self.urn, what)[:length]

    def uuid(self, what: str = "uuid") -> str:
        """A UUID that belongs to this resource."""
        digits = chance.digest(self.seed, self.urn, what)
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"

    def letters(self, length: int, what: str = "letters") -> str:
        """Lower-case letters and digits that belong to this resource."""
        number = int(chance.digest(self.seed, self.urn, what), 16)
        text = ""
        while len(text) < length:
            number, index = divmod(number, 36)
            text += "abcdefghijklmnopqrstuvwxyz0123456789"[index]
        return text

    def arn(self, service: str, resource: str, *, regional: bool = True) -> str:
        """An ARN in the provider's region and partition."""
        return f"arn:{self.partition}:{service}:{self.region if regional else ''}:{self.account}:{resource}"


def context_of(recording: Recording, registration: Registration, seed: int, key: str) -> Context:
    """The context of one resource of a recording. `key`: what its id is drawn for, its URN unless it is made once more.

    Raises UnknownType for an AWS resource whose provider names no region.
    """
    used = (recording.registrations[urn].inputs for urn in sorted(registration.providers))
    provider: Mapping[str, Any] = next((inputs for inputs in used if "region" in inputs), {})
    region = str(provider.get("region", ""))
    if not region and registration.type.startswith("aws:"):
        raise UnknownType(f"{registration.type} {registration.name} uses no explicit AWS provider: its region would be the environment's")
    return Context(seed, key, region, partition(region), dns_suffix(region or "us-east-1"), default_tags_of(provider))


def default_tags_of(provider: Mapping[str, Any]) -> Mapping[str, str]:
    """The default tags in the inputs of an AWS provider; the engine sends what is no text as JSON (pulumi/pulumi, provider configuration)."""
    given = provider.get("defaultTags") or {}
    return (json.loads(given) if isinstance(given, str) else given).get("tags") or {}


def answer(context: Context, resource_type: str, name: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Id and outputs of a new resource.

    Raises UnknownType for a type that has no entry.
    """
    if resource_type.startswith("pulumi:providers:"):
        return context.uuid(), dict(inputs)
    if resource_type not in TYPES:
        raise UnknownType(f"the simulated cloud does not know {resource_type} (resource {name}); add it to facts/resources with its source")
    resource_id, computed = TYPES[resource_type].make(context, inputs)
    return resource_id, {**inputs, **computed, **all_tags(resource_type, inputs, context.default_tags)}


def all_tags(resource_type: str, inputs: Mapping[str, Any], default_tags: Mapping[str, str]) -> dict[str, Any]:
    """`tagsAll`: a resource's own tags over the default tags of its provider; nothing for a type that takes none."""
    takes_tags = resource_type in TYPES and TYPES[resource_type].takes_tags
    return {"tagsAll": {**default_tags, **(inputs.get("tags") or {})}} if takes_tags else {}
