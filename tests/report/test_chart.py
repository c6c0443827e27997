"""A run's chart: every step in it, trouble in shapes and words, and all of it on one axis."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from report.chart import Chart
from report.parts import Part
from report.runs import Run, Step
from report.templating import rendered
from simulator.report.schema import CostPoint
from tests.report.builders import NODE_GROUP, VPC, change_run, urn


def run_section(run: Run, parts: Mapping[str, Part] | None = None) -> str:
    """The section of a run."""
    return rendered("run.html", chart=Chart(run, parts))


def step(name: str = "train", start: float = 0.0, end: float = 10.0, **more: Any) -> Step:
    """A creation."""
    return Step(
        **{"urn": urn(NODE_GROUP, name), "type": NODE_GROUP, "name": name, "operation": "create", "start": start, "end": end, **more}
    )


def section(*steps: Step, **more: Any) -> str:
    """The section of a run of up with some steps; `more` are fields of the run that differ from what is usual."""
    usual: dict[str, Any] = {"title": "up", "phase": "up", "seconds": 100.0, "ended": "well", "before": [], "cost": []}
    return run_section(Run(**{**usual, "steps": list(steps), "critical": frozenset(), **more}))


def row(page: str, place: int = 0) -> str:
    """One row of a chart."""
    return re.findall(r'<details class="row.*?</details>', page, flags=re.DOTALL)[place]


def shown(page: str) -> Sequence[str]:
    """Names of the rows that are seen before anything is unfolded."""
    open_ones = re.sub(r'<details class="rest">.*?</details></details>', "", page, flags=re.DOTALL)
    return re.findall(r'<details class="row[^"]*" id="[^"]*"><summary>.*?<b>(.*?)</b>', open_ones)


def headings(page: str) -> Sequence[str]:
    """Parts, with how many resources each has."""
    return [f"{part} {count}" for part, count in re.findall(r'<details class="part" open><summary>.*?<b>(.*?)</b> <i>(.*?)</i>', page)]


QUICK = [step(f"quick-{index}", 0, 1) for index in range(5)]


def test_every_step_has_a_row_and_quick_ones_are_folded():
    """What takes the time is seen first; all others are one click away, and counted."""
    page = section(step("slow"), *QUICK)
    assert page.count('<details class="row') == 6
    assert shown(page) == ["slow"]
    assert "5 more, none longer than 1 s" in page


def test_one_or_two_are_not_worth_a_fold():
    """A fold around one row takes the place of the row."""
    page = section(step("slow"), *QUICK[:2])
    assert shown(page) == ["slow", "quick-0", "quick-1"]
    assert 'class="rest"' not in page


def test_the_critical_path_and_trouble_are_never_folded():
    """They are what a reader looks for, however short they are."""
    short = {"quick-1": {"error": "x"}, "quick-2": {"attempts": 2}, "quick-3": {"cut": True}}
    steps = [step(item.name, 0, 1, **short.get(item.name, {})) for item in QUICK]
    page = section(step("slow"), *steps, *QUICK, critical=frozenset({(urn(NODE_GROUP, "quick-0"), "create")}))
    assert set(shown(page)) >= {"slow", "quick-0", "quick-1", "quick-2", "quick-3"}


def test_of_a_thousand_long_steps_the_longest_are_shown():
    """A thousand node groups are as many rows that say the same."""
    page = section(*(step(f"group-{index:04d}", 0, 100 + index / 100) for index in range(1000)))
    assert shown(page) == [f"group-{index:04d}" for index in range(994, 1000)]
    assert "994 more, none longer than 1 min 50 s" in page


def test_rows_stand_under_their_part_of_the_cluster():
    """A reader looks for the network, the control plane, nodes or add-ons, not for the third row at two seconds."""
    parts: dict[str, Part] = {urn(NODE_GROUP, "role"): "control plane"}
    items = [step("train"), step("role"), step("vpc", urn=urn(VPC, "vpc"), type=VPC)]
    usual = Run("up", "up", 100.0, "well", [], items, frozenset(), [])
    assert headings(run_section(usual, parts)) == ["Network 1 resource", "Control plane 1 resource", "Nodes 1 resource"]


def test_a_wait_for_a_free_slot_is_a_line_and_no_bar():
    """The step did nothing then: drawn as work it would be taken for what makes the run long."""
    found = row(section(step(start=30, end=40, slot_wait_seconds=10.0)))
    assert '<line class="slot" x1="19.23%" x2="28.85%"' in found
    assert '<rect class="bar" x="28.85%"' in found
    assert "waited 10 s for a free slot" in found
    assert 'class="row"' in found
    assert "slot" not in row(section(step()))


def test_a_refused_step_shows_in_shape_and_words():
    """One reader in twelve cannot tell its red from grey; and what to do about it must not need another page."""
    found = row(section(step(error="Throttling: slow down", cause="too many calls", fix="`pulumi up` again", attempts=3)))
    wanted = ("stripes", "mark", "<em>refused, 3 tries</em>", "Throttling: slow down", "too many calls", "<code>pulumi up</code> again")
    assert [words for words in wanted if words not in found] == []


def test_a_retried_step_shows_in_shape_and_words():
    """It worked in the end, and cost time that a reader asks about."""
    found = row(section(step(attempts=2)))
    assert [words for words in ("dots", "<em>2 tries</em>", "<dt>tries</dt><dd>2</dd>") if words not in found] == []
    assert "mark" not in found


def test_a_cut_step_shows_in_shape_and_words():
    """Its outcome is unknown: a whole bar would say that it ended."""
    found = row(section(step(cut=True)))
    assert [words for words in ('class="row cut"', "mark", "<em>cut</em>", "never written down") if words not in found] == []


def test_a_step_without_trouble_has_none_of_the_marks():
    """Marks that are always there are not seen."""
    found = row(section(step()))
    assert [words for words in ("stripes", "dots", "mark", "<em>", "tries") if words in found] == []


def test_details_name_type_times_and_inputs():
    """What hover shows is read from here."""
    found = row(section(step(start=5, end=95, inputs={"instanceTypes": '["trn1.32xlarge"]'})))
    wanted = (f"<dd>{NODE_GROUP}</dd>", "<dt>create</dt><dd>5 s to 1 min 35 s, 90.0 s</dd>", "<code>instanceTypes</code>", "trn1.32xlarge")
    assert [words for words in wanted if words not in found] == []


def test_what_it_waited_for_is_a_link_to_that_row():
    """Following the chain of waits is how a reader learns why a run takes so long."""
    page = section(step("vpc"), step("train", 10, 20, waited_for=urn(NODE_GROUP, "vpc")))
    assert '<dt>waited for</dt><dd><a href="#up-0">vpc</a>' in row(page, 1)
    assert 'id="up-0"' in row(page, 0)
    assert "<dt>waited for</dt><dd>nothing</dd>" in row(page, 0)


def test_a_wait_for_what_was_there_already_is_no_link():
    """A link that leads nowhere is worse than none; and it did wait, so that `nothing` would be wrong."""
    assert "waited for" not in section(step(waited_for="urn:of:another:run"))


def test_a_change_shows_what_it_does_to_each_resource():
    """`pulumi` marks creation, update and deletion with these signs; in a plain up or destroy they would be noise."""
    signs = re.findall(r'<span class="sign">(.)</span><b>(\w+)</b>', run_section(change_run()))
    assert signs == [("~", "network"), ("-", "train"), ("+", "train")]
    assert "sign" not in section(step())


def test_a_level_of_a_deletion_has_its_row_in_the_table():
    """The order of a destroy follows from its levels."""
    page = section(step("a", 0, 4, operation="delete", level=0), step("b", 0, 9, operation="delete", level=0), phase="destroy")
    assert "<dt>level</dt><dd>0</dd>" in row(page)
    assert '<td class="number">0</td><td class="number">2</td><td class="number">0.0</td><td class="number">9.0</td><td>b ' in page


def test_the_critical_path_is_coloured_and_listed():
    """Only what stands there can make the run shorter."""
    page = section(step("vpc"), step("train"), critical=frozenset({(urn(NODE_GROUP, "train"), "create")}))
    assert 'class="row"' in row(page, 0)
    assert 'class="row critical"' in row(page, 1)
    assert "Critical path, 1 link" in page


def test_a_run_tells_what_was_done_before_it_and_what_it_left_undone():
    """A second run is understood by the command between it and the first."""
    page = section(step(attempts=2), before=["trn recover", "pulumi up"], kept=3, not_started=4)
    assert "<li><code>trn recover</code></li><li><code>pulumi up</code></li>" in page
    assert "1 resource, 3 resources there already, 4 resources not begun, 1 retried." in page
    assert "Done before" not in section(step())


@pytest.mark.parametrize(
    ("start", "end", "where"),
    [(0, 50, 'dx="7"'), (50, 100, 'x="48.08%" dx="-7" y="15" text-anchor="end"'), (0, 100, 'x="96.15%" dx="-7" y="15" text-anchor="end"')],
)
def test_the_words_beside_a_bar_stand_where_there_is_room(start: float, end: float, where: str):
    """Behind the bar, before it, or on it where it takes all the room: on a phone as well."""
    assert where in row(section(step(start=start, end=end)))


@pytest.mark.parametrize("seconds", [1.0, 59.0, 600.0, 7_200.0, 400_000.0, 4_000_000.0])
def test_the_axis_has_a_readable_number_of_ticks(seconds: float):
    """Without the script nothing thins them out, and a phone has room for six."""
    ticks = re.search(r'<g class="ticks">(.*?)</g>', section(step(end=seconds), seconds=seconds))
    assert ticks is not None
    assert 1 <= ticks.group(1).count("<text") <= 6


def test_bars_stay_inside_the_axis():
    """A bar beyond the edge is a step that cannot be seen: the axis ends after the last end, even behind the run's own."""
    page = section(step(start=90, end=140), seconds=100.0)
    left, width = map(float, re.findall(r'class="bar" x="([\d.]+)%" width="([\d.]+)%"', page)[0])
    assert 0 < left < left + width < 100


