"""Faults: each can be asked for, happens as often as it was asked for, and each time is recorded."""

from dataclasses import replace
from pathlib import Path

import pytest

from simulator import latencies
from simulator.account import kinds
from simulator.account.faults import FAULTS, Faults
from simulator.account.judge import findings
from simulator.account.state import AccountState
from simulator.account.world import World
from simulator.engine.lifecycle import bring_up, take_down
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.faults_syntax import FaultSyntaxError, parse_fault
from simulator.incidents import incidents, leave_behind
from simulator.recording import Recording
from simulator.scenario_effects import need_requests
from simulator.scenario_files import ScenarioError, names
from simulator.scenarios import circumstances, read
from tests.simulator.account.standing import recording
from tests.support import dev_configuration, merged, record_stack

CODES = {
    "no-capacity@trn1-32xl": "InsufficientInstanceCapacity",
    "quota@trn1-32xl": "VcpuLimitExceeded",
    "addon-degraded@coredns": "InsufficientNumberOfReplicas",
    "image-pull-limit@volcano": "DeadlineExceeded",
    "image-pull-limit@etcd-server": "DeadlineExceeded",
    "api-unreachable@training-namespace": "Unreachable",
    "throttled-out@network": "ThrottlingException",
}
"""Faults that end a run, with the code of its error."""


def engine_with(*faults: str) -> Engine:
    """An engine in an account with faults."""
    return Engine(World(faults=Faults.of(parse_fault(fault) for fault in faults)), State())


@pytest.mark.parametrize("fault", CODES)
def test_a_fault_ends_the_run_and_the_next_one_converges(fault: str):
    """The error carries the service's code, why, and how to go on; following it is enough."""
    engine = engine_with(fault)
    first, *others = bring_up(engine, recording())
    (refused,) = [step.refusal for step in first.phase.errors if step.refusal]
    assert refused.code == CODES[fault]
    assert refused.by_fault
    assert [run.phase.ended_well for run in others] == [True]
    assert others[0].before
    assert take_down(engine)[-1].phase.ended_well
    assert engine.world.state.leftovers() == []


@pytest.mark.parametrize("times", [1, 3])
def test_a_fault_strikes_as_often_as_it_was_asked_for(times: int):
    """`:n` is how long the trouble lasts."""
    runs = bring_up(engine_with(f"addon-degraded@coredns:{times}"), recording())
    assert [run.phase.ended_well for run in runs] == [False] * times + [True]


@pytest.mark.parametrize("way", ["up", "destroy"])
def test_faults_on_several_levels_are_outlasted(way: str):
    """Each may end a run of its own, and what a user left one more: more runs than one problem is worth, yet all of them get on."""
    up = ("throttled-out@network:4", "addon-degraded@coredns:4")
    down = ("api-unreachable-on-destroy@queue-training:4", "api-unreachable-on-destroy@training-namespace:4", "load-balancer-left:3")
    engine = engine_with(*(up if way == "up" else down))
    ups = bring_up(engine, recording())
    leave_behind(engine.world)
    downs = take_down(engine)
    assert len(ups if way == "up" else downs) > 8
    assert ups[-1].phase.ended_well
    assert engine.world.state.leftovers() == []


def test_no_capacity_is_tried_for_half_an_hour():
    """EKS gives up after 33 minutes, and keeps the group under its name."""
    engine = engine_with("no-capacity@trn1-32xl")
    phase = engine.up(recording())
    (step,) = phase.errors
    assert step.end - step.start == 33 * 60
    assert any(held.init_error for held in engine.state.held.values())


def test_a_plain_up_after_no_capacity_is_no_fix():
    """It ends well and the group stays as it was: only what the world says itself tells so."""
    engine = engine_with("no-capacity@trn1-32xl")
    engine.up(recording())
    assert engine.up(recording()).ended_well
    assert [rule for _, rule, _ in findings(engine.world.state)] == ["group-is-active"]


