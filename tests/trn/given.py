"""The access that a test gives the commands which it runs (`trn.change.clients.using`)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trn.aws.api import Api
from trn.change.clients import Live
from trn.engine.pulumi import Pulumi
from trn.kubernetes.client import Kubernetes


@dataclass
class Given(Live):
    """Each part that a test does not set is AWS's own, which no test reaches."""

    api: Api | Callable[[str], Api] | None = None
    """Of any region, or made for the region that is asked for."""
    cluster: Kubernetes | Callable[[], Kubernetes] | None = None
    """Or what makes it, or raises, whenever a command asks for it."""
    engine: Pulumi | Callable[[], Pulumi] | None = None
    """The same for Pulumi."""
    on_pause: Callable[[float], object] | None = None
    """In place of a pause of some seconds."""
    address: Callable[[], str] | None = None
    """From which the API server would see the caller."""
    pool: Any = None
    """Connections to Hugging Face."""
    has_tools: bool = False
    """Whether every tool is on PATH."""

    def aws(self, stack: str, region: str, /) -> Api:
        """As given."""
        if self.api is None:
            return super().aws(stack, region)
        return self.api(region) if callable(self.api) else self.api

    def kubernetes(self, api: Api, entry: dict[str, Any]) -> Kubernetes:
        """As given."""
        if self.cluster is None:
            return super().kubernetes(api, entry)
        return self.cluster() if callable(self.cluster) else self.cluster

    def pulumi(self, stack: str, /) -> Pulumi:
        """As given."""
        if self.engine is None:
            return super().pulumi(stack)
        return self.engine() if callable(self.engine) else self.engine

    def hub(self) -> Any:
        """As given."""
        return self.pool or super().hub()

    def pause(self, seconds: float) -> None:
        """As given."""
        (self.on_pause or super().pause)(seconds)

    def own_address(self) -> str:
        """As given."""
        return (self.address or super().own_address)()

    def need_tools(self, *tools: str) -> None:
        """As given."""
        if not self.has_tools:
            super().need_tools(*tools)


@dataclass
class NoStack:
    """Pulumi, that has no stack of the name yet, or one with a state."""

    state: str = ""

    def ask(self, command: tuple[str, ...]) -> tuple[int, str]:
        """It says so."""
        assert command[1] == "stack"
        return (0, self.state) if self.state else (255, "error: no stack named 'any' found\n")

    def run(self, command: tuple[str, ...], _: object, /) -> tuple[int, str]:
        """Nothing of it is run."""
        raise AssertionError(command)
