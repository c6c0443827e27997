"""The published schema of all documents: one dialect."""

import re
from collections.abc import Iterator
from typing import Any

from tests.documents import published


def keys(value: Any) -> Iterator[str]:
    """Names of all properties, however deep."""
    if isinstance(value, dict):
        properties = value.get("properties")
        yield from properties if isinstance(properties, dict) else ()
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from keys(each)


def test_every_key_is_camel_case_and_no_time_has_another_unit():
    """Three dialects were `usdPerHour`, `rolled_s` and `lower_bound_seconds`."""
    found = set(keys(published()["$defs"]))
    assert len(found) > 200
    assert [key for key in found if not re.fullmatch(r"[a-z][A-Za-z0-9]*", key)] == []
    assert [key for key in found if re.search(r"(^hours|Hours|Minutes|Days|Ms|[a-z]S)$", key)] == []


def test_every_document_says_its_name_and_version():
    """By which readers tell them apart. No two models share a name: the schema would then have one of Python's."""
    documents = published()["discriminator"]["mapping"]
    for name, place in documents.items():
        found = published()["$defs"][place.rpartition("/")[2]]
        assert found["properties"]["schema"]["const"] == name
        assert isinstance(found["properties"]["schemaVersion"]["const"], int)
        assert {"schema", "schemaVersion"} <= set(found["required"])
    assert [name for name in published()["$defs"] if "__" in name] == []
