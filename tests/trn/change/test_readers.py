"""What changes nothing by its row in the table of commands, or by its options, calls nothing that changes and takes no lock."""

import os
from contextlib import nullcontext
from pathlib import Path

import pytest

from facts.resources.ec2_network import VPC
from tests.support import ROOT
from tests.trn.change.cases import BLOCK, CASES, FOLDER, SOURCE
from tests.trn.change.stage import JOB, STACK, Call, Stage
from trn.cli.errors import MISUSE
from trn.table import ENTRIES

A_VPC = "the stack's VPC"
"""Its id is known on the stage."""
READERS: dict[str, tuple[str, ...]] = {
    "status": (STACK,),
    "jobs": (STACK,),
    "why": (STACK, JOB),
    "watch": (STACK, JOB, "--once"),
    "logs": (STACK, JOB),
    "data status": (STACK,),
    "network describe": (STACK, "--vpc", A_VPC),
    "capacity find": (STACK,),
    "capacity calendar": (STACK,),
    "plan": (STACK,),
    "top": (STACK, "--once"),
    "kubeconfig": (STACK,),
    "bundle": (STACK, "--output", "bundle"),
}
"""Words behind each command that asks somebody and changes nothing."""
SHOWS: dict[str, tuple[str, ...]] = {
    "check": (STACK,),
    "sweep": (STACK,),
    "upgrade": (STACK, "--to", "1.36", "--check"),
    "image push": (*CASES["image push"].words[2:], "--dry-run"),
    "data stage": (STACK, SOURCE, FOLDER, "--dry-run"),
    "capacity buy": (STACK, BLOCK, "--instances", "2", "--hours", "72", "--dry-run"),
}
"""Those of commands that change something, with the options by which they do not."""
SLOW = {"upgrade", "bundle"}
"""Walked with the mark `long` only: a rehearsal of each step, and an archive."""
ALL = [pytest.param(place, words, id=place, marks=[pytest.mark.long] * (place in SLOW)) for place, words in {**READERS, **SHOWS}.items()]


def test_every_command_that_only_reads_is_walked():
    """A new row without a walk would be trusted."""
    assert READERS.keys() == {place for place, entry in ENTRIES.items() if entry.asks and not entry.changes}


@pytest.mark.parametrize(("place", "words"), ALL)
def test_what_reads_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, words: tuple[str, ...]):
    """And whoever is at the cluster meanwhile is not held up."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(os.environ, "HOME", str(tmp_path))
    stage, case = Stage(), CASES.get(place) or CASES.get(f"{place} --pick")
    if case is not None:
        case.prepare(stage)
    (vpc,) = (item.registration.id for item in stage.engine.world.state.existing(VPC.token))
    words = tuple(vpc if word == A_VPC else word for word in words)
    before = stage.everything()
    with case.around(stage) if case else nullcontext():
        ended = stage.trn(*place.split(), *words, folder=tmp_path, reports=place != "network describe")
    assert stage.calls, ended.err
    assert [call.name for call in stage.calls if call.lock == "take" or (call.is_change and not _is_tried(call))] == []
    assert (stage.everything(), stage.locks()) == (before, {})
    assert ended.code != MISUSE, ended.err


def _is_tried(call: Call) -> bool:
    """EC2 says what it would answer, and does nothing (EC2 API, DryRun)."""
    return call.way == "aws" and str(call.given.get("DryRun")).lower() == "true"
