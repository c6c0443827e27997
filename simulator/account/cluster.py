"""What the account asks of a real API server, where one takes the place of its own Kubernetes."""

from collections.abc import Mapping
from typing import Any, Protocol

from simulator.account.rule import Refusal
from simulator.account.state import AccountState
from simulator.recording import Registration


class RealCluster(Protocol):
    """A cluster behind the account. Each request for Kubernetes that the account's rules allow goes on to it, and its refusal counts."""

    def outputs(self, resource_type: str, /) -> Mapping[str, Any]:
        """What a new resource of a type says otherwise than in the account alone, to the real engine: where the API server is."""
        ...

    def look(self, state: AccountState, request: Registration, /) -> None:
        """Before the rules are asked about a request: write into the state what AWS finds in the cluster."""
        ...

    def create(self, registration: Registration, /) -> Refusal | None:
        """Make an object, or what a release or an add-on brings; nothing for what does not live in Kubernetes."""
        ...

    def update(self, registration: Registration, /) -> Refusal | None:
        """The same for a change."""
        ...

    def delete(self, registration: Registration, /) -> Refusal | None:
        """Delete it, and wait until it is gone."""
        ...

    def follow(self, state: AccountState, /) -> None:
        """Let the cluster have the nodes that the account's node groups have."""
        ...