def test_a_webhook_without_endpoints_costs_a_retry_and_not_the_run():
    """The queue's error hook asks again: the provider itself would not."""
    (only,) = bring_up(engine_with("webhook-not-ready"), recording())
    assert only.phase.ended_well
    assert {step.attempts for step in only.phase.steps.values()} == {1, 2}


@pytest.mark.parametrize(
    "fault", ["throttling@control-plane-eksCluster:3", "iam-propagation@control-plane-eksCluster", "slow-control-plane"]
)
def test_some_faults_cost_time_only(fault: str):
    """The provider's own retries carry the run over them."""
    calm = engine_with().up(recording()).seconds
    phase = engine_with(fault).up(recording())
    assert phase.ended_well
    assert phase.seconds > calm


@pytest.mark.parametrize("fault", ["killed@lustre", "killed-on-destroy@lustre"])
def test_a_kill_is_fixed_by_cancelling_and_recovering(fault: str):
    """The next run neither makes nor forgets anything twice."""
    engine = engine_with(fault)
    ups = bring_up(engine, recording())
    downs = take_down(engine)
    killed = ups if fault.startswith("killed@") else downs
    assert [run.phase.killed for run in killed] == [True, False]
    assert killed[1].before[0] == "pulumi cancel"
    assert engine.world.state.leftovers() == []


@pytest.mark.parametrize(("fault", "back"), [("spot-interruption@trn1-32xl", "2 minutes' notice"), ("node-lost@trn1-32xl", "30 minutes")])
def test_a_node_that_goes_while_a_job_runs_is_reported(fault: str, back: str):
    """With what it means for a gang, and when all nodes are back."""
    engine = engine_with(fault)
    bring_up(engine, recording())
    (incident,) = incidents(engine.world, seed=0)
    assert back in incident.what
    assert "last checkpoint" in incident.job
    assert incident.seconds is not None
    assert incident.seconds > 120


@pytest.mark.parametrize(
    ("agent", "repair", "back", "said"),
    [
        (True, True, True, "EKS replaces the node once the monitoring agent has marked it for 10 minutes"),
        (True, False, False, "nothing acts on that: node repair is off"),
        (False, True, False, "nothing marks it without `addons.nodeMonitoring.enabled`"),
    ],
)
def test_a_device_that_fails_takes_an_agent_and_node_repair(agent: bool, repair: bool, back: bool, said: str):
    """A node with a broken device is ready: without the agent a gang starts on it for ever."""
    changes = {"addons": {"nodeMonitoring": {"enabled": agent}}, "nodeGroups": {"trn1-32xl": {"nodeRepair": repair}}}
    stack = record_stack(merged(dev_configuration(), **changes))
    engine = engine_with("neuron-device-failed@trn1-32xl")
    bring_up(engine, stack)
    (incident,) = incidents(engine.world, seed=0)
    assert said in incident.what
    assert "starts again from its last checkpoint" in incident.job
    assert (incident.seconds is not None) is back
    if incident.seconds is not None:
        (group,) = [item for item in stack.of_type(kinds.NODE_GROUP) if item.name == "trn1-32xl"]
        assert incident.seconds == pytest.approx(600 + latencies.seconds(group, "create", 0))