def test_the_lower_bound_is_a_line_where_there_is_one():
    """Ten per cent above what AWS allows and ten times as much look the same without it."""
    assert '<line class="bound" x1="48.08%"' in section(step(end=100), lower_bound_s=50.0)
    assert 'class="bound"' not in section(step())


def test_cost_is_a_line_of_steps_with_the_sum_spent():
    """Two hours of a failed up cost money that was not planned."""
    points = [CostPoint(at=0, usd_per_hour=0, usd=0), CostPoint(at=40, usd_per_hour=36, usd=0), CostPoint(at=100, usd_per_hour=36, usd=0.6)]
    page = section(step(), cost=points)
    assert "up to 36.00 USD an hour; 0.60 USD spent" in page
    assert '<path class="rate" d="M0 98.0H40.0V6.0H100.0H100.0"/>' in page
    assert '<path class="sum" d="M0 98.0L40.0 98.0L100.0 6.0"/>' in page
    assert 'data-cost="[[0.0,0.0,0.0],[40.0,36.0,0.0],[100.0,36.0,0.6]]"' in page


def test_a_run_that_costs_nothing_has_a_flat_line():
    """Nothing to divide by."""
    assert 'd="M0 98.0H100.0"' in section(step(), cost=[CostPoint(at=0, usd_per_hour=0, usd=0)])


def test_an_empty_run_is_a_section():
    """A second run may find nothing to do."""
    assert "0 resources." in section()


def test_equal_names_of_different_types_have_rows_of_their_own():
    """Names are unlike each other only within a type: ids must not come from them."""
    page = section(step("network"), step("network", urn=urn(VPC, "network"), type=VPC))
    assert sorted(re.findall(r'<details class="row" id="([^"]+)"', page)) == ["up-0", "up-1"]


def test_a_replacement_is_one_resource_in_two_steps():
    """A resource is what the account holds; a step is what is done to it. One word for each."""
    assert "2 resources in 3 steps." in run_section(change_run())
