"""Faults and time for the real engine: which resource, how often, how long."""

import pytest

from simulator import latencies
from simulator.account.faults import Faults
from simulator.faults_syntax import FaultSyntaxError, parse_fault
from simulator.providers.pace import Pace
from simulator.recording import Registration

CLUSTER = "aws:eks/cluster:Cluster"
URN = f"urn:pulumi:dev::trn::trn:components:ControlPlane${CLUSTER}::control"
CONTROL = Registration(URN, CLUSTER, "control", True, False, "", {})


def met(faults: Faults) -> bool:
    """Whether one creation of the control plane meets a fault."""
    struck = faults.strike("create", CONTROL) is not None
    faults.ended(CONTROL)
    return struck


def faults(*texts: str) -> Faults:
    """Faults from their texts."""
    return Faults.of(map(parse_fault, texts))


def test_a_fault_happens_as_often_as_it_was_asked_for():
    """Once if nothing was said; asked for twice it adds up."""
    once, thrice = faults("create-fails@control"), faults("create-fails@control:2", "create-fails@control")
    assert [met(once) for _ in range(2)] == [True, False]
    assert [met(thrice) for _ in range(4)] == [True, True, True, False]


def test_a_fault_stands_until_the_operation_ends():
    """A request that is tried again meets the same trouble, and uses it up once."""
    one = faults("create-fails@control")
    assert [one.strike("create", CONTROL) is not None for _ in range(3)] == [True, True, True]
    one.ended(CONTROL)
    assert one.strike("create", CONTROL) is None


def test_a_fault_is_for_its_resource_only():
    """By logical name, or by kind and name where two resources share one."""
    assert not met(faults("create-fails@other"))
    assert not met(faults("throttling@control"))
    assert met(faults("create-fails@Cluster/control"))
    assert not met(faults("create-fails@NodeGroup/control"))


def test_what_happens_is_reported():
    """A fault that never happened is reported as such."""
    strikes: list[tuple[str, str]] = []
    one = faults("create-fails@Cluster/control:2")
    one.on_strike = lambda fault, urn: strikes.append((fault, urn))
    met(one)
    assert strikes == [("create-fails@Cluster/control", URN)]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("no-capcity@group", "did you mean `no-capacity`"),
        ("nothing@group", "allowed: no-capacity, quota"),
        ("create-fails:2", "strikes one resource, and none is named"),
    ],
)
def test_a_fault_that_there_is_not_is_refused(text: str, wrong: str):
    """Before anything runs."""
    with pytest.raises(FaultSyntaxError) as raised:
        faults(text)
    assert wrong in str(raised.value)
    assert raised.value.hint


def test_time_is_the_latency_times_the_scale():
    """A thousandth makes a ten-minute control plane in 0.6 s; at 0 nothing waits."""
    for operation in ("create", "delete"):
        virtual = latencies.seconds(CONTROL, operation, 3)
        assert Pace(0.001, seed=3).real_s(operation, URN, CLUSTER, {}) == pytest.approx(virtual / 1000)
        assert Pace(0, seed=3).real_s(operation, URN, CLUSTER, {}) == 0
    assert Pace(1).real_s("update", URN, CLUSTER, {}) == Pace(1).real_s("create", URN, CLUSTER, {})
    assert 492 <= Pace(1).real_s("create", URN, CLUSTER, {}) <= 683
