"""Probes: when each is run, what its answers mean together (pure), and how one is tried."""

import http.client
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.kubernetes.kubelet.pods import Object

KINDS = ("startup", "readiness", "liveness")
MOST_MESSAGE_BYTES = 10 * 2**10


@dataclass(frozen=True)
class Timing:
    """A probe's numbers, with Kubernetes's defaults (API reference, Probe)."""

    initial_delay_s: float = 0
    period_s: float = 10
    timeout_s: float = 1
    success_count: int = 1
    failure_count: int = 3


@dataclass(frozen=True)
class Verdict:
    """What a probe has said so far: holds or not, and how many answers in a row were otherwise."""

    holds: bool
    """Before the first answer: false for startup and readiness, true for liveness."""
    run: int = 0
    last: bool | None = None

    def after(self, passed: bool, timing: Timing) -> "Verdict":
        """With one more answer: it changes only after as many equal answers in a row as the probe asks for."""
        run = self.run + 1 if passed == self.last else 1
        enough = timing.success_count if passed else timing.failure_count
        return replace(self, holds=passed if run >= enough else self.holds, run=run, last=passed)


def timing(probe: Object) -> Timing:
    """A probe's numbers from its object."""
    return Timing(
        probe.get("initialDelaySeconds") or 0,
        probe.get("periodSeconds") or 10,
        probe.get("timeoutSeconds") or 1,
        probe.get("successThreshold") or 1,
        probe.get("failureThreshold") or 3,
    )


def first_verdict(kind: str) -> Verdict:
    """Before any answer."""
    return Verdict(kind == "liveness")


class CheckFailed(Exception):
    """The check answered no, in the words of the kubelet's event."""


@dataclass(frozen=True)
class Reach:
    """How a container can be reached from here."""

    address: str
    run: Callable[[list[str], float], tuple[int, str]]
    """Run a command inside the container for at most so many seconds; gives exit code and output. Raises subprocess.TimeoutExpired."""
    connect: Callable[[str, int, float], Any]
    """A TCP connection (socket) to an address and port from the pods' network. Raises OSError."""


def check(action: Object, container: Object, reach: Reach, timeout_s: float) -> None:
    """Try `exec`, `httpGet` or `tcpSocket` once; returns where it passes. Raises CheckFailed."""
    try:
        if "exec" in action:
            _exec(action["exec"]["command"], reach, timeout_s)
        elif "httpGet" in action:
            _http(action["httpGet"], container, reach, timeout_s)
        elif "tcpSocket" in action:
            wanted = action["tcpSocket"]
            reach.connect(wanted.get("host") or reach.address, port(wanted["port"], container), timeout_s).close()
        elif "sleep" not in action:
            raise CheckFailed(f"the process kubelet has no {', '.join(set(action) & {'grpc'}) or 'such check'}")
    except (OSError, http.client.HTTPException) as error:
        raise CheckFailed(str(error)) from error


def port(wanted: int | str, container: Object) -> int:
    """A port by number, or by the name that the container gives it. Raises CheckFailed."""
    if isinstance(wanted, int) or wanted.isdigit():
        return int(wanted)
    for each in container.get("ports") or ():
        if each.get("name") == wanted:
            return each["containerPort"]
    raise CheckFailed(f"couldn't find port: {wanted}")


def _exec(command: list[str], reach: Reach, timeout_s: float) -> None:
    try:
        code, output = reach.run(command, timeout_s)
    except subprocess.TimeoutExpired as error:
        raise CheckFailed(f"command timed out: {' '.join(command)!r} timed out after {timeout_s:g}s") from error
    if code:
        raise CheckFailed(output[:MOST_MESSAGE_BYTES] or f"command exited with {code}")


def _http(wanted: Object, container: Object, reach: Reach, timeout_s: float) -> None:
    """Any answer from 200 to 399 passes; certificates are not verified (Kubernetes documentation, Configure probes, HTTP probes)."""
    host, number = wanted.get("host") or reach.address, port(wanted["port"], container)
    connection = http.client.HTTPConnection(host, number, timeout=timeout_s)
    connection.sock = reach.connect(host, number, timeout_s)
    if wanted.get("scheme") == "HTTPS":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection.sock = context.wrap_socket(connection.sock)
    try:
        headers = {each["name"]: each["value"] for each in wanted.get("httpHeaders") or ()}
        connection.request("GET", wanted.get("path") or "/", headers={"User-Agent": "kube-probe/process", "Accept": "*/*"} | headers)
        code = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= code < 400:
        raise CheckFailed(f"HTTP probe failed with statuscode: {code}")
