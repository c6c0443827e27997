"""Probes: what answers mean together, and each kind of check against a real socket or command of this machine."""

import http.server
import socket
import subprocess
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kubernetes.kubelet.probes import CheckFailed, Reach, Timing, check, first_verdict, port, timing


def verdict(kind, answers, **numbers):
    """What a probe says after these answers."""
    found = first_verdict(kind)
    for answer in answers:
        found = found.after(answer, Timing(**numbers))
    return found


def test_numbers_have_kubernetes_defaults():
    """API reference, Probe."""
    assert timing({}) == Timing(initial_delay_s=0, period_s=10, timeout_s=1, success_count=1, failure_count=3)


@pytest.mark.parametrize(
    ("kind", "answers", "holds"),
    [
        ("readiness", [], False),
        ("liveness", [], True),
        ("readiness", [True], True),
        ("readiness", [True, False, False], True),
        ("readiness", [True, False, False, False], False),
        ("readiness", [True, False, False, True, False, False], True),
        ("liveness", [False, False, False], False),
    ],
)
def test_three_failures_in_a_row_count(kind, answers, holds):
    """Fewer do not."""
    assert verdict(kind, answers).holds is holds


def test_more_than_one_success_can_be_asked_for():
    """Of a readiness probe."""
    assert not verdict("readiness", [True, False, True], success_count=2).holds
    assert verdict("readiness", [True, False, True, True], success_count=2).holds


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 4))
def test_a_verdict_changes_only_after_a_run(answers, successes, failures):
    """As long as the probe asks for, counted at the end of the answers."""
    numbers = {"success_count": successes, "failure_count": failures}
    before, after = verdict("readiness", answers[:-1], **numbers), verdict("readiness", answers, **numbers)
    if before.holds != after.holds:
        needed = successes if answers[-1] else failures
        assert len(answers) >= needed
        assert set(answers[-needed:]) == {answers[-1]}


def reach(run=lambda command, timeout_s: (0, "")):
    """A container at 127.0.0.1 that runs commands like this."""
    return Reach("127.0.0.1", run, lambda address, number, timeout_s: socket.create_connection((address, number), timeout_s))


def test_a_command_passes_with_exit_code_0():
    """Any other fails with what it printed."""
    check({"exec": {"command": ["true"]}}, {}, reach(), 1)
    with pytest.raises(CheckFailed, match="not yet"):
        check({"exec": {"command": ["x"]}}, {}, reach(lambda command, timeout_s: (1, "not yet")), 1)


def test_a_command_that_takes_too_long_fails():
    """In the kubelet's words."""

    def slow(command, timeout_s):
        raise subprocess.TimeoutExpired(command, timeout_s)

    with pytest.raises(CheckFailed, match="timed out after 1s"):
        check({"exec": {"command": ["sleep", "9"]}}, {}, reach(slow), 1)


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path.strip("/")) if self.headers["X-Ask"] == "yes" else 500)
        self.end_headers()

    def log_message(self, format, *args):
        """Nothing."""


@pytest.fixture
def server():
    """A server that answers with the status that its path names."""
    made = http.server.HTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made.server_address[1]
    made.shutdown()
    made.server_close()


@pytest.mark.parametrize(("code", "passes"), [(200, True), (302, True), (399, True), (400, False), (503, False)])
def test_an_http_probe_passes_from_200_to_399(server, code, passes):
    """With its headers, at a port by its name."""
    container = {"ports": [{"name": "web", "containerPort": server}]}
    action = {"httpGet": {"path": f"/{code}", "port": "web", "httpHeaders": [{"name": "X-Ask", "value": "yes"}]}}
    if passes:
        check(action, container, reach(), 1)
    else:
        with pytest.raises(CheckFailed, match=f"HTTP probe failed with statuscode: {code}"):
            check(action, container, reach(), 1)


def test_a_tcp_probe_passes_where_something_listens(server):
    """And fails where nothing does."""
    check({"tcpSocket": {"port": server}}, {}, reach(), 1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(CheckFailed, match="refused"):
            check({"tcpSocket": {"port": unused.getsockname()[1]}}, {}, reach(), 1)


def test_a_port_without_its_name_is_not_found():
    """A slip of the pen in a probe shows as an event."""
    with pytest.raises(CheckFailed, match="couldn't find port: web"):
        port("web", {})


def test_a_grpc_probe_says_that_it_cannot_be_had():
    """Rather than pass."""
    with pytest.raises(CheckFailed, match="the process kubelet has no grpc"):
        check({"grpc": {"port": 1}}, {}, reach(), 1)
