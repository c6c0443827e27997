"""What a look could not read is found wherever it stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from trn.change.known import Unknown, unknowns


@dataclass(frozen=True)
class Part:
    """What a command's look has of its own."""

    first: Any
    second: Any = "text"


class Pair(NamedTuple):
    """A tuple with names."""

    one: Any
    two: Any


def test_every_unknown_is_found_in_its_order_however_deep():
    """In mappings of any kind, lists, tuples, sets and dataclasses; texts, numbers and classes hold none."""
    names = [Unknown(str(number), "no answer") for number in range(7)]
    frozen: Mapping[str, Any] = MappingProxyType({"a": [1, names[1]], "b": Pair(names[2], {"c": (names[3],)})})
    seen = Part([names[0], frozen, Part, None, 2.5], {"d": {names[4]}, "e": Part(frozenset([names[5]]), names[6])})
    assert list(unknowns(seen)) == names
