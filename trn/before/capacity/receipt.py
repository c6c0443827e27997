"""What is said before and after a purchase: the block, the sum, the account, the keys of the stack file, and what comes next."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from facts.block_sales import PAYMENT_H
from trn.aws.capacity_blocks import Offering
from trn.aws.identity import Caller
from trn.before.capacity.changes import followers
from trn.before.capacity.order import Order
from trn.before.capacity.purchase import STAND_IN, Run, file_edits
from trn.before.capacity.ways import Way
from trn.cli.errors import CommandError
from trn.cli.interruption import interrupted_by_signals, signals_kept
from trn.cli.output import write_json
from trn.engine.stack_edit import Edit, as_yaml

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
            "capacityReservationId": self.reservation_id or None,
            "wasBoughtBefore": self.was_there,
            "group": self.order.wanted.group,
            "zoneId": self.way.zone_id,
            "startsAt": _time(self.way.starts),
            "endsAt": _time(self.way.ends) if self.way.ends is not None else None,
            "usd": self.way.usd,
            "written": {edit.key: edit.value for edit in self.written},
        }


@dataclass
class Report:
    """What `--json` gets, whatever ends the command: filled in as things become known."""

    stack: str
    offer: str
    order: Order | None = None
    reservation_id: str = ""
    """A block that was bought before."""
    run: Run | None = None
    receipt: Receipt | None = None

    def as_data(self, wrong: BaseException | None) -> dict[str, Any]:
        """`wrong`: what ended it before its end."""
        known = {"schema": SCHEMA, "stack": self.stack, "offer": self.offer, "end": _end(wrong), "error": _text(wrong)}
        if self.receipt is not None:
            return {**known, **self.receipt.as_data(), "isBought": bool(self.receipt.reservation_id)}
        bought = self.reservation_id or (self.run.reservation_id if self.run is not None else "")
        # A record stays for as long as the end of a purchase is not known.
        in_doubt = not bought and self.order is not None and bool(self.order.record.since)
        group = self.order.wanted.group if self.order is not None else None
        return {**known, "group": group, "capacityReservationId": bought or None, "isBought": None if in_doubt else bool(bought)}


def _end(wrong: BaseException | None) -> str:
    return "done" if wrong is None else "interrupted" if isinstance(wrong, KeyboardInterrupt) else "failed"


def _text(wrong: BaseException | None) -> str | None:
    return None if wrong is None else str(wrong.args[0]) if wrong.args else type(wrong).__name__


@contextmanager
def reported(report: Report, json_file: Path | None) -> Iterator[None]:
    """Write the report when the block ends, also where it raises or a signal ends it. A report that cannot be written hides no error."""
    with interrupted_by_signals():
        try:
            yield
        except BaseException as wrong:
            with signals_kept(), suppress(CommandError, OSError):
                write_json(report.as_data(wrong), json_file)
            raise
        write_json(report.as_data(None), json_file)


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
