"""The shape of all documents: what the base does to names, and what it leaves alone."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import pytest
from pydantic import ValidationError

from facts.document import Document


@dataclass(frozen=True)
class Step:
    """Values of the code are parts as they are."""

    begun_at: datetime
    slot_wait_s: float


class Shelf(Document, frozen=True):
    """A document of a test."""

    schema_: Literal["shelf"] = "shelf"
    usd_per_hour: float
    from_: str
    steps: tuple[Step, ...]
    node_groups: dict[str, int]


SHELF = Shelf(
    usd_per_hour=1.5,
    from_="ü",
    steps=(Step(datetime(2027, 1, 1, 9, 30, tzinfo=UTC), 2.0),),
    node_groups={"my_group": 1, "trn1-32xl": 2, "total_s": 3},
)


def test_keys_are_of_one_shape_and_those_of_users_stay_as_they_are():
    """Name and version first; a group that is called `total_s` is no time."""
    written = json.loads(SHELF.as_json())
    assert list(written.items()) == [
        ("schema", "shelf"),
        ("schemaVersion", 1),
        ("usdPerHour", 1.5),
        ("from", "ü"),
        ("steps", [{"begunAt": "2027-01-01T09:30:00Z", "slotWaitSeconds": 2.0}]),
        ("nodeGroups", {"my_group": 1, "trn1-32xl": 2, "total_s": 3}),
    ]


def test_any_stream_takes_a_document():
    """A locale without a letter, and a name that is no Unicode, as Python has those of some files."""
    made = SHELF.model_copy(update={"from_": "\udcff"})
    assert (SHELF.as_json() + made.as_json()).isascii()
    assert json.loads(made.as_json())["from"] == "\udcff"


def test_a_key_that_there_is_not_is_refused():
    """A slip in a command would be a key that no schema has."""
    with pytest.raises(ValidationError, match="usdPerDay"):
        Shelf.model_validate({**dict(SHELF), "usdPerDay": 1})
