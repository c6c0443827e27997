"""What is scarce, as EC2 sells and keeps it: capacity blocks, capacity reservations, and what it says of spot instances.

One model: what is on offer is data of the region (`Surroundings`), what was bought is an object of the account and stays there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from botocore.utils import parse_timestamp

from facts.block_sales import is_sold
from simulator.account.offers import offers, spot_price, spot_score
from simulator.account.world import World
from simulator.aws_endpoint.entries import Entry, arn, made_id
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import CREATED_AT

BOUGHT = "capacity reservation"
"""Kind of what was bought, in the account's `others`."""
OFFER = "CapacityBlockOfferingId"
"""Member in which a bought block keeps its offer; EC2 does not show it."""
_MEMBERS = {"instance-type": "InstanceType", "state": "State", "owner-id": "OwnerId", "availability-zone": "AvailabilityZone"}
"""Filters of DescribeCapacityReservations and the members that they look at."""


@dataclass
class Capacity:
    """Answers for one account, seen from one region."""

    around: Surroundings
    world: World
    region: str
    _shown: dict[str, Entry] = field(default_factory=dict)
    """Offers that requests were answered with, by id: only these can be bought."""

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "ec2.DescribeCapacityReservations", self._reservations
        yield "ec2.DescribeCapacityBlockOfferings", lambda given: {"CapacityBlockOfferings": list(self._on_offer(given))}
        yield "ec2.PurchaseCapacityBlock", self._purchase
        yield "ec2.GetSpotPlacementScores", self._scores
        yield "ec2.DescribeSpotPriceHistory", self._prices

    def _all(self) -> dict[str, Entry]:
        """Reservations of the region as EC2 shows them."""
        bought = self.world.state.others.get(BOUGHT, {})
        here = {which: entry for which, entry in bought.items() if entry["AvailabilityZone"].startswith(self.region)}
        shown = {which: {key: value for key, value in entry.items() if key != OFFER} for which, entry in here.items()}
        return {**self.around.reservations, **{which: self._in_time(entry) for which, entry in shown.items()}}

    def _in_time(self, entry: Entry) -> Entry:
        """A bought block as it is at this moment."""
        if self.around.now is None:
            return entry
        now, starts, ends = self.around.now(), parse_timestamp(entry["StartDate"]), parse_timestamp(entry["EndDate"])
        return {**entry, "State": "scheduled" if now < starts else "active" if now < ends else "expired"}

    def _reservations(self, given: Entry) -> Entry:
        known = self._all()
        for which in given.get("CapacityReservationIds", ()):
            if which not in known:
                raise Refused("InvalidCapacityReservationId.NotFound", f"The capacity reservation ID '{which}' does not exist")
        named = given.get("CapacityReservationIds") or list(known)
        return {"CapacityReservations": [known[which] for which in named if _fits(known[which], given.get("Filters", ()))]}

    def _on_offer(self, given: Entry) -> Iterator[Entry]:
        """Raises Refused for a length that is not sold, and in a region without blocks."""
        if self.around.is_without_blocks:
            raise Refused("Unsupported", "The operation is not supported in this region.")
        if not is_sold(given["CapacityDurationHours"]):
            raise Refused("InvalidParameterValue", f"The capacity duration {given['CapacityDurationHours']} is not valid.")
        sold = {entry.get(OFFER) for entry in self.world.state.others.get(BOUGHT, {}).values()}
        wanted = (given["InstanceType"], given["InstanceCount"], given["CapacityDurationHours"])
        for entry in (*self.around.blocks, *self._by_chance(given)):
            is_of_size = wanted == (entry["InstanceType"], entry["InstanceCount"], entry["CapacityBlockDurationHours"])
            starts, ends = parse_timestamp(entry["StartDate"]), parse_timestamp(entry["EndDate"])
            if is_of_size and given["StartDateRange"] <= starts and ends <= given["EndDateRange"] and entry[OFFER] not in sold:
                self._shown[entry[OFFER]] = entry
                yield entry

    def _by_chance(self, given: Entry) -> Iterator[Entry]:
        if not self.around.has_market:
            return
        instance_type, count, hours = given["InstanceType"], given["InstanceCount"], given["CapacityDurationHours"]
        for zone_id in self.around.offered.get(instance_type, ()):
            for offer in offers(instance_type, count, hours, zone_id, given["StartDateRange"], given["EndDateRange"]):
                yield {
                    OFFER: offer.id, "InstanceType": instance_type, "InstanceCount": count, "AvailabilityZone": self._zone_name(zone_id),
                    "StartDate": _text(offer.starts), "EndDate": _text(offer.ends), "CapacityBlockDurationHours": hours,
                    "UpfrontFee": f"{offer.usd:.2f}", "CurrencyCode": "USD",
                }  # fmt: skip

    def _zone_name(self, zone_id: str) -> str:
        return str(self.around.zone(self.region, zone_id)["ZoneName"])

    def _purchase(self, given: Entry) -> Entry:
        offer = self._offered(given[OFFER])
        if given.get("DryRun"):
            raise Refused("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
        if given[OFFER] in self.around.unsold:
            raise Refused(*self.around.unsold[given[OFFER]])
        which = made_id("cr", given[OFFER])
        zone_ids = {self._zone_name(zone_id): zone_id for zone_id in self.around.zones}
        entry = {
            OFFER: given[OFFER], "CapacityReservationId": which, "OwnerId": self.around.caller.split(":")[4],
            "CapacityReservationArn": arn(self.region, "ec2", f"capacity-reservation/{which}"), "InstanceType": offer["InstanceType"],
            "AvailabilityZone": offer["AvailabilityZone"], "AvailabilityZoneId": zone_ids[offer["AvailabilityZone"]],
            "TotalInstanceCount": offer["InstanceCount"], "AvailableInstanceCount": offer["InstanceCount"],
            "InstancePlatform": given["InstancePlatform"], "State": "payment-pending", "ReservationType": "capacity-block",
            "StartDate": offer["StartDate"], "EndDate": offer["EndDate"], "EndDateType": "limited", "InstanceMatchCriteria": "targeted",
            "CreateDate": CREATED_AT,
            "Tags": [tag for tags in given.get("TagSpecifications", ()) if tags["ResourceType"] == "capacity-reservation" for tag in tags["Tags"]],
        }  # fmt: skip
        self.world.state.others.setdefault(BOUGHT, {})[which] = entry
        return {"CapacityReservation": self._all()[which]}

    def _offered(self, which: str) -> Entry:
        """An offer by its id, which must be on offer still. Raises Refused."""
        sold = {entry.get(OFFER) for entry in self.world.state.others.get(BOUGHT, {}).values()}
        for entry in self._shown.values():
            if entry[OFFER] == which and which not in sold:
                return entry
        raise Refused("InvalidCapacityBlockOfferingId.NotFound", f"The capacity block offering '{which}' does not exist")

    def _scores(self, given: Entry) -> Entry:
        assert given["SingleAvailabilityZone"] is True, given
        assert given["RegionNames"] == [self.region], given
        (name,) = given["InstanceTypes"]
        made_up = spot_score if self.around.has_market else lambda _name, _zone_id: 1
        scores = {zone_id: made_up(name, zone_id) for zone_id in self.around.offered.get(name, ())}
        scores |= {zone_id: score for (of_type, zone_id), score in self.around.spot_scores.items() if of_type == name}
        entries = [{"Region": self.region, "AvailabilityZoneId": zone_id, "Score": score} for zone_id, score in scores.items()]
        return {"SpotPlacementScores": entries}

    def _prices(self, given: Entry) -> Entry:
        (name,) = given["InstanceTypes"]
        zones = self.around.offered.get(name, ()) if self.around.has_market else ()
        prices = {zone_id: usd for zone_id in zones if (usd := spot_price(name, zone_id)) is not None}
        prices |= {zone_id: usd for (of_type, zone_id), usd in self.around.spot_prices.items() if of_type == name}
        common = {"InstanceType": name, "ProductDescription": "Linux/UNIX", "Timestamp": given["StartTime"].isoformat()}
        entries = [{**common, "AvailabilityZone": self._zone_name(zone_id), "SpotPrice": f"{usd:.6f}"} for zone_id, usd in prices.items()]
        return {"SpotPriceHistory": entries}


def _fits(entry: Entry, filters: list[Mapping[str, object]]) -> bool:
    tags = {tag["Key"]: tag["Value"] for tag in entry.get("Tags", ())}
    for each in filters:
        name, values = str(each["Name"]), each["Values"]
        assert isinstance(values, list)
        found = tags.get(name.removeprefix("tag:")) if name.startswith("tag:") else entry.get(_MEMBERS[name])
        if found not in values:
            return False
    return True


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
