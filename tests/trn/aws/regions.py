"""Several regions of one simulated account, each with its own offers, quotas and faults."""

from collections.abc import Iterator
from datetime import datetime

from simulator.account.world import World
from simulator.aws_endpoint import endpoint
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.aws_endpoint.wire import Wire
from trn.aws.api import Api, BotoApi


class Regions:
    """An account whose regions are made when they are first asked for; tests change `around` and the wires."""

    def __init__(self, now: datetime) -> None:
        """`now`: the account's clock."""
        self.world, self.now = World(), now
        self._around: dict[str, Surroundings] = {}
        self._wires: dict[str, Wire] = {}

    def around(self, region: str) -> Surroundings:
        """What a region offers; nothing by chance."""
        if region not in self._around:
            self._around[region] = Surroundings.of_region(region)
            self._around[region].now = lambda: self.now
        return self._around[region]

    def wire(self, region: str) -> Wire:
        """The region's own answers, calls and faults."""
        if region not in self._wires:
            self._wires[region] = endpoint.wire(self.world, endpoint.Options(region=region, surroundings=self.around(region)))
        return self._wires[region]

    def api(self, region: str) -> Api:
        """boto3 in a region."""
        return BotoApi(region, self.wire(region).session())

    def calls(self) -> Iterator[str]:
        """Operations that were called, in all regions."""
        return (name for wire in self._wires.values() for name, _ in wire.calls)
