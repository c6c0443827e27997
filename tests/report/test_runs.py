"""What pictures show of a run: only what the cloud did, in order, with what each step truly waited for."""

from typing import Any

import pytest

from report.runs import Phase, Run, Step, destroy_run, runs_of, up_run
from simulator.report.schema import PathStep
from tests.report.builders import CLUSTER, NODE_GROUP, VPC, change_run, deletion, destroy_again, report, resource, up_again, urn

COMPONENT = "trn:components:Network"


def names(run: Run) -> list[str]:
    """Names of the steps of a run."""
    return [step.name for step in run.steps]


def test_components_and_providers_are_no_steps():
    """They exist in the engine only, and take no time that could be drawn."""
    made = up_again(
        resource(COMPONENT, "network", 0, 0, custom=False),
        resource("pulumi:providers:aws", "aws", 0, 0.5),
        resource(VPC, "vpc", 0, 9),
    )
    assert names(up_run(made)) == ["vpc"]
    assert up_run(made).kept == 0


def test_a_destroy_leaves_out_what_only_the_engine_knew():
    """A destroy does not say what is a component: the runs of up do, even one in which another resource was refused."""
    ups = [resource(COMPONENT, "network", 0, 0, custom=False)]
    drawn = report(resources=[], reruns=[up_again(*ups)], deletions=[deletion(COMPONENT, "network", 0, 0), deletion(VPC, "vpc", 0, 9)])
    assert names(runs_of(drawn)[-1]) == ["vpc"]


def test_a_wait_for_a_component_is_a_wait_for_what_it_waited_for():
    """`waited for control-plane` leads to no bar; the subnet behind it does."""
    made = up_again(
        resource(VPC, "vpc", 0, 9),
        resource(COMPONENT, "outer", 9, 9, custom=False, waited_for=urn(VPC, "vpc")),
        resource(COMPONENT, "inner", 9, 9, custom=False, waited_for=urn(COMPONENT, "outer")),
        resource(CLUSTER, "control-plane", 9, 20, waited_for=urn(COMPONENT, "inner")),
    )
    run = up_run(made)
    waited = run.waited_for(run.steps[1])
    assert waited is not None
    assert waited.name == "vpc"


def test_a_wait_for_a_component_that_waited_for_nothing_is_none():
    """The chain of looking through must end."""
    run = up_run(up_again(resource(COMPONENT, "outer", 0, 0, custom=False), resource(VPC, "vpc", 0, 9, waited_for=urn(COMPONENT, "outer"))))
    assert run.steps[0].waited_for is None


def test_what_was_there_already_is_counted_and_not_drawn():
    """A second run that makes one thing must not look like one that makes ninety."""
    run = up_run(up_again(resource(VPC, "vpc", 0, 0), resource(NODE_GROUP, "train", 0, 9)))
    assert names(run) == ["train"]
    assert run.kept == 1


@pytest.mark.parametrize("more", [{"error": "Throttling: x"}, {"cut": True}])
def test_trouble_in_no_time_is_a_step(more: dict[str, Any]):
    """A request that is refused at once has no length, and is all that matters."""
    assert names(up_run(up_again(resource(VPC, "vpc", 0, 0, **more)))) == ["vpc"]


def test_the_deletion_of_a_replacement_is_a_step_before_its_creation():
    """Resources of an up are listed once each; half of the time of a replacement would be missing from the picture."""
    link = PathStep(urn=urn(NODE_GROUP, "train"), name="train", type=NODE_GROUP, operation="delete", start=0, end=7, slot_wait_seconds=0)
    run = up_run(up_again(resource(NODE_GROUP, "train", 7, 9), critical_path=[link]))
    assert [(step.operation, run.is_critical(step)) for step in run.steps] == [("delete", True), ("create", False)]


@pytest.mark.parametrize(("before", "ended"), [(["pulumi up"], "well"), ([], "refused"), ([], "killed")])
def test_only_a_run_from_nothing_to_ready_is_measured_against_the_bound(before: list[str], ended: str):
    """A run that finds half of the cluster beats the bound, and one that stops has not met it: neither says anything."""
    assert up_run(up_again(before=before, ended=ended)).lower_bound_s is None
    assert up_run(up_again(before=[], ended="well")).lower_bound_s == 100.0


def test_every_run_has_a_title_of_its_own():
    """Titles become addresses in the page."""
    titles = [run.title for run in runs_of(report(reruns=[up_again(), up_again()], destroy_reruns=[destroy_again()]))]
    assert titles == ["up", "up again", "up again, run 3", "destroy", "destroy again"]


@pytest.mark.parametrize(
    ("phase", "more", "words", "failed"),
    [
        ("up", {}, "ready after 20 s", False),
        ("change", {}, "done after 20 s", False),
        ("destroy", {}, "gone after 20 s", False),
        ("destroy", {"left": 2}, "ended after 20 s, 2 left behind", True),
        ("up", {"ended": "killed"}, "killed after 20 s", True),
        ("up", {"ended": "refused", "steps": [Step("a", VPC, "a", "create", 0, 1, error="x")]}, "stopped after 20 s, 1 refused", True),
    ],
)
def test_a_run_says_how_it_ended(phase: Phase, more: dict[str, Any], words: str, failed: bool):
    """The heading is all that many readers read."""
    usual: dict[str, Any] = {"ended": "well", "steps": [], **more}
    run = Run(title="x", phase=phase, seconds=20.0, before=[], critical=frozenset(), cost=[], **usual)
    assert run.words == words
    assert run.failed is failed


def test_of_two_steps_on_one_resource_the_one_that_had_ended_was_waited_for():
    """A replacement deletes and creates under one name, and its creation waits for its own deletion, not for itself."""
    run = change_run()
    assert run.waited_for(run.steps[1]) is run.steps[0]
    assert run.waited_for(run.steps[0]) is None


def test_a_quick_step_is_drawn_only_for_a_reason():
    """Dozens of roles of two seconds would bury the few bars that matter."""
    steps = [Step(name, VPC, name, "create", 0, 1, attempts) for name, attempts in (("a", 1), ("b", 2), ("c", 1))]
    run = Run("up", "up", 1, "well", [], steps, frozenset({("c", "create")}), [])
    assert [run.is_drawn(step) for step in steps] == [False, True, True]


def test_steps_stand_in_the_order_of_their_start():
    """The eye follows the path downwards only if what starts later stands lower."""
    run = destroy_run(destroy_again(deletion(VPC, "b", 5, 6), deletion(VPC, "a", 0, 9)))
    assert names(run) == ["a", "b"]
