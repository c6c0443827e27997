"""The section on failures: who refused, why, what to do, what it costs meanwhile, and how it ended."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from report.runs import Run, runs_of
from report.templating import rendered
from report.trouble import trouble_of
from simulator.report.schema import CostPoint, Incident, Problem, Report
from tests.report.builders import (
    CLUSTER,
    NODE_GROUP,
    VPC,
    change_run,
    cost_line,
    deletion,
    destroy_again,
    report,
    resource,
    up_again,
    urn,
)

REFUSED = resource(
    NODE_GROUP, "train", 15, 2000, error="InsufficientInstanceCapacity: none left", attempts=2, fix="wait; then `pulumi up --replace x`"
)


def section(made: Report, runs: Sequence[Run] | None = None) -> str:
    """The section; `runs` stand for those of the report."""
    return rendered("trouble.html", report=made, trouble=trouble_of(made, runs or runs_of(made)))


def missing(words: tuple[str, ...], text: str) -> list[str]:
    """Which of the words are not there."""
    return [word for word in words if word not in text]


def billed(**more: Any) -> str:
    """The sentence on money of an up that was refused, with a network, a control plane and nodes on the bill."""
    lines = [
        cost_line(what, price).model_copy(update={"urn": urn(token, what)})
        for what, token, price in (("vpc", VPC, 0.05), ("train", NODE_GROUP, 43.0), ("control", CLUSTER, 0.1))
    ]
    up = up_again(resource(VPC, "vpc", 0, 9), REFUSED, before=(), ended="refused", **more)
    return section(report(up=up, costs=lines))


def test_a_run_without_failures_has_no_such_section():
    """An empty heading makes a reader look for what is missing."""
    assert section(report()) == ""


def test_a_refusal_has_code_words_cause_fix_and_tries():
    """The code is what a reader searches for, and the fix is what he came for."""
    page = section(report(resources=[REFUSED], faults=["no-capacity@train"]))
    words = (
        '<span class="bad">InsufficientInstanceCapacity</span> none left',
        "<b>train</b>",
        "NodeGroup, 2 tries in 33 min 05 s",
        "<dt>Cause</dt><dd>its cause</dd>",
        "<dt>Fix</dt><dd>wait; then <code>pulumi up --replace x</code></dd>",
        "<code>no-capacity@train</code>",
        "up: stopped after 33 min 20 s, 1 refused",
    )
    assert missing(words, page) == []
    assert "Made to go wrong" not in section(report(resources=[REFUSED]))


def test_every_refusal_of_a_run_is_reported():
    """What was under way when the first was refused may be refused as well, and needs its own fix."""
    page = section(report(resources=[REFUSED, resource(VPC, "other", 0, 9, error="VpcLimitExceeded: 5 of 5")]))
    assert missing(("InsufficientInstanceCapacity", "VpcLimitExceeded", "after 9 s"), page) == []


def test_an_answer_without_a_code_is_reported_whole():
    """Helm has no codes, and a colon alone makes none."""
    page = section(report(resources=[resource(VPC, "v", 0, 9, error="release volcano failed, and has been rolled back: timed out")]))
    assert '<span class="bad">release volcano failed, and has been rolled back: timed out</span>' in page


def test_the_bill_names_what_stands_and_not_what_was_refused():
    """An engineer asked at night why the account still costs money wants the names."""
    page = billed(cost=[CostPoint(at=0, usd_per_hour=0.05, usd=0), CostPoint(at=2000, usd_per_hour=0.05, usd=0.03)])
    assert "<b>0.05 USD an hour</b> was being paid for at that moment: vpc 0.05. 0.03 USD spent since this run began." in page


def test_the_bill_names_what_was_refused_where_it_is_paid_for():
    """A node group that failed may have started its instances: the sum tells."""
    assert "<b>43.05 USD an hour</b> was being paid for at that moment: train 43.00; vpc 0.05." in billed(
        cost=[CostPoint(at=9, usd_per_hour=43.05, usd=0)]
    )


def test_a_tiny_price_is_not_nothing():
    """A key that costs a dollar a month is still on the bill."""
    assert "<b>under 0.01 USD an hour</b>" in billed(cost=[CostPoint(at=9, usd_per_hour=0.0014, usd=0)])


def test_a_destroy_that_stopped_pays_for_what_is_not_gone():
    """What a failed destroy left behind bills until it is deleted."""
    lines = [
        cost_line("vpc", 0.05).model_copy(update={"urn": urn(VPC, "v")}),
        cost_line("gone", 9.0).model_copy(update={"urn": urn(NODE_GROUP, "t")}),
    ]
    stopped = destroy_again(deletion(NODE_GROUP, "t", 0, 5), deletion(VPC, "v", 5, 9, error="DependencyViolation: x"), before=())
    stopped = stopped.model_copy(update={"cost": [CostPoint(at=9, usd_per_hour=0.05, usd=0.01)]})
    page = section(report(resources=[resource(VPC, "v", 0, 9), resource(NODE_GROUP, "t", 9, 12)], destroy=stopped, costs=lines))
    assert "at that moment: vpc 0.05. 0.01 USD" in page


def test_without_prices_there_is_no_bill():
    """An unknown cost is not shown as zero."""
    killed = replace(change_run(), ended="killed", cost=[])
    assert "USD" not in section(report(), [killed])


def test_a_long_bill_is_cut_and_says_so():
    """The table of costs has them all."""
    many = [resource(VPC, f"v{index}", 0, 9) for index in range(8)]
    lines = [cost_line(item.name, 1.0).model_copy(update={"urn": item.urn}) for item in many]
    up = up_again(*many, REFUSED, before=(), ended="refused", cost=[CostPoint(at=9, usd_per_hour=8, usd=0)])
    assert "v4 1.00; v5 1.00; 2 more." in section(report(up=up, costs=lines))


def test_a_killed_run_names_what_was_under_way():
    """That is what the next run must find again."""
    killed = up_again(resource(CLUSTER, "control-plane", 0, 9, cut=True), before=(), ended="killed")
    assert missing(("up: killed after 9 s", "Cluster <b>control-plane</b>"), section(report(up=killed))) == []


def test_the_fix_and_what_came_of_it_are_reported():
    """A failure that is followed by its fix and a ready cluster reads as a recipe."""
    page = section(report(resources=[REFUSED], reruns=[up_again(resource(NODE_GROUP, "train", 0, 9), before=["trn drain", "pulumi up"])]))
    assert (
        'Then <code>trn drain</code>; <code>pulumi up</code> <span class="muted">→</span> <a href="#up-again">up again</a> ready after 9 s.'
        in page
    )
    assert "It was not fixed" not in page


def test_a_failure_without_a_second_run_says_so():
    """The destroy after it is no fix."""
    page = section(report(resources=[REFUSED]))
    assert "It was not fixed" in page
    assert "Then" not in page


def test_a_cluster_that_is_up_and_useless_is_reported():
    """`ready` above a cluster on which no collective works would be believed."""
    problem = Problem(urn="u", name="nodes", rule="efa-egress", error="EFA unusable", cause="no self egress", fix="add the rule")
    assert (
        missing(
            ("cannot be used: nodes", "efa-egress", "EFA unusable", "no self egress", "add the rule"), section(report(problems=[problem]))
        )
        == []
    )


def test_incidents_tell_what_they_mean_for_a_job():
    """Nodes come and go: how long, and what the job does meanwhile."""
    lost = Incident(fault="node-lost", name="train", what="a node of train dies", seconds=None, job="the gang stops")
    back = Incident(fault="spot", name="train", what="EC2 takes a node back", seconds=600, job="it waits")
    page = section(report(incidents=[lost, back]))
    words = ("a node of train dies", "the node does not come back", "the gang stops", "10 min 00 s until all nodes are back", "node-lost")
    assert missing(words, page) == []
    # Amber: the cluster does what it can. Red is for what somebody must fix.
    assert page.count('class="trouble calm"') == 2
    assert 'class="trouble"' in section(report(resources=[REFUSED]))


def test_what_the_last_destroy_left_is_shown_with_its_price():
    """What is left costs money every hour; what an earlier run left and a later one removed does not."""
    line = cost_line("file system", 2.5)
    left = report(leftovers=["subnet"], destroy_reruns=[destroy_again(leftovers=["file system"])], costs=[line])
    page = section(left)
    assert missing(("1 object left behind", '<li class="bad">file system</li>', "2.50 USD an hour until it is gone"), page) == []
    assert "subnet" not in page