@pytest.mark.parametrize(
    ("fault", "cause", "fix"),
    [
        ("load-balancer-left", "a load balancer that a Service of type LoadBalancer asked for", "trn sweep --delete"),
        ("karpenter-node-left", "an instance that Karpenter launched", "trn sweep --delete"),
        ("claim-in-use", "is used by a pod that mounts fsx-claim", "trn drain"),
    ],
)
def test_what_users_leave_holds_the_destroy_until_it_is_swept(fault: str, cause: str, fix: str):
    """The graph does not know of it: the commands around Pulumi do."""
    engine = engine_with(fault)
    bring_up(engine, recording())
    leave_behind(engine.world)
    runs = take_down(engine)
    assert [cause in step.refusal.cause for step in runs[0].phase.errors if step.refusal] == [True]
    assert fix in runs[1].before
    assert runs[-1].phase.ended_well
    assert engine.world.state.leftovers() == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("no-such-thing", "there is no fault `no-such-thing`"), ("killed", "strikes one resource, and none is named"), ("a b", "is no fault")],
)
def test_a_fault_that_there_is_not_is_refused(text: str, wrong: str):
    """A slip would otherwise rehearse fair weather."""
    with pytest.raises(FaultSyntaxError, match=wrong):
        Faults.of([parse_fault(text)])


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_strike_something_in_the_shipped_stack(name: str):
    """One that never can is no fault."""
    assert any(FAULTS[name].can_strike(item) for item in recording().resources())


@pytest.mark.parametrize("name", names())
def test_every_scenario_is_met_and_gone_again(name: str):
    """Scenario files are shown to others: each must be readable, and its story must end."""
    met = circumstances(read(name), name)
    engine = Engine(World(AccountState(met.allowances), Faults.of(met.faults)), State())
    runs = bring_up(engine, recording())
    incidents(engine.world, seed=0)
    leave_behind(engine.world)
    take_down(engine)
    assert engine.world.faults.unused() == []
    assert engine.world.state.leftovers() == []
    assert runs[-1].phase.ended_well is (name not in ("no-quota", "one-node-left"))


def test_a_scenario_says_what_it_set():
    """A scenario with no visible effect would otherwise pass for one that was forgotten."""
    said = circumstances(read("new-account"), "new-account").scenario
    assert said[0].startswith("new-account: An account with the quotas")
    assert (
        said[1]
        == "quotas: Trn 256 vCPU, Inf 64 vCPU, Standard 64 vCPU, Trn 256 vCPU of spot, Inf 64 vCPU of spot, Standard 64 vCPU of spot"
    )
    assert circumstances(read("one-node-left"), "x").scenario[1] == "capacity: 1 x trn1.32xlarge free in usw2-az4"
    assert circumstances(read("careless-users"), "x").scenario[1] == "faults: load-balancer-left, claim-in-use"


def test_a_scenario_that_limits_what_the_stack_never_asks_for_is_refused():
    """With what the stack does ask for."""
    with pytest.raises(
        FaultSyntaxError, match=r"limits trn1\.32xlarge in usw2-az1, and nothing of this stack asks for it there"
    ) as refused:
        need_requests({("trn1.32xlarge", "usw2-az1"): 1}, recording(), AccountState())
    assert refused.value.hint.startswith("the stack asks for trn1.32xlarge in usw2-az4")
    need_requests({("trn1.32xlarge", "usw2-az4"): 1}, recording(), AccountState())


def test_a_quota_family_that_there_is_not_is_refused(tmp_path: Path):
    """A slip would set nothing."""
    (tmp_path / "mine.yaml").write_text("says: x\naccount: {vcpu: {Tnr: 0}}\n")
    with pytest.raises(ScenarioError, match="Trn"):
        read(str(tmp_path / "mine.yaml"))


def test_a_limit_on_free_instances_is_for_groups_that_need_free_ones():
    """A group in a reservation has its own: the limit would rehearse fair weather."""
    recorded, (template,) = recording(), [item for item in recording().of_type(kinds.LAUNCH_TEMPLATE) if item.name == "trn1-32xl"]
    named = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
    reserved = replace(template, inputs={**template.inputs, "capacityReservationSpecification": named})
    changed = Recording(recorded.project, recorded.stack, {**recorded.registrations, template.urn: reserved})
    with pytest.raises(FaultSyntaxError, match=r"limits trn1\.32xlarge in usw2-az4, and nothing of this stack asks for it there"):
        need_requests({("trn1.32xlarge", "usw2-az4"): 1}, changed, AccountState())
