"""Laws of the timeline: complete, inside its picture, safe, and the same for the same report."""

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from report.text import text_width
from report.timeline import LABEL_SIZE, MARK, PLOT_LEFT, PLOT_RIGHT, SHORTEST_BAR, timeline_svg
from simulator.report.schema import Report
from tests.report.builders import CLUSTER, HOSTILE, NODE_GROUP, VPC, deletion, destroy_again, report, resource, up_again

SVG = "{http://www.w3.org/2000/svg}"


def steps(drawn: Report) -> list[ElementTree.Element]:
    """The groups that hold one bar each, from top to bottom."""
    root = ElementTree.fromstring(timeline_svg(drawn))
    return [group for group in root.iter(f"{SVG}g") if "step" in group.get("class", "").split()]


def bar(step: ElementTree.Element) -> tuple[float, float]:
    """Left and right edge of a step's bar."""
    found = next(shape for shape in step.iter(f"{SVG}rect") if shape.get("class") == "bar")
    left = float(found.get("x", "nan"))
    return left, left + float(found.get("width", "nan"))


def label(step: ElementTree.Element) -> tuple[float, float]:
    """Left and right edge of a step's label, by the estimate that only ever overrates."""
    text = next(step.iter(f"{SVG}text"))
    name, beside = ("".join(span.itertext()) for span in text.iter(f"{SVG}tspan"))
    width = text_width(name, LABEL_SIZE, bold=True) + text_width(beside, LABEL_SIZE)
    x = float(text.get("x", "nan"))
    return (x - width, x) if text.get("text-anchor") == "end" else (x, x + width)


def names(found: list[ElementTree.Element]) -> list[str]:
    """Names on the labels of steps."""
    return ["".join(next(step.iter(f"{SVG}tspan")).itertext()) for step in found]


def test_every_step_of_the_critical_path_is_drawn_and_marked():
    """The path is what a reader looks for; a link of one second is as much part of it as the control plane."""
    critical = [step for step in steps(report()) if step.get("class") == "step critical"]
    assert names(critical) == ["network", "control-plane", "train", "train-tag", "train", "control-plane", "network"]


def test_a_quick_step_off_the_path_is_left_out():
    """Dozens of roles and rules of two seconds would bury the few bars that matter."""
    assert "quick" not in names(steps(report()))


def test_a_refused_step_is_drawn_in_red_however_quick():
    """A refusal takes no time and is the most important thing on the picture."""
    drawn = report(deletions=[deletion(CLUSTER, "protected", 0, 0.4, error="InvalidRequestException: it is protected")])
    refused = [step for step in steps(drawn) if step.get("class") == "step refused"]
    assert names(refused) == ["protected"]
    assert "InvalidRequestException" in (next(refused[0].iter(f"{SVG}title")).text or "")


def test_a_destroy_that_was_refused_is_not_called_gone():
    """`gone after` above a cluster that still costs money would be believed."""
    svg = timeline_svg(report(deletions=[deletion(VPC, "network", 0, 3, error="DependencyViolation: x")], leftovers=["vpc-1"]))
    assert "gone after" not in svg
    assert "stopped after 3 s, 1 refused, 1 left behind" in svg


def test_headings_tell_both_totals():
    """The two totals are the picture's summary for someone who reads nothing else."""
    svg = timeline_svg(report())
    assert "ready after 17 min 45 s" in svg
    assert "gone after 14 min 10 s" in svg


def test_bars_stay_inside_the_plot_and_visible():
    """A bar of no width, or one beyond the edge, is a step that cannot be seen."""
    edges = [bar(step) for step in steps(report())]
    assert all(left >= PLOT_LEFT and right <= PLOT_RIGHT + 0.1 for left, right in edges)
    assert min(right - left for left, right in edges) >= SHORTEST_BAR - 0.1


@pytest.mark.parametrize("name", ["a", "m" * 60, "W" * 200])
def test_labels_stay_inside_the_picture_and_clear_of_their_bars(name: str):
    """Names are up to the user: a long one must neither be cut off nor hide the bar it names."""
    spans = [(0, 1000), (0, 1), (999, 1000), (400, 600)]
    drawn = report(resources=[resource(NODE_GROUP, f"{name}{index}", *span) for index, span in enumerate(spans)], critical=[f"{name}2"])
    width = float(ElementTree.fromstring(timeline_svg(drawn)).get("viewBox", "").split()[2])
    for step in steps(drawn):
        (bar_left, bar_right), (label_left, label_right) = bar(step), label(step)
        assert 0 <= label_left < label_right <= width
        assert label_right < bar_left or bar_right < label_left


