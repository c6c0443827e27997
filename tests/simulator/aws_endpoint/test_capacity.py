"""The simulated EC2 sells what it shows, once, and keeps what was bought."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from facts.block_sales import is_sold, sold_count, sold_hours
from simulator.account.offers import offers
from tests.trn.aws.regions import Regions
from trn.aws.block_purchase import purchase, try_purchase
from trn.aws.capacity_blocks import Offering, block_offerings
from trn.aws.errors import code_of
from trn.aws.spot import spot_prices, spot_scores
from trn.aws.zones import reservations, reservations_of, zones

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
REGION = "us-west-2"


@pytest.fixture
def regions() -> Regions:
    """An account with a market."""
    made = Regions(NOW)
    made.around(REGION).has_market = True
    return made


def listed(regions: Regions, **changes: Any) -> list[Offering]:
    """Blocks on offer."""
    given = {"instance_type": "trn1.32xlarge", "instance_count": 2, "hours": 24, "today": NOW.date(), **changes}
    return block_offerings(regions.api(REGION), **given)


def refusal(regions: Regions, offer: str, *, dry_run: bool = False) -> str:
    """Code with which a purchase fails."""
    with pytest.raises(ClientError) as refused:
        (try_purchase if dry_run else purchase)(regions.api(REGION), offer, {})
    return code_of(refused.value)


def test_an_offer_is_sold_once_and_begins_and_ends_in_time(regions: Regions):
    """Its reservation is scheduled, then active, then expired, and is found by its tags."""
    first = listed(regions)[0]
    assert listed(regions)[0] == first
    try_purchase(regions.api(REGION), first.id, {})
    which = purchase(regions.api(REGION), first.id, {"trn:cluster": "a"})
    assert first not in listed(regions)
    assert refusal(regions, first.id) == refusal(regions, first.id, dry_run=True) == "InvalidCapacityBlockOfferingId.NotFound"
    states = []
    for moment in (NOW, first.starts, first.ends):
        regions.now = moment
        states.append(reservations(regions.api(REGION), [which])[which].state)
    assert states == ["scheduled", "active", "expired"]
    assert list(reservations_of(regions.api(REGION), tags={"trn:cluster": "a"})) == [which]
    assert not reservations_of(regions.api(REGION), tags={"trn:cluster": "b"})
    assert not reservations_of(regions.api("us-east-2"))


def test_offers_are_within_the_time_asked_for_and_of_types_that_are_sold(regions: Regions):
    """At 11:30 UTC each."""
    found = listed(regions)
    assert all(one.starts >= NOW.replace(hour=0) and one.ends - one.starts == timedelta(hours=24) for one in found)
    assert {(one.starts.hour, one.starts.minute) for one in found} == {(11, 30)}
    assert listed(regions, instance_type="trn1n.32xlarge") == []
    assert list(offers("m5.xlarge", 1, 24, "usw2-az4", NOW, NOW + timedelta(weeks=8))) == []


def test_a_length_that_is_not_sold_and_a_region_without_blocks(regions: Regions):
    """In EC2's codes."""
    with pytest.raises(ClientError) as refused:
        listed(regions, hours=25)
    assert code_of(refused.value) == "InvalidParameterValue"
    regions.around(REGION).is_without_blocks = True
    with pytest.raises(ClientError) as refused:
        listed(regions)
    assert code_of(refused.value) == "Unsupported"


def test_spot_scores_and_prices_are_of_zones_that_offer_the_type(regions: Regions):
    """What a test names counts before what is made up."""
    regions.around(REGION).spot_scores["trn1.32xlarge", "usw2-az4"] = 9
    api = regions.api(REGION)
    assert spot_scores(api, "trn1.32xlarge", 2)["usw2-az4"] == 9
    names = {zone.zone_name: zone.zone_id for zone in zones(api).values()}
    prices = spot_prices(api, "trn1.32xlarge", NOW, names)
    assert prices.keys() == {"usw2-az1", "usw2-az4"}
    assert all(21.5 / 3 <= price <= 21.5 * 2 / 3 for price in prices.values())


@pytest.mark.parametrize(("hours", "sold"), [(1, 24), (24, 24), (25, 48), (336, 336), (337, 504), (4368, 4368), (4369, None)])
def test_a_length_is_rounded_up_to_one_that_is_sold(hours: int, sold: int | None):
    """Days up to two weeks, then weeks."""
    assert sold_hours(hours) == sold
    assert sold is None or is_sold(sold)


@pytest.mark.parametrize(("count", "sold"), [(1, 1), (3, 4), (64, 64), (65, None)])
def test_a_count_is_rounded_up_to_one_that_is_sold(count: int, sold: int | None):
    """Powers of two."""
    assert sold_count(count) == sold
