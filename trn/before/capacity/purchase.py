"""Buys one capacity block for a node group, once: found by its tag, it is only written down."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from facts.block_sales import sold_count, sold_hours
from facts.names import BLOCK_GROUP_TAG, CLUSTER_TAG, OFFER_TAG, PURCHASE_TAG, STACK_TAG
from facts.typed import typed
from stacks.settings import Settings
from trn.aws.api import Api
from trn.aws.block_purchase import purchase
from trn.aws.capacity_blocks import Offering, block_offerings
from trn.aws.errors import DENIED, code_of, is_refusal
from trn.aws.zones import Reservation, reservations_of
from trn.before.capacity.changes import edits
from trn.before.capacity.wanted import Wanted
from trn.before.capacity.ways import LIVING, Way
from trn.change.action import Ended
from trn.cli.errors import MISUSE, CommandError, OwnershipError
from trn.cli.text_files import read_text, write_text
from trn.engine.needs import purchases
from trn.engine.program import settings_of
from trn.engine.stack_edit import Edit, edit_stack, refuse_uneditable
from trn.engine.stack_file import StackFile, with_edits

FOLDER = Path("build") / "capacity"
MAX_BYTES = 10_000


@dataclass(frozen=True)
class PurchaseRecord:
    """The record of one offer for one stack."""

    path: Path

    @classmethod
    def of(cls, root: Path, stack: str, offer: str) -> "PurchaseRecord":
        """`root`: folder of the project."""
        return cls(root / FOLDER / f"{stack}.{offer}.json")

    def write(self, said: Mapping[str, str]) -> None:
        """Before EC2 is asked. Raises CommandError: without it nothing is bought."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        write_text(self.path, json.dumps({**said, "since": since}, indent=2) + "\n", "make room, or let this user write there")

    @property
    def since(self) -> str:
        """When a purchase was begun whose end is not known; empty where there is none."""
        return self._said("since", "an unknown time")

    @property
    def token(self) -> str:
        """Of the run that began it, as on its block; empty where there is none, or release 0.1.0 wrote it."""
        return self._said("token", "")

    def _said(self, key: str, otherwise: str) -> str:
        if not self.path.exists():
            return ""
        try:
            return str(json.loads(read_text(self.path, MAX_BYTES, f"see what is in `{self.path}`"))[key])
        except (ValueError, KeyError, TypeError):
            return otherwise

    def delete(self) -> None:
        """The end is known."""
        self.path.unlink(missing_ok=True)


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


STAND_IN = "cr-00000000000000000"
"""Id with which the changed stack file is judged before a block is bought."""
LOOKS, PAUSE_S = 6, 10
"""How often EC2 is asked for a block whose purchase may have been answered to a run that was killed."""
_OFFER = re.compile(r"cb-[0-9a-z]+")


def refuse_offer(offer: str) -> None:
    """Raises CommandError for what is no id of an offer. Filters of EC2 take `*` and `?`: such a text would find every block."""
    if not _OFFER.fullmatch(offer):
        raise CommandError(f"`{offer}` is not the id of an offer", f"`{typed('trn capacity find')}` lists them: cb-...", code=MISUSE)


def bought(api: Api, order: Order, token: str = "") -> Reservation | None:
    """The block that this offer became, where it was bought before; with a token, the one that this very run bought.

    Raises OwnershipError where it was bought for another cluster, and CommandError where it cannot be the group's.
    """
    for found in reservations_of(api, tags={PURCHASE_TAG: token} if token else {OFFER_TAG: order.offer}).values():
        if found.state in LIVING:
            cluster = found.tags.get(CLUSTER_TAG, "")
            if cluster != order.settings.name:
                raise OwnershipError(
                    f"{order.offer} was bought as {found.id} for cluster `{cluster}`", "nothing was bought; take another offer"
                )
            _refuse_unlike(order, found)
            return found
    return None


