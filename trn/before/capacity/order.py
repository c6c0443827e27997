"""A block that is to be bought: for which group of which stack, with which tags."""

from dataclasses import dataclass

from facts.names import BLOCK_GROUP_TAG, CLUSTER_TAG, OFFER_TAG, STACK_TAG
from stacks.settings import Settings
from trn.before.capacity.record import PurchaseRecord
from trn.before.capacity.wanted import Wanted
from trn.engine.stack_file import StackFile


@dataclass(frozen=True)
class Order:
    """A block that is to be bought for a stack."""

    stack_file: StackFile
    settings: Settings
    wanted: Wanted
    offer: str

    def tags(self, stack: str) -> dict[str, str]:
        """Of the reservation, those of the stack among them. `stack`: as in the tag `trn:stack`; empty where it was never up."""
        name = f"{self.settings.name}-{self.wanted.group}"
        own = {CLUSTER_TAG: self.settings.name, BLOCK_GROUP_TAG: self.wanted.group, OFFER_TAG: self.offer}
        own |= {STACK_TAG: stack} if stack else {}
        return {"Name": name, **self.settings.tags, **own}

    @property
    def record(self) -> PurchaseRecord:
        """Kept while the end of the purchase is not known."""
        return PurchaseRecord.of(self.stack_file.root, self.stack_file.stack, self.offer)
