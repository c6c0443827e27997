"""Scarce instances in practice: offers that are made up stay the same, and a block that is bought is in the account afterwards."""

import json
from pathlib import Path
from typing import Any

from tests.trn.practice.commands import trn

FIND = "--practice capacity find dev --hours 60 --regions us-west-2 --json -"


def ways() -> list[dict[str, Any]]:
    """What is found."""
    return json.loads(trn(FIND)[1])["ways"]


def test_a_block_is_found_bought_and_shown(project: Path):
    """The same offers at every look; the one that was bought is a reservation then, in the stack file and in the calendar."""
    first = ways()
    assert first == ways()
    block = next(way for way in first if way["kind"] == "block" and way["zoneId"] == "usw2-az4")
    command = f"--practice capacity buy dev {block['id']} --hours 60"
    assert trn(f"{command} --dry-run")[0] == 0
    code, out, err = trn(command, answer=f"y\n{block['usd']}\n")
    assert (code, "trn --practice capacity calendar dev" in out) == (0, True), err
    after = ways()
    assert block["id"] not in [way["id"] for way in after]
    (held,) = (way for way in after if way["kind"] == "reservation")
    assert (held["startsAt"], held["changes"]) == (block["startsAt"], [])
    assert held["id"] in (project / "Pulumi.dev.yaml").read_text()
    told = json.loads(trn("--practice capacity calendar dev --json -")[1])
    assert [(one["id"], one["state"], one["sections"]) for one in told["reservations"]] == [
        (held["id"], "scheduled", ["nodeGroups.trn1-32xl"])
    ]
