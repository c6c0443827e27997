"""What is in the account: objects that resources stand for, and strays that none stands for."""

from dataclasses import dataclass
from typing import Literal

from simulator.recording import Registration

Status = Literal["making", "ready", "unready", "failed", "leaving"]


@dataclass
class Thing:
    """One object of the account that a resource stands for."""

    registration: Registration
    status: Status

    @property
    def what(self) -> str:
        """In words, for a report."""
        return f"{self.registration.type} {self.registration.id}"


@dataclass(frozen=True)
class Stray:
    """Something in the account that no resource of the program stands for."""

    name: str
    what: str
    """In words, for a report."""
    urn: str
    """The resource that brought it about."""
    subnet_ids: tuple[str, ...] = ()
    """Subnets in which it holds an interface."""
    security_group_ids: tuple[str, ...] = ()
    """Security groups that its interfaces carry."""
    usd_per_hour: float = 0.0
    remove: str = ""
    """Command that takes it away; empty where nothing does but the end of the cluster, or the report's own hints."""
