"""What an answer may depend on: the seed, the resource's URN, and the provider's region."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from facts.regions import dns_suffix, partition
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
        return f"arn:{self.partition}:{service}:{self.region if regional else ''}:{ACCOUNT}:{resource}"


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
