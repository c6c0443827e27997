"""The three figures of a cluster's cost, which every output shows: now, at full size, and idle.

Now: what `pulumi up` makes. At full size: each autoscaled group, and each pool of Karpenter, as large as its limits let it grow
without a change of the configuration. Idle: the Neuron nodes that the user can stop are stopped. What has no known price is
named in the figure that it belongs to: a sum without it would read as cheap.
"""

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import computed_field

from facts.document import Part

HOURS_PER_DAY = 24


class Amount(NamedTuple):
    """One item of the bill in one of the three situations."""

    what: str
    usd_per_hour: float | None
    """None where no price is known; 0 where nothing of it runs."""


class Figure(Part, frozen=True):
    """What runs in one situation, in USD an hour."""

    usd_per_hour: float
    """Sum of everything with a known price."""
    without: tuple[str, ...] = ()
    """What runs too and has no known price."""

    @computed_field
    @property
    def usd_per_day(self) -> float:
        """The same by the day."""
        return round(self.usd_per_hour * HOURS_PER_DAY, 2)

    def words(self, unit: str = "") -> str:
        """The sum, with its unit, and what must be added to it."""
        return " + ".join([f"{self.usd_per_hour:,.2f}{unit}", *(f"{what} of unknown price" for what in self.without)])

    def times(self, hours: float) -> "Figure":
        """The same over some hours: USD instead of USD an hour."""
        return Figure(usd_per_hour=self.usd_per_hour * hours, without=self.without)


class Figures(Part, frozen=True):
    """What a cluster costs by the hour in three situations."""

    now: Figure
    """What `pulumi up` makes."""
    full_size: Figure
    """Every autoscaled group at its `maxSize`, and every pool of Karpenter at its limit."""
    idle: Figure
    """All Neuron groups at zero nodes, and no node in pools that grow on demand. Capacity that is reserved or paid in advance still costs."""

    def words(self) -> str:
        """All three in one line, equal ones once: `43.82 USD an hour now, 45.04 at full size, 0.80 idle`."""
        said: list[tuple[Figure, list[str]]] = []
        for found, name in ((self.now, "now"), (self.full_size, "at full size"), (self.idle, "idle")):
            if said and said[-1][0] == found:
                said[-1][1].append(name)
            else:
                said.append((found, [name]))
        units = [" USD an hour", *[""] * (len(said) - 1)]
        return ", ".join(f"{found.words(unit)} {' and '.join(names)}" for (found, names), unit in zip(said, units, strict=True))

    @property
    def without(self) -> tuple[str, ...]:
        """Everything of unknown price, in any of the three."""
        return tuple(dict.fromkeys((*self.now.without, *self.full_size.without, *self.idle.without)))


def figure(amounts: Iterable[Amount]) -> Figure:
    """The sum of what has a price, to a tenth of a cent, and the names of what has none."""
    found = list(amounts)
    known = round(sum(amount.usd_per_hour or 0 for amount in found), 4)
    return Figure(usd_per_hour=known, without=tuple(amount.what for amount in found if amount.usd_per_hour is None))
