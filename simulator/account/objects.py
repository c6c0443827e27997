"""What can exist in the account: objects of the program's resources, and strays, which belong to no resource of the program."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from simulator.recording import Registration

Status = Literal["creating", "ready", "unready", "failed", "deleting"]
"""`unready`: exists and did not become ready in time; `failed`: never becomes ready."""


@dataclass
class CloudObject:
    """One object of the account that belongs to a resource of the program."""

    registration: Registration
    status: Status
    was: Status = "ready"
    """Its status before its deletion was asked for."""
    changed: "Callable[[CloudObject], None] | None" = field(default=None, repr=False, compare=False)
    """Called after each change of it, by the account that it is in."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        # The last to be set: a new object is in no account.
        changed = self.__dict__.get("changed")
        if changed is not None:
            changed(self)

    @property
    def what(self) -> str:
        """Type and id, for a report."""
        return f"{self.registration.type} {self.registration.id}"


@dataclass(frozen=True)
class Stray:
    """Something in the account that belongs to no resource of the program."""

    name: str
    what: str
    """Description for a report."""
    urn: str
    """The resource that caused it."""
    subnet_ids: tuple[str, ...] = ()
    """Subnets in which it holds an interface."""
    security_group_ids: tuple[str, ...] = ()
    """Security groups of its interfaces."""
    usd_per_hour: float = 0.0
    cluster: str = ""
    """Name of the cluster that it belongs to, where its maker's tags say so."""
    remove: str = ""
    """Command that deletes it; empty where only the end of the cluster does, or the report's own hints say how."""
