"""The purchase of a capacity block: sent once, with its tags, or only tried."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from facts.resources.rights import IN_REGION, Scope
from trn.aws.api import Api, Call, Taken
from trn.aws.capacity_blocks import PLATFORM
from trn.aws.errors import code_of

PURCHASE = Call("ec2", "PurchaseCapacityBlock", IN_REGION, repeats=False)
_BOUGHT = Scope(
    "arn:{partition}:ec2:{region}:*:capacity-reservation/*", (("StringEquals", "ec2:CreateAction", "PurchaseCapacityBlock"),)
)  # fmt: skip
TAG_PURCHASE = Taken("ec2", "CreateTags", (_BOUGHT,))
"""A block is bought with its tags (EC2 user guide, tagging resources on creation)."""
SPENDING = (PURCHASE, TAG_PURCHASE)
"""Calls that spend money at once; only the document of those who buy allows them."""


def purchase(api: Api, offer: str, tags: Mapping[str, str]) -> str:
    """Buy a block on offer: the id of its reservation. It is paid at once, and there is no way back.

    EC2 takes no token that would make a second request harmless, so it is sent once. Raises ClientError where EC2 refuses, see
    `is_refusal`; BotoCoreError where no answer came, and ResponseParserError or KeyError for one that is cut off: it is not known then.
    """
    return api.call(PURCHASE, **_order(offer, tags))["CapacityReservation"]["CapacityReservationId"]


def try_purchase(api: Api, offer: str, tags: Mapping[str, str]) -> None:
    """Ask EC2 whether the caller could buy a block, and buy nothing. Raises ClientError where it could not."""
    try:
        api.call(PURCHASE, DryRun=True, **_order(offer, tags))
    except ClientError as error:
        if code_of(error) != "DryRunOperation":
            raise


def _order(offer: str, tags: Mapping[str, str]) -> dict[str, Any]:
    # The tags go on the reservation: hashicorp/terraform-provider-aws internal/service/ec2/ec2_capacity_block_reservation.go.
    marks = [{"Key": key, "Value": value} for key, value in tags.items()]
    specifications = [{"ResourceType": "capacity-reservation", "Tags": marks}]
    return {"CapacityBlockOfferingId": offer, "InstancePlatform": PLATFORM, "TagSpecifications": specifications}
