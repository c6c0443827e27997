"""Faults and time for the real engine: which resource, how often, how long."""

import pytest

from operations import cli
from simulator import latencies
from simulator.faults_syntax import FaultSyntaxError, parse_fault
from simulator.providers.faults import NAMES, NO_CAPACITY_S, Faults
from simulator.providers.pace import Pace
from simulator.recording import Registration

CLUSTER = "aws:eks/cluster:Cluster"
URN = f"urn:pulumi:dev::trn::trn:components:ControlPlane${CLUSTER}::control"


def faults(*texts: str) -> Faults:
    """Faults from their texts."""
    return Faults.of(map(parse_fault, texts))


def test_a_fault_happens_as_often_as_it_was_asked_for():
    """Once if nothing was said; twice asked for once each is two."""
    once, thrice = faults("create-fails@control"), faults("create-fails@control:2", "create-fails@control")
    assert [once.met("create-fails", URN) for _ in range(2)] == [True, False]
    assert [thrice.met("create-fails", URN) for _ in range(4)] == [True, True, True, False]


def test_a_fault_is_for_its_resource_only():
    """By logical name, or by kind and name where two resources share one."""
    assert not faults("create-fails@other").met("create-fails", URN)
    assert not faults("no-capacity@control").met("create-fails", URN)
    assert faults("create-fails@Cluster/control").met("create-fails", URN)
    assert not faults("create-fails@NodeGroup/control").met("create-fails", URN)


def test_a_fault_can_be_foreseen_without_happening():
    """A group without capacity takes its time before it fails."""
    one = faults("no-capacity@control")
    assert one.expect("no-capacity", URN)
    assert one.met("no-capacity", URN)
    assert not one.expect("no-capacity", URN)


def test_what_happens_is_told():
    """So that a fault that met nothing can be told from one that did."""
    told: list[tuple[str, str]] = []
    one = faults("create-fails@Cluster/control:2")
    one.told = lambda fault, urn: told.append((fault, urn))
    one.met("create-fails", URN)
    one.met("create-fails", "urn:pulumi:a::b::c::other")
    assert told == [("create-fails@Cluster/control", URN)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("no-capcity@group", "did you mean `no-capacity`"),
        ("throttling@group", "allowed: create-fails, webhook-not-ready, no-capacity, kill-provider"),
        ("no-capacity:2", "the fault `no-capacity:2` names no resource"),
    ],
)
def test_a_fault_that_the_engine_cannot_meet_is_refused(text: str, wrong: str):
    """Before anything runs."""
    with pytest.raises(FaultSyntaxError, match="fault") as told:
        faults(text)
    assert wrong in str(told.value)
    assert told.value.hint


def test_help_says_what_each_fault_does():
    """The hint sends people there."""
    assert all(f"{name}: {what}" in (cli.engine.__doc__ or "").replace("\n    ", " ") for name, what in NAMES.items())


def test_time_is_the_latency_times_the_scale():
    """A thousandth makes a ten-minute control plane in 0.6 s; at 0 nothing waits."""
    registration = Registration(urn=URN, type=CLUSTER, name="control", custom=True, remote=False, parent="", inputs={})
    for operation in ("create", "delete"):
        virtual = latencies.seconds(registration, operation, 3)
        assert Pace(0.001, seed=3).real_s(operation, URN, CLUSTER, {}) == pytest.approx(virtual / 1000)
        assert Pace(0, seed=3).real_s(operation, URN, CLUSTER, {}) == 0
    assert Pace(1).real_s("update", URN, CLUSTER, {}) == Pace(1).real_s("create", URN, CLUSTER, {})
    assert 492 <= Pace(1).real_s("create", URN, CLUSTER, {}) <= 683
    assert Pace(0.01).no_capacity_s() == NO_CAPACITY_S / 100
