"""What stands against a purchase: a block that the group has, or that was bought for it and is in no section of the stack file."""

from facts.names import BLOCK_GROUP_TAG, CLUSTER_TAG, OFFER_TAG
from trn.aws.api import Api
from trn.aws.capacity_blocks import Offering
from trn.aws.zones import reservations_of
from trn.before.capacity.order import Order
from trn.before.capacity.ways import LIVING
from trn.cli.errors import MISUSE, CommandError
from trn.engine.needs import purchases


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
        raise CommandError(wrong, f"there is nothing to do; `trn capacity calendar {order.stack_file.stack}` shows it", code=MISUSE)
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
            hint = f"`trn capacity buy {stack} {offer} --group {order.wanted.group}` writes it, and buys nothing; or take the file of who bought it"
            raise CommandError(wrong, f"{hint}. A further block is for a group of its own: --group NAME", code=MISUSE)
