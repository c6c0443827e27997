"""A resource of a large stack costs a rehearsal no more than one of a small stack."""

from cProfile import Profile
from pstats import Stats

from report.page import page_html
from report.timeline import timeline_svg
from simulator.account.allowances import Allowances
from simulator.recorder.recorder import program_at
from simulator.rehearsal import Circumstances, Stack, rehearse
from tests.support import ROOT, record_stack, with_groups


def calls_per_resource(groups: int) -> float:
    """Calls of functions that a rehearsal with its files makes, without the recording, for each resource."""
    recording = record_stack(with_groups(groups, "trn1.2xlarge"))
    met = Circumstances(Allowances(vcpu_quotas={"Trn": 100_000}))
    profile = Profile()
    with profile:
        made = rehearse(Stack(program_at(ROOT), "trn", "test", {}), circumstances=met, recording=recording)
        page_html(made.report, recording)
        timeline_svg(made.report)
    assert (made.up.ended_well, made.destroy.ended_well) == (True, True)
    return Stats(profile).total_calls / len(recording)  # pyright: ignore[reportAttributeAccessIssue]


def test_four_times_as_many_groups_cost_as_much_for_each_resource():
    """What looks at all resources for each of them costs twice as much for each where there are twice as many."""
    assert calls_per_resource(120) < 1.15 * calls_per_resource(30)
