"""Where a change happens: the clients of one stack, and whose its cluster is."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trn.aws.api import Api
from trn.change.ownership import Ownership, StackCluster, read_ownership, refuse_change, refuse_mismatch
from trn.engine.pulumi import Pulumi
from trn.kubernetes.client import Kubernetes

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Site:
    """What a command is handed in place of AWS, the cluster, Pulumi, a terminal and a clock."""

    api: Api
    pulumi: Pulumi
    subject: StackCluster
    kubernetes: Callable[[], Kubernetes]
    pause: Callable[[float], None]
    tell: "Callable[[RenderableType], None]"
    """Shows something on standard error."""
    say: "Callable[[RenderableType], None]"
    """Prints a line of the result."""
    show: Callable[[int, int], None] = lambda done, total: None
    """Shows how long something is waited for."""
    state_file: Path | None = None
    break_lock: bool = False
    json_file: Path | None = None
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Of this run: a request that is sent twice with it is one request."""


@dataclass(frozen=True)
class Whose:
    """Whose the cluster is, as it was before the question."""

    ownership: Ownership

    @property
    def cluster(self) -> str:
        """Its name."""
        return self.ownership.subject.cluster

    @property
    def is_absent(self) -> bool:
        """There is no cluster yet, by Pulumi and by EKS, and the command needs none: it is about the account and the stack."""
        found = self.ownership
        return found.subject.may_be_absent and not found.status and found.state.is_gone

    @property
    def is_known(self) -> bool:
        """Whether nobody need name the cluster: the state proves whose it is, or there is none to be mistaken for another."""
        is_begun = self.ownership.subject.may_be_unfinished and not self.ownership.status
        return self.ownership.is_proven or self.is_absent or is_begun

    def lines(self) -> list[str]:
        """As users read it."""
        if not self.is_absent:
            return self.ownership.lines()
        seen, subject = self.ownership.seen, self.ownership.subject
        return [f"stack {subject.stack} in account {seen.account}, {seen.region}: it has no cluster yet, by Pulumi's state and by EKS"]

    def refuse_change(self, site: Site) -> None:
        """Raises OwnershipError where the account, or the cluster, is another one by now."""
        refuse_change(site.api, self.ownership)


def read_whose(site: Site) -> Whose:
    """By Pulumi's state and by the account. Reads only. Raises OwnershipError where the two differ, CommandError where the state cannot be read."""
    ownership = read_ownership(site.api, site.pulumi, site.subject, site.state_file)
    refuse_mismatch(ownership, unfinished=site.subject.may_be_unfinished)
    return Whose(ownership)
