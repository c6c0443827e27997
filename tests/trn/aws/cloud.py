"""Seeds for the simulated account: objects as AWS lists them, put there without a request, for commands to meet through boto3."""

from typing import Any

from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.inventory import Delays
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.outputs import ACCOUNT, CREATED_AT
from trn.aws.api import BotoApi

__all__ = ["ACCOUNT", "CREATED_AT", "STACK", "Cloud", "Entry", "tag_list"]
Entry = dict[str, Any]
STACK = "organization/trn/dev"
"""The shipped project's stack dev in a file backend."""


def tag_list(tags: dict[str, str]) -> list[Entry]:
    """Tags as EC2 spells them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


class Cloud:
    """The simulated account, its wire, and what tests put into it: neighbours, as no program of ours made them."""

    def __init__(
        self, *, lag: int = 1, ignores_filters: bool = False, surroundings: Surroundings | None = None,
        world: World | None = None, delays: Delays | None = None, page_size: int = 2,
    ) -> None:  # fmt: skip
        """`lag`: looks for which what is being deleted can still be seen; `world`: an account that holds something already."""
        self.world = world or World()
        delays = delays or Delays(deleting=lag)
        options = endpoint.Options(page_size=page_size, delays=delays, ignores_filters=ignores_filters, surroundings=surroundings)
        self.wire = endpoint.wire(self.world, options)
        self.api = BotoApi("us-west-2", self.wire.session())

    def put(self, kind: str, which: str, entry: Entry) -> None:
        """One more object."""
        self.of(kind)[which] = entry

    def of(self, kind: str) -> dict[str, Entry]:
        """Everything of a kind."""
        return self.world.state.others.setdefault(kind, {})

    def ids(self) -> set[str]:
        """Ids of all there is."""
        return {which for entries in self.world.state.others.values() for which in entries}