def test_a_label_leaves_room_for_the_mark_of_a_refused_step_and_for_no_other():
    """The cross at the end of the bar would be printed over the label."""
    gaps = []
    for error in ("", "InvalidRequestException: it is protected"):
        (step,) = steps(report(resources=[resource(VPC, "network", 0, 400, **({"error": error} if error else {}))], critical=[]))[:1]
        gaps.append(label(step)[0] - bar(step)[1])
    assert gaps[1] - gaps[0] == pytest.approx(MARK, abs=0.2)
    assert gaps[0] < MARK


def test_rows_never_overlap():
    """Two steps in one row would print one label over the other."""
    tops = [float(next(step.iter(f"{SVG}rect")).get("y", "nan")) for step in steps(report())]
    assert all(lower - upper >= 20 for upper, lower in pairwise(tops))


def test_steps_stand_in_the_order_of_their_start():
    """The eye follows the path downwards only if what starts later stands lower."""
    up = steps(report())[:4]
    assert [bar(step)[0] for step in up] == sorted(bar(step)[0] for step in up)


def test_hostile_names_are_escaped():
    """A stack or resource name must not become markup in a page that people open from a file."""
    svg = timeline_svg(report(stack=HOSTILE, resources=[resource(HOSTILE, HOSTILE, 0, 10, error=HOSTILE)]))
    ElementTree.fromstring(svg)
    assert "<script" not in svg


def test_equal_reports_give_equal_bytes():
    """Pictures are kept beside the code: a byte that changes without a cause is a diff without a reason."""
    assert timeline_svg(report()) == timeline_svg(report())


def test_an_empty_report_still_parses():
    """A program that registers nothing is a valid program."""
    assert not steps(report(resources=[], deletions=[]))


@pytest.mark.parametrize("seconds", [1.0, 59.0, 600.0, 7_200.0, 400_000.0])
def test_the_axis_has_a_readable_number_of_ticks(seconds: float):
    """An axis of ten seconds and one of days need different steps, or the labels run into each other."""
    root = ElementTree.fromstring(timeline_svg(report(resources=[resource(VPC, "network", 0, seconds)], deletions=[])))
    ticks = [text for text in root.iter(f"{SVG}text") if text.get("class") == "tick"]
    # Twelve steps have thirteen ends, and the empty destroy has its zero.
    assert len(ticks) <= 14


@pytest.mark.parametrize(
    ("more", "style", "shapes"),
    [
        ({"error": "x"}, "step refused", ["stripes", "mark"]),
        ({"attempts": 2}, "step retried", ["dots"]),
        ({"cut": True}, "step cut", ["mark"]),
        ({"error": None}, "step", []),
    ],
)
def test_trouble_shows_in_shape_and_not_in_colour_alone(more: dict[str, Any], style: str, shapes: list[str]):
    """The picture is printed in grey and read by people who cannot tell red from green."""
    step = steps(report(resources=[resource(VPC, "other", 0, 9, **more)], deletions=[]))[0]
    assert step.get("class") == style
    assert [path.get("class") for path in step.iter(f"{SVG}path")] == shapes


def test_tries_are_counted_in_words():
    """How often is what a mark cannot say."""
    step = steps(report(resources=[resource(VPC, "network", 0, 9, attempts=3)]))[0]
    assert "3 tries" in "".join(step.itertext())


def test_runs_after_the_first_are_drawn_with_what_was_done_before():
    """A rehearsal that failed once and was fixed is two pictures and a command between them."""
    again = up_again(resource(VPC, "network", 0, 9), before=["trn recover", "pulumi up"])
    svg = timeline_svg(report(reruns=[again], destroy_reruns=[destroy_again(deletion(VPC, "network", 0, 9))]))
    wanted = (
        "up again: ready after 9 s",
        "before it: trn recover; pulumi up",
        "destroy again: gone after 9 s",
        "before it: pulumi destroy",
    )
    assert [words for words in wanted if words not in svg] == []


def test_a_long_command_stays_inside_the_picture():
    """Replacing takes a URN, which is as long as the picture is wide."""
    again = up_again(before=["pulumi up --replace " + "m" * 300])
    root = ElementTree.fromstring(timeline_svg(report(reruns=[again])))
    assert float(root.get("viewBox", "").split()[2]) > text_width("m" * 300, LABEL_SIZE)


def test_the_legend_explains_what_occurs_and_nothing_else():
    """A red sample above a rehearsal without a failure makes the reader look for one."""
    calm = timeline_svg(report())
    assert "lower bound: the shortest time" in calm
    assert [words for words in (">refused<", ">retried<", ">cut: the run was killed<") if words in calm] == []
    troubled = timeline_svg(report(resources=[resource(VPC, "network", 0, 9, error="x")]))
    assert ">refused<" in troubled
    assert "lower bound: the shortest time" not in troubled