def _refuse_unlike(order: Order, found: Reservation) -> None:
    """Raises CommandError for a reservation that has the tags by another's hand, or was bought for a group of another type."""
    group, wanted = order.wanted.group, order.wanted.instance_type
    if not found.is_block:
        wrong = f"{found.id} has the tag {OFFER_TAG}={order.offer}, and is no capacity block; nothing was bought"
        raise CommandError(wrong, f"delete the tag from {found.id} if it is there by mistake")
    if found.instance_type != wanted:
        wrong = f"{order.offer} was bought as {found.id}, of {found.instance_type}; `nodeGroups.{group}` is of {wanted}"
        raise CommandError(wrong, "name its group with --group", code=MISUSE)


def bought_in_doubt(api: Api, order: Order, pause: Callable[[float], None], *, is_doubtful: bool = False) -> Reservation | None:
    """As `bought`, asked for a while where a purchase was begun whose end is not known. Raises CommandError where none is seen then.

    A block of the same offer that another run bought is not the purchase that was begun. `is_doubtful`: a run on another computer may
    have begun one.
    """
    since, token = order.record.since, order.record.token
    for number in range(LOOKS if since or is_doubtful else 1):
        if number:
            pause(PAUSE_S)
        found = bought(api, order, token)
        if found is not None:
            return found
    if since:
        wrong = f"a purchase of {order.offer} was begun at {since} and its end is not known; EC2 shows no such block yet"
        if token and (other := bought(api, order)) is not None:
            wrong += f", and {other.id}, of the same offer, is another run's"
        hint = f"run it again in some minutes; nothing was bought if `{typed('trn capacity find')}` lists the offer then: delete {_short(order.record.path)}"
        raise CommandError(wrong, hint)
    return None


