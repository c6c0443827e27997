"""What `--json` writes, held against its published schema."""

import json
from functools import cache
from typing import Any

import jsonschema

from tests.support import ROOT


@cache
def published() -> dict[str, Any]:
    """`docs/report.schema.json`, as others read it."""
    return json.loads((ROOT / "docs/report.schema.json").read_text())


def checked(text: str) -> dict[str, Any]:
    """A document, after it was found to be as the schema says."""
    document = json.loads(text)
    place = published()["discriminator"]["mapping"][document["schema"]]
    jsonschema.Draft202012Validator({"$ref": place, "$defs": published()["$defs"]}).validate(document)
    return document
