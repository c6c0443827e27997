"""What is said before and after a purchase: the block, the sum, the account, the keys of the stack file, and what comes next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from facts.block_sales import PAYMENT_H
from operations.aws.capacity_blocks import Offering
from operations.aws.identity import Caller
from operations.cluster.capacity.changes import followers
from operations.cluster.capacity.order import Order
from operations.cluster.capacity.purchase import STAND_IN, file_edits
from operations.cluster.capacity.ways import Way
from operations.stack_edit import Edit, as_yaml

SCHEMA = "trn-capacity-purchase/1"


def before(order: Order, offering: Offering, way: Way, who: Caller, is_proven: bool) -> Iterator[str]:
    """The purchase as it is to be confirmed."""
    each = offering.fee / (offering.duration_h * offering.instance_count)
    yield f"block    {offering.id}: {offering.instance_count} x {offering.instance_type} in {offering.zone_id}, {way.region}"
    yield f"from     {_time(offering.starts)}"
    yield f"to       {_time(offering.ends)}, {offering.duration_h} h; EC2 ends its nodes from 30 minutes before"
    yield f"sum      {offering.fee:,.2f} {offering.currency}, {each:.2f} an instance and hour"
    yield f"account  {who.account}{'' if is_proven else ': the stack is not up, so check that it is the one'}"
    yield f"buyer    {who.arn}"
    yield f"writes   Pulumi.{order.stack_file.stack}.yaml"
    made = file_edits(order, way, STAND_IN)
    yield from (f"         {line.replace(STAND_IN, 'cr-...')}" for line in as_yaml(made))
    yield from (f"note     {line}" for line in followers(order.settings, way, order.wanted.group, made))


@dataclass(frozen=True)
class Receipt:
    """How a purchase ended."""

    order: Order
    way: Way
    reservation_id: str
    """Empty where nothing was bought."""
    written: Sequence[Edit]
    was_there: bool
    """Whether it had been bought before."""

    def as_data(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "schema": SCHEMA,
            "stack": self.order.stack_file.stack,
            "offer": self.order.offer,
            "capacityReservationId": self.reservation_id or None,
            "wasBoughtBefore": self.was_there,
            "group": self.order.wanted.group,
            "zoneId": self.way.zone_id,
            "startsAt": _time(self.way.starts),
            "endsAt": _time(self.way.ends) if self.way.ends is not None else None,
            "usd": self.way.usd,
            "written": {edit.key: edit.value for edit in self.written},
        }


def after(receipt: Receipt) -> Iterator[str]:
    """What has happened, and what comes next."""
    order, file = receipt.order, f"Pulumi.{receipt.order.stack_file.stack}.yaml"
    if not receipt.reservation_id:
        yield f"EC2 would sell {order.offer}: nothing was bought, and {file} is as it was"
        return
    how = "was bought before: nothing was paid now" if receipt.was_there else f"is bought; EC2 takes the payment within {PAYMENT_H} h"
    yield f"{order.offer} {how}"
    if receipt.written:
        yield f"{file} has {receipt.reservation_id} for `nodeGroups.{order.wanted.group}`"
    else:
        yield f"{receipt.reservation_id} is for `nodeGroups.{order.wanted.group}`; {file} was not changed"
    stack = order.stack_file.stack
    yield f"next     trn capacity calendar {stack}; trn check {stack}; trn plan {stack}; pulumi up"


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
