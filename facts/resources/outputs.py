"""What a resource comes back with when it is made: its id and the outputs that the provider computes."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

Inputs = Mapping[str, Any]
"""Inputs of a resource, in Pulumi's spelling."""
Answer = tuple[str, dict[str, Any]]
"""Id and computed outputs."""


class Draw(Protocol):
    """Source of everything in an answer that looks random or belongs to a region."""

    @property
    def region(self) -> str:
        """Region of the resource's provider."""
        ...

    @property
    def dns_suffix(self) -> str:
        """Domain of the region's endpoints."""
        ...

    @property
    def account(self) -> str:
        """Number of the account, 12 digits."""
        ...

    @property
    def created_at(self) -> str:
        """Time of creation, as ISO 8601."""
        ...

    def hex(self, length: int = 17, what: str = "id") -> str:
        """Hexadecimal digits that belong to this resource."""
        ...

    def uuid(self, what: str = "uuid") -> str:
        """A UUID that belongs to this resource."""
        ...

    def letters(self, length: int, what: str = "letters") -> str:
        """Lower-case letters and digits that belong to this resource."""
        ...

    def arn(self, service: str, resource: str, *, regional: bool = True) -> str:
        """An ARN in the provider's region and partition."""
        ...


Make = Callable[[Draw, Inputs], Answer]


def only_id(prefix: str, **outputs: Any) -> Make:
    """Types whose id is `<prefix>-<17 hexadecimal digits>` and that have no ARN."""

    def make(draw: Draw, _: Inputs) -> Answer:
        return f"{prefix}-{draw.hex()}", dict(outputs)

    return make


def with_arn(prefix: str, service: str, resource: str, *, owner: bool = True, **outputs: Any) -> Make:
    """Types whose id is `<prefix>-<17 hexadecimal digits>` and whose ARN ends in `<resource>/<id>`."""

    def make(draw: Draw, _: Inputs) -> Answer:
        resource_id = f"{prefix}-{draw.hex()}"
        owned = {"ownerId": draw.account} if owner else {}
        return resource_id, {"arn": draw.arn(service, f"{resource}/{resource_id}"), **owned, **outputs}

    return make
