"""What a report says of a run: how it ended, what each operation waited for, and what was paid while it ran."""

from dataclasses import replace

import pytest

from simulator.account import kinds
from simulator.account.rule import Refusal
from simulator.engine.clock import Step
from simulator.engine.plan import Change
from simulator.engine.run import Phase
from simulator.recording import Recording
from simulator.report.assemble import both, cost_points, ending, times
from tests.simulator.account.standing import only, recording

NAT, CLUSTER = recording().of_type(kinds.NAT_GATEWAY)[0], only(kinds.CLUSTER)
REFUSED = Refusal("Code", "text", "a cause", "a fix")
BARE = Recording("trn", "dev", {NAT.urn: NAT, CLUSTER.urn: CLUSTER})
NAT_USD, CLUSTER_USD, BOTH_USD = 0.045, 0.10, 0.145


def phase(*steps: Step, stood: bool = False) -> Phase:
    """A run of these operations; `stood`: on what was there before."""
    changes = {
        step.urn: Change(step.operation, BARE.registrations[step.urn] if stood else None, BARE.registrations[step.urn]) for step in steps
    }
    return Phase(
        {step.urn: step for step in steps}, tuple(step.urn for step in steps), dict.fromkeys((s.urn for s in steps), None), changes
    )


def paid(run: Phase, before: Recording | None = None) -> list[tuple[float, float, float]]:
    """Moments, price per hour from then on, and what was spent until then."""
    return [(point.at, point.usd_per_hour, point.usd) for point in cost_points(BARE, run, before)]


def test_a_resource_is_paid_for_from_the_request_that_makes_it():
    """Not from its end: AWS bills a control plane while it is CREATING."""
    run = phase(Step(NAT.urn, "create", 0, 1800), Step(CLUSTER.urn, "create", 3600, 7200))
    assert paid(run) == [
        (0, 0, 0),
        (0, NAT_USD, 0),
        (3600, BOTH_USD, NAT_USD),
        (7200, BOTH_USD, 0.19),
    ]


def test_and_until_its_deletion_has_ended():
    """What stood before is paid for from the start."""
    run = phase(Step(CLUSTER.urn, "delete", 0, 3600), stood=True)
    assert paid(run) == [(0, CLUSTER_USD, 0), (3600, 0, CLUSTER_USD), (3600, 0, CLUSTER_USD)]


@pytest.mark.parametrize(("leaves", "runs", "is_paid"), [("nothing", True, False), ("failed", False, False), ("unready", True, True)])
def test_what_was_refused_is_paid_for_where_something_runs(leaves: str, runs: bool, is_paid: bool):
    """A node group without instances costs nothing, a file system that is not ready does."""
    run = phase(Step(CLUSTER.urn, "create", 0, 3600, refusal=replace(REFUSED, leaves=leaves, runs=runs)))  # type: ignore[arg-type]
    assert paid(run)[-1] == (3600, CLUSTER_USD if is_paid else 0, CLUSTER_USD if is_paid else 0)


def test_what_could_not_be_deleted_goes_on_costing():
    """An end that was refused is none."""
    assert paid(phase(Step(CLUSTER.urn, "delete", 0, 3600, refusal=REFUSED), stood=True))[-1] == (3600, CLUSTER_USD, CLUSTER_USD)


@pytest.mark.parametrize(("is_dearer", "at"), [(True, 1800), (False, 3600)])
def test_an_update_costs_more_at_once_and_less_at_its_end(is_dearer: bool, at: float):
    """Never less than what is billed."""
    nothing = Recording("trn", "dev", {CLUSTER.urn: replace(CLUSTER, custom=False, type="trn:x:Y")})
    after, before = (BARE, nothing) if is_dearer else (nothing, BARE)
    run = phase(Step(CLUSTER.urn, "update", 1800, 3600), stood=True)
    rates = [(point.at, point.usd_per_hour) for point in cost_points(after, run, before)]
    first, last = (0, CLUSTER_USD) if is_dearer else (CLUSTER_USD, 0)
    assert rates == [(0, first), (at, last), (3600, last)]


def test_how_a_run_ended():
    """A kill is told before what was refused until then."""
    good, refused = Step(NAT.urn, "create", 0, 1), Step(NAT.urn, "create", 0, 1, refusal=REFUSED)
    assert (ending(phase(good)), ending(phase(refused)), ending(replace(phase(refused), killed=True))) == ("well", "refused", "killed")


def test_an_operation_says_what_it_waited_for_and_why_it_was_refused():
    """By the URN of the resource, also where its key is that of a successor's old one."""
    first, second = Step(NAT.urn, "create", 0, 5), Step(CLUSTER.urn, "create", 5, 9, attempts=3, cut=True, refusal=REFUSED, slot_wait_s=2)
    run = replace(phase(first, second), predecessors={NAT.urn: None, CLUSTER.urn: NAT.urn})
    assert times(BARE, run, NAT.urn)["waited_for"] is None
    told = times(BARE, run, CLUSTER.urn)
    assert (told["waited_for"], told["error"], told["cause"], told["fix"]) == (NAT.urn, "Code: text", "a cause", "a fix")
    assert (told["start"], told["end"], told["attempts"], told["cut"], told["slot_wait_seconds"]) == (5, 9, 3, True, 2)


def test_one_graph_of_both_has_the_newer_of_each():
    """What goes is in it, and what comes."""
    older = Recording("trn", "old", {NAT.urn: NAT, CLUSTER.urn: replace(CLUSTER, id="older")})
    graph = both(older, Recording("trn", "new", {CLUSTER.urn: CLUSTER}))
    assert (graph.stack, graph.registrations) == ("new", {NAT.urn: NAT, CLUSTER.urn: CLUSTER})
