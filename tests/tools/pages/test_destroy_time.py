"""Each minute of a destroy beyond its lower bound has a reason."""

from pathlib import Path

import pytest

from facts.resources.table import TYPES
from simulator.destroy_bound import destroy_bound
from simulator.recorder.recorder import program_at
from simulator.rehearsal import Rehearsal, Stack, rehearse
from tests.report.builders import report as built
from tests.stacks.samples import configurations
from tests.support import ROOT, as_pulumi
from tools.pages.destroy_time import MARKER, REASONS, SHORTEST_S, page, waits
from trn.rehearsal.summary import _lines


@pytest.fixture(scope="module", params=["shipped", "everything"])
def rehearsed(request: pytest.FixtureRequest) -> Rehearsal:
    """A rehearsal of one sample."""
    return rehearse(Stack(program_at(ROOT), "trn", "test", as_pulumi(configurations()[request.param])))


def test_what_lies_above_the_bound_is_the_waits_that_are_named(rehearsed: Rehearsal):
    """Links of the bound's own chain are left out; all others add up to the rest."""
    report, found = rehearsed.report, waits(rehearsed.report, rehearsed.recording)
    named = sum(wait.step.end - wait.step.start for wait in found)
    above = report.destroy.seconds - report.destroy.lower_bound_seconds
    assert report.destroy.lower_bound_seconds == destroy_bound(rehearsed.recording, report.seed).seconds
    assert above == pytest.approx(named, abs=20)
    assert all(len(wait.reason) > 20 for wait in found)


def test_a_wait_without_a_reason_is_an_error(rehearsed: Rehearsal):
    """A page that leaves a minute out would hide it."""
    report = rehearsed.report
    step = report.destroy.critical_path[0].model_copy(
        update={"type": "aws:new/thing:Thing", "urn": "urn:new", "start": 0.0, "end": SHORTEST_S}
    )
    destroy = report.destroy.model_copy(update={"critical_path": [step, *report.destroy.critical_path]})
    with pytest.raises(ValueError, match="aws:new/thing:Thing"):
        waits(report.model_copy(update={"destroy": destroy}), rehearsed.recording)


def test_all_that_takes_long_to_delete_has_its_reason():
    """Whichever add-on is on, the page can be made."""
    slow = [token for token, item in TYPES.items() if token.startswith("aws:") and item.latencies.usual.delete.high >= SHORTEST_S]
    assert [token for token in slow if token not in REASONS] == []


def test_the_summary_prints_the_bound_beside_the_time():
    """The time alone says nothing of what could be better."""
    made = built()
    made = made.model_copy(update={"destroy": made.destroy.model_copy(update={"lower_bound_seconds": 680.0})})
    lines = {label: text.plain for label, text in _lines(made)}
    assert lines["destroy"] == "14 min 10 s  virtual, 25.0 % above the lower bound of 11 min 20 s"


def test_the_page_keeps_what_is_not_made_here():
    """Only what stands between the markers is."""
    made = page(f"before\n<!-- {MARKER} -->\nold\n<!-- /{MARKER} -->\nafter\n", Path(ROOT))
    assert made.startswith(f"before\n<!-- {MARKER} -->\nThe shipped stack is gone after ")
    assert "| LustreFileSystem" in made
    assert made.endswith(f"<!-- /{MARKER} -->\nafter\n")
    assert "old" not in made
