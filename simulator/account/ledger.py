"""Amounts of all objects of a type, by what they are of, kept up to date as objects change.

A rule that added them up at each request would take time by the square of the number of objects.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field


@dataclass
class Ledger:
    """Amounts by object id, and their sums."""

    rests_on: tuple[str, ...] = ()
    """Types of further objects that the amounts depend on: a change of one makes the ledger void."""
    _of: dict[str, Mapping[Hashable, int]] = field(default_factory=dict)
    _sums: Counter[Hashable] = field(default_factory=Counter)
    _holders: dict[Hashable, dict[str, None]] = field(default_factory=dict)

    def enter(self, which: str, amounts: Mapping[Hashable, int]) -> None:
        """What an object has, in place of what it had."""
        for key, amount in self._of.pop(which, {}).items():
            self._sums[key] -= amount
            del self._holders[key][which]
        if amounts:
            self._of[which] = amounts
        for key, amount in amounts.items():
            self._sums[key] += amount
            self._holders.setdefault(key, {})[which] = None

    def total(self, key: Hashable, *, beside: str = "") -> int:
        """The sum over all objects; `beside`: id of one that is left out."""
        return self._sums[key] - self._of.get(beside, {}).get(key, 0)

    def holders(self, key: Hashable) -> list[str]:
        """Ids of the objects that have some of it, the first to have it first."""
        return list(self._holders.get(key, ()))
