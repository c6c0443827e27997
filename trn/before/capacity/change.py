"""A capacity block for a node group, as a change: bought once and written into the stack file; found by its tag, it is only written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from facts.block_sales import PAYMENT_H
from facts.typed import typed
from trn.aws.block_purchase import try_purchase
from trn.aws.capacity_blocks import Offering
from trn.aws.identity import Caller
from trn.before.capacity import purchase
from trn.before.capacity.changes import followers
from trn.before.capacity.purchase import STAND_IN, Order, refuse_held, refuse_unwritten
from trn.before.capacity.ways import Way
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal, Typed
from trn.change.hold import cluster_lock
from trn.change.identity import Aws
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.cli.errors import MISUSE
from trn.cli.interruption import signals_kept
from trn.engine.stack_edit import Edit, as_yaml
from trn.engine.stack_file import changed_keys, read_stack_file, refuse_edited
from trn.table import ENTRIES

CENT = 0.005
_SUM = re.compile(r"\$?\s*([0-9][0-9,]*(?:\.[0-9]{1,2})?)\s*(?:USD)?", re.IGNORECASE)


def is_sum(typed: str, fee: float) -> bool:
    """Whether a text is this sum of dollars, to the cent; a dollar sign and commas do no harm."""
    found = _SUM.fullmatch(typed.strip())
    return found is not None and abs(float(found[1].replace(",", "")) - fee) < CENT


class BuyReport(ChangeDocument, frozen=True):
    """What `trn capacity buy` did."""

    schema_: Literal["trn-capacity-buy"] = "trn-capacity-buy"
    offer: str
    group: str
    capacity_reservation_id: str | None
    """Of the block, from the moment at which it is known."""
    is_bought: bool | None
    """Null where a request was sent and no end of it is known."""
    was_bought_before: bool | None = None
    """By another run."""
    zone_id: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    usd: float | None = None
    written: dict[str, Any] | None = None
    """What the stack file got, by key."""


@dataclass(frozen=True)
class Block:
    """The offer, or the block that it has become, and what the stack file is to say of it."""

    offering: Offering | None
    """None: it is bought."""
    bought_id: str
    """Empty where it is not."""
    way: Way
    edits: tuple[Edit, ...]
    is_recorded: bool
    """Whether a record says that the end of its purchase is not known."""
    buyer: Caller
    stack: str
    """As in the tag `trn:stack`; empty where the state does not say it."""
    is_proven: bool
    """Whether the state says which account is meant."""


@dataclass
class Progress:
    """How far the run has come: what the report needs most, whatever ends it."""

    looks: int = 0
    reservation_id: str = ""
    """The block, from the moment at which it is known."""
    was_there: bool = False
    """Whether another run bought it."""
    written: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class Buy:
    """Buy a block, or write one that was bought."""

    order: Order
    account: str
    """The one that is meant; empty where the caller names none."""
    limit_usd: float | None
    is_agreed: bool
    """`--yes`."""
    is_tried: bool
    """EC2 is only asked whether it would sell."""
    progress: Progress = field(default_factory=Progress)
    document = BuyReport
    pace = Pace()

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"capacity buy {self.order.stack_file.stack} {self.order.offer}"

    @property
    def file(self) -> str:
        """Of the stack."""
        return f"Pulumi.{self.order.stack_file.stack}.yaml"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The cluster's lock."""
        return cluster_lock(self.name, site, whose)

    def look(self, site: Site, whose: Whose) -> Block:
        """Whether it is bought, else whether it is on offer; and what stands against it, which is raised.

        From the second look on the lock may have been taken from a run that has sent its request.
        """
        order, progress, ownership = self.order, self.progress, whose.ownership
        progress.looks += 1
        is_doubtful = site.break_lock and progress.looks > 1
        found = purchase.bought_in_doubt(site.api, order, site.pause, is_doubtful=is_doubtful)
        bought_id = found.id if found is not None else ""
        refuse_held(site.api, order, bought_id)
        if found is None:
            offering = purchase.on_offer(site.api, order)
            refuse_unwritten(site.api, order, offering)
            way = purchase.way_of(site.api, offering)
        else:
            if progress.reservation_id != bought_id:
                site.tell(f"{order.offer} was bought as {bought_id}")
            progress.reservation_id, progress.was_there = bought_id, True
            offering, way = None, purchase.way_of_bought(site.api, found, order.wanted)
        # Another block may be in it by now, whose id would be overwritten.
        refuse_edited(order.stack_file, read_stack_file(order.stack_file.stack, order.stack_file.root))
        purchase.refuse_unfit(order, way, bought_id or STAND_IN)
        stack = ownership.identity.stack if ownership.is_proven else ""
        if self.is_tried and offering is not None:
            try_purchase(site.api, order.offer, order.tags(stack))
        edits = tuple(purchase.file_edits(order, way, bought_id or STAND_IN))
        buyer = Caller(ownership.seen.account, ownership.caller)
        return Block(offering, bought_id, way, edits, bool(order.record.since), buyer, stack, ownership.is_proven)

    def refusals(self, seen: Block) -> Iterator[Refusal]:
        """Another account than the one that is meant, and more than may be spent: no switch alone buys anything."""
        is_agreed, limit, account = self.is_agreed and not self.is_tried, self.limit_usd, seen.buyer.account
        if self.account and self.account != account:
            wrong = f"these are credentials of account {account}, not of {self.account}"
            yield Refusal(wrong, "nothing was bought; check AWS_PROFILE", MISUSE)
        if limit is None and is_agreed:
            yield Refusal("--yes alone buys nothing", "add --limit-usd with the most that the block may cost, in dollars", MISUSE)
        elif is_agreed and not self.account and not seen.is_proven:
            wrong = "the stack is not up, so nothing says which account is meant"
            yield Refusal(wrong, f"add --account {account} if this one is", MISUSE)
        elif (offering := seen.offering) is not None and limit is not None and not self.is_tried:
            total, is_usd = f"{offering.fee:.2f}", offering.currency == "USD"
            if not (is_usd and offering.fee <= limit + CENT):
                hint = f"--limit-usd {total} allows it" if is_usd else "leave --limit-usd out, and answer the questions"
                yield Refusal(f"the block costs {total} {offering.currency}, more than --limit-usd {limit:.2f}; nothing was bought", hint)

    def actions(self, seen: Block) -> list[Action]:
        """One: the id of a block that is paid belongs into the stack file at once. Who agreed to buy it agreed to have it written."""
        offer = Aws("capacity block", self.order.offer, self.order.offer, "")
        if seen.offering is not None:
            return [Action("buy", offer, f"it is on offer: {seen.offering}", lambda site, _: self._buy(seen, site))]
        if not (seen.edits or seen.is_recorded):
            return []
        there = Aws("capacity block", self.order.offer, seen.bought_id, "")
        return [
            Action(
                "write", there, f"it is bought, and {self.file} lacks it", lambda site, _: self._write(seen, site),
                follows=lambda confirmed: (confirmed.verb, confirmed.object) == ("buy", offer),
            )
        ]  # fmt: skip

    def _buy(self, seen: Block, site: Site) -> Outcome:
        """Ctrl-C waits for the end."""
        if moved := self._moved():
            return moved
        with signals_kept():
            answer = purchase.purchased(site.api, self.order, self.order.tags(seen.stack), site.token)
            if isinstance(answer, str):
                return self._kept(seen, answer, site)
        there = purchase.looked_up(site.api, self.order, answer, site.pause)
        with signals_kept():
            return self._kept(seen, there.id, site)

    def _write(self, seen: Block, site: Site) -> Outcome:
        with signals_kept():
            return self._moved() or self._kept(seen, seen.bought_id, site)

    def _moved(self) -> Outcome | None:
        """The stack file is what it was judged as right before it is written, and anything paid."""
        planned = self.order.stack_file
        changed = changed_keys(planned, read_stack_file(planned.stack, planned.root))
        return Outcome("moved", (f"{self.file} was edited a moment ago: {'; '.join(changed)}",)) if changed else None

    def _kept(self, seen: Block, reservation_id: str, site: Site) -> Outcome:
        self.progress.reservation_id = reservation_id
        try:
            self.progress.written = tuple(purchase.write_down(self.order, seen.way, reservation_id))
        finally:
            # After the file: a closed terminal must not come between the purchase and its record.
            site.tell(f"bought   {reservation_id}")
        return Outcome("done")

    def question(self, seen: Block) -> Question | None:
        """A yes, then the sum. Nothing is asked about a block that is paid."""
        if (offering := seen.offering) is None:
            return None
        total = f"{offering.fee:.2f}"
        typed = Typed(
            f"Type the sum, {total}, to buy it", lambda text: is_sum(text, offering.fee), f"is not the sum, {total}; nothing was bought"
        )
        text = f"Buy this block for {offering.fee:,.2f} {offering.currency}? It is paid at once and never paid back."
        return Question(text, typed=typed)

    def shown(self, seen: Block) -> Iterator[str]:
        """The purchase as it is to be confirmed."""
        if (offering := seen.offering) is None:
            return
        each = offering.fee / (offering.duration_h * offering.instance_count)
        yield f"block    {offering.id}: {offering.instance_count} x {offering.instance_type} in {offering.zone_id}, {seen.way.region}"
        yield f"from     {_time(offering.starts)}"
        yield f"to       {_time(offering.ends)}, {offering.duration_h} h; EC2 ends its nodes from 30 minutes before"
        yield f"sum      {offering.fee:,.2f} {offering.currency}, {each:.2f} an instance and hour"
        yield f"account  {seen.buyer.account}{'' if seen.is_proven else ': the stack is not up, so check that it is the one'}"
        yield f"buyer    {seen.buyer.arn}"
        yield f"writes   {self.file}"
        yield from (f"         {line.replace(STAND_IN, 'cr-...')}" for line in as_yaml(seen.edits))
        yield from (f"note     {line}" for line in followers(self.order.settings, seen.way, self.order.wanted.group, seen.edits))

    def differences(self, shown: Block, now: Block) -> Iterator[Difference]:
        """Another price, place or time. One that was bought meanwhile costs nothing more."""
        if None not in (shown.offering, now.offering) and shown.offering != now.offering:
            yield Difference(f"{self.order.offer} has changed since it was confirmed: {now.offering}", is_grave=True)

    def result(self, _: Block, report: Report) -> Iterator[str]:
        """What has happened, and what comes next."""
        progress, stack = self.progress, self.order.stack_file.stack
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)
        if report.left:
            return
        if not progress.reservation_id:
            yield f"EC2 would sell {self.order.offer}: nothing was bought, and {self.file} is as it was"
            return
        how = "was bought before: nothing was paid now" if progress.was_there else f"is bought; EC2 takes the payment within {PAYMENT_H} h"
        yield f"{self.order.offer} {how}"
        if progress.written:
            yield f"{self.file} has {progress.reservation_id} for `nodeGroups.{self.order.wanted.group}`"
        else:
            yield f"{progress.reservation_id} is for `nodeGroups.{self.order.wanted.group}`; {self.file} was not changed"
        yield f"next     {'; '.join(typed(f'trn {place} {stack}') for place in ENTRIES['capacity buy'].next)}; {typed('pulumi up')}"

    @property
    def always(self) -> dict[str, Any]:
        """Whether money is spent."""
        bought = self.progress.reservation_id
        return {
            "offer": self.order.offer,
            "group": self.order.wanted.group,
            "capacity_reservation_id": bought or None,
            # A record stays for as long as the end of a purchase is not known.
            "is_bought": None if not bought and self.order.record.since else bool(bought),
        }

    def data(self, seen: Block, _: Report) -> dict[str, Any]:
        """For `--json`."""
        return {
            **self.always,
            "was_bought_before": self.progress.was_there,
            "zone_id": seen.way.zone_id,
            "starts_at": seen.way.starts,
            "ends_at": seen.way.ends,
            "usd": seen.way.usd,
            "written": {edit.key: edit.value for edit in self.progress.written},
        }


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
