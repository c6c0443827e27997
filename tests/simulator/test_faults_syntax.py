"""How faults are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.faults_syntax import FaultRequest, FaultSyntaxError, parse_fault


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("throttling", FaultRequest("throttling")),
        ("no-capacity@trn1-32xl", FaultRequest("no-capacity", "trn1-32xl")),
        ("quota:3", FaultRequest("quota", None, 3)),
        ("create-fails@NodeGroup/trn1-32xl:12", FaultRequest("create-fails", "NodeGroup/trn1-32xl", 12)),
    ],
)
def test_a_fault_has_a_name_and_maybe_a_resource_and_a_count(text: str, request_: FaultRequest):
    """One form for the rehearsal and the engine."""
    assert parse_fault(text) == request_


@given(
    st.builds(
        FaultRequest,
        st.from_regex(r"[a-z][a-z0-9-]*", fullmatch=True),
        st.none() | st.from_regex(r"[A-Za-z0-9/.-]+", fullmatch=True),
        st.none() | st.integers(1, 10_000),
    )
)
def test_what_a_request_prints_is_read_back(request_: FaultRequest):
    """Messages repeat the fault: it must work when typed."""
    assert parse_fault(str(request_)) == request_


@pytest.mark.parametrize("text", ["", "No-Capacity", "@group", "no-capacity@", "no-capacity@a b", "no-capacity:x", "no-capacity@a:b:2"])
def test_what_is_no_fault_is_reported_the_form(text: str):
    """With an example to copy."""
    with pytest.raises(FaultSyntaxError, match="is no fault") as raised:
        parse_fault(text)
    assert "NAME@RESOURCE:TIMES" in str(raised.value)
    assert parse_fault(raised.value.hint.split("`")[1]).name == "no-capacity"


def test_zero_times_is_no_fault():
    """Nothing would happen, and the reader would wait for it."""
    with pytest.raises(FaultSyntaxError, match="0 times") as raised:
        parse_fault("quota@x:0")
    assert "`quota@x:1`" in raised.value.hint