def _short(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def on_offer(api: Api, order: Order) -> Offering:
    """The offer as EC2 has it now. Raises CommandError where it is gone."""
    wanted = order.wanted
    count, hours = sold_count(wanted.count), sold_hours(wanted.hours)
    listed = []
    if count is not None and hours is not None:
        listed = block_offerings(api, wanted.instance_type, count, hours, wanted.earliest.date())
    found = next((offering for offering in listed if offering.id == order.offer), None)
    if found is None:
        what = f"{order.offer} is not among the blocks of {count} x {wanted.instance_type} for {hours} h on offer in {api.region}"
        again = typed(f"trn capacity find {order.stack_file.stack} --instances {wanted.count} --hours {wanted.hours}")
        raise CommandError(
            f"{what}; nothing was bought", f"offers go and come: `{again}` lists those of now, and the numbers must be the same"
        )
    return found


def way_of(api: Api, offering: Offering) -> Way:
    """The offer as a way to the instances."""
    usd = offering.fee if offering.currency == "USD" else None
    return Way(
        "block", api.region, offering.zone_id, offering.starts, offering.ends, offering.instance_count, usd, offering.id, is_block=True, block_starts=offering.starts
    )  # fmt: skip


def way_of_bought(api: Api, found: Reservation, wanted: Wanted) -> Way:
    """A block that is bought."""
    starts = found.starts or wanted.earliest
    return Way(
        "reservation",
        api.region,
        found.zone_id,
        starts,
        found.ends,
        found.total_count,
        0.0,
        found.id,
        is_block=True,
        block_starts=found.starts,
    )


def file_edits(order: Order, way: Way, reservation_id: str) -> list[Edit]:
    """Keys of the stack file that follow from the block. A group gets no more nodes than the block has instances: a second run, which
    only writes, may have been given another count."""
    return edits(order.settings, replace(order.wanted, count=min(order.wanted.count, way.count)), way, reservation_id)


def refuse_unfit(order: Order, way: Way, reservation_id: str = STAND_IN) -> None:
    """Raises, before money is spent, where the stack file would be refused with the block in it, or cannot be written.

    ConfigurationError for the first, CommandError for the second.
    """
    made = file_edits(order, way, reservation_id)
    settings_of(with_edits(order.stack_file, made))
    refuse_uneditable(order.stack_file.stack, made, order.stack_file.root)


def looked_up(api: Api, order: Order, unclear: Exception, pause: Callable[[float], None]) -> Reservation:
    """The block of a purchase that got no answer. Nothing is said before it was looked for."""
    try:
        there = bought_in_doubt(api, order, pause)
    except CommandError as error:
        raise CommandError(f"EC2 gave no answer ({unclear}): {error.args[0]}", error.hint, code=error.code) from unclear
    assert there is not None, "with a record it is found, or refused"
    return there


def write_down(order: Order, way: Way, reservation_id: str) -> list[Edit]:
    """Put a block that is bought into the stack file, and forget that its end was in doubt; the keys that were written."""
    made = file_edits(order, way, reservation_id)
    if made:
        edit_stack(order.stack_file.stack, made, order.stack_file.root)
    order.record.delete()
    return made


def purchased(api: Api, order: Order, tags: Mapping[str, str], token: str) -> str | Exception:
    """The id of the reservation; what was raised where that does not say whether it was bought. Raises Ended where EC2 refused.

    `token`: of the run; no other one has it, and the record has it before EC2 is asked.
    """
    order.record.write({"offer": order.offer, "region": api.region, "token": token})
    try:
        return purchase(api, order.offer, {**tags, PURCHASE_TAG: token})
    except ClientError as error:
        if not is_refusal(error):
            return error
        # EC2 has answered: nothing was bought.
        order.record.delete()
        raise _refused(order, error) from error
    except (BotoCoreError, ResponseParserError, KeyError) as error:
        return error


def _refused(order: Order, error: ClientError) -> Ended:
    said = f"{code_of(error)}: {error.response.get('Error', {}).get('Message', '')}; nothing was bought"
    if code_of(error) in DENIED:
        return Ended("refused", said, f"give the caller the document that `{typed(f'trn iam {order.stack_file.stack} --buyer')}` prints")
    return Ended("refused", said, f"`{typed(f'trn capacity find {order.stack_file.stack}')}` lists what is on offer now")


def refuse_held(api: Api, order: Order, bought_id: str = "") -> None:
    """Raises CommandError where the group is on another block or reservation that is not over: its id would be lost from the stack file.

    `bought_id`: the block, where it is bought already. One that another group has is refused as well.
    """
    groups = order.settings.node_groups
    elsewhere = [
        name for name, each in groups.items() if bought_id and each.capacity_reservation_id == bought_id and name != order.wanted.group
    ]
    if elsewhere:
        wrong = f"{order.offer} was bought as {bought_id}, and `nodeGroups.{elsewhere[0]}` has it; nothing was changed"
        raise CommandError(
            wrong, f"there is nothing to do; `{typed(f'trn capacity calendar {order.stack_file.stack}')}` shows it", code=MISUSE
        )
    group = groups.get(order.wanted.group)
    held = group.capacity_reservation_id if group is not None else None
    if held is None or held == bought_id:
        return
    found = reservations_of(api, [order.wanted.instance_type]).get(held)
    if found is not None and found.state in LIVING:
        until = f" until {found.ends:%Y-%m-%d %H:%M} UTC" if found.ends else ""
        hint = "name another group with --group; a new name with --type makes one. Or, for a block that begins after it ends, remove the id first"
        done = f"{bought_id} is bought, and not in the stack file yet" if bought_id else "nothing was bought"
        raise CommandError(f"`nodeGroups.{order.wanted.group}` is on {held}{until}; {done}", hint, code=MISUSE)


def refuse_unwritten(api: Api, order: Order, offering: Offering) -> None:
    """Raises CommandError where another offer was bought for the group and for the same time, by another run or on another computer,
    and its id is in no section of the stack file: the group can have one block, and a second one would be paid for nothing."""
    written = {item.capacity_reservation_id for item in purchases(order.settings)}
    tags = {CLUSTER_TAG: order.settings.name, BLOCK_GROUP_TAG: order.wanted.group}
    for found in reservations_of(api, tags=tags).values():
        is_other = found.id not in written and found.tags.get(OFFER_TAG, order.offer) != order.offer
        if is_other and found.state in LIVING and (found.ends is None or found.ends > offering.starts):
            stack, offer = order.stack_file.stack, found.tags[OFFER_TAG]
            wrong = f"{found.id} was bought for `nodeGroups.{order.wanted.group}`, and is not in Pulumi.{stack}.yaml; nothing was bought"
            hint = f"`{typed(f'trn capacity buy {stack} {offer} --group {order.wanted.group}')}` writes it, and buys nothing; or take the file of who bought it"
            raise CommandError(wrong, f"{hint}. A further block is for a group of its own: --group NAME", code=MISUSE)
