"""What one region has of a type: each question asked for itself, so that a right that is missing hides that answer only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from facts.block_sales import sold_count, sold_hours
from facts.catalogue import NEURON_TYPES, QUOTA_CODES
from trn.aws.api import Api
from trn.aws.capacity_blocks import Offering, block_offerings
from trn.aws.errors import code_of, command_error
from trn.aws.pricing import live_prices
from trn.aws.quotas import quota, running_vcpus
from trn.aws.spot import spot_prices, spot_scores
from trn.aws.zones import Reservation, Zone, offered_zone_ids, reservations_of, zones
from trn.before.capacity.wanted import Wanted
from trn.cli.parallel import side_by_side
from trn.engine.quotas import family_of

PATIENCE_S = 60
"""For all questions to one region."""
UNSUPPORTED = frozenset({"Unsupported", "UnsupportedOperation", "InvalidAction"})
"""Codes of a region that does not know what was asked for."""
T = TypeVar("T")


@dataclass(frozen=True)
class Room:
    """One quota of vCPUs, beside what others use of it."""

    code: str
    allowed: float
    used: float

    def lacks(self, vcpus: float) -> bool:
        """Whether so many more do not fit."""
        return self.used + vcpus > self.allowed


@dataclass(frozen=True)
class RegionView:
    """A region as the account sees it now."""

    region: str
    zones: Mapping[str, Zone] = field(default_factory=dict)
    """By zone id; empty where that is not known."""
    offered: frozenset[str] = frozenset()
    """Zone ids that offer the type."""
    blocks: tuple[Offering, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    scores: Mapping[str, int] = field(default_factory=dict)
    spot_prices: Mapping[str, float] = field(default_factory=dict)
    rooms: Mapping[str, Room] = field(default_factory=dict)
    """Quotas by way of buying: `on-demand` and `spot`."""
    price: float | None = None
    """USD of an instance and hour on demand, as the price list has it for the region; None where it was not found."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """What is not known, and why."""


class _Asking:
    """Answers, and what was refused in place of one."""

    def __init__(self) -> None:
        self.problems: dict[str, str] = {}

    def of(self, what: str, ask: Callable[[], T], otherwise: T) -> T:
        """An answer. A refusal is noted, in AWS's words, and another answer stands for it."""
        try:
            return ask()
        except (BotoCoreError, ClientError) as error:
            self.problems[what] = words_of(error)
            return otherwise


def look_at(api: Api, wanted: Wanted, cluster: str) -> RegionView:
    """One region. `cluster`: its own instances count for no quota, where it is in this region."""
    asking, instance = _Asking(), NEURON_TYPES[wanted.instance_type]
    there = asking.of("zones", lambda: zones(api), {})
    if "zones" in asking.problems:
        # Without the names of zones nothing else can be placed.
        return RegionView(api.region, problems=asking.problems)
    zone_id_of = {zone.zone_name: zone_id for zone_id, zone in there.items()}
    offered = asking.of("offerings", lambda: offered_zone_ids(api, [wanted.instance_type])[wanted.instance_type], frozenset())
    count, hours = sold_count(wanted.count), sold_hours(wanted.hours)
    blocks: list[Offering] = []
    if instance.capacity_block and count is not None and hours is not None:
        day = wanted.earliest.date()
        blocks = asking.of("capacity blocks", lambda: block_offerings(api, instance.name, count, hours, day, zone_id_of), [])
    held = asking.of("reservations", lambda: reservations_of(api, [instance.name]), {})
    is_sold_by_the_hour = instance.price_usd_per_hour is not None
    scores: dict[str, int] = {}
    prices: dict[str, float] = {}
    if is_sold_by_the_hour and offered:
        scores = asking.of("spot scores", lambda: spot_scores(api, instance.name, wanted.count), {})
        prices = asking.of("spot prices", lambda: spot_prices(api, instance.name, wanted.earliest, zone_id_of), {})
    return RegionView(
        region=api.region,
        zones=there,
        offered=offered,
        blocks=tuple(block for block in blocks if block.starts >= wanted.earliest),
        reservations=tuple(held.values()),
        scores=scores,
        spot_prices=prices,
        rooms=asking.of("quotas", lambda: _rooms(api, instance.family, cluster), {}) if is_sold_by_the_hour and offered else {},
        price=asking.of("price list", lambda: _price(api, instance.name), None) if is_sold_by_the_hour and offered else None,
        problems=asking.problems,
    )


def _rooms(api: Api, family: str, cluster: str) -> dict[str, Room]:
    running = running_vcpus(api, cluster)
    used = {"on-demand": running.on_demand, "spot": running.spot}
    return {
        how: Room(code, quota(api, "ec2", code).value, sum(vcpus for name, vcpus in used[how].items() if family_of(name) == family))
        for how, code in QUOTA_CODES[family].items()
    }


def _price(api: Api, instance_type: str) -> float | None:
    found = dict(live_prices(api, [instance_type]))[instance_type]
    return None if found is None else found.usd_per_hour


def words_of(error: Exception) -> str:
    """A refusal or a broken connection in one line: the service's own code and text first."""
    if code_of(error) in UNSUPPORTED:
        return f"{code_of(error)}: not known in this region"
    known = command_error(error)
    return " ".join(str(known.args[0] if known is not None else error).split())


def look_everywhere(apis: Mapping[str, Api], wanted: Wanted, cluster: str, home: str, patience_s: float = PATIENCE_S) -> list[RegionView]:
    """All regions at once, each within its time; one that does not answer says so in its own view. `home`: the cluster's region.

    Raises what no region can be blamed for.
    """

    def work(api: Api) -> Callable[[], RegionView]:
        return lambda: look_at(api, wanted, cluster if api.region == home else "")

    views = []
    for region, answer in side_by_side({region: work(api) for region, api in apis.items()}, patience_s).items():
        if isinstance(answer, TimeoutError):
            views.append(RegionView(region, problems={"region": str(answer)}))
        elif isinstance(answer, Exception):
            raise answer
        else:
            views.append(answer)
    return views
