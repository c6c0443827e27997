"""The ends of a container's life: the hook after its start, the hook before its stop, SIGTERM, and SIGKILL after the grace."""

import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from tests.kubernetes.kubelet.attempts import Attempt
from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.probes import CheckFailed, Reach, check
from tests.kubernetes.kubelet.processes import pidfd

AFTER_HOOK_S = 2.0
"""A container has at least so long between SIGTERM and SIGKILL, also where its preStop hook took all the time."""
HOOK_S = 60.0
"""A postStart hook that takes longer has failed."""
Say = Callable[[str, str, str], None]
"""Kind, reason and message of an event."""


def after_start(spec: Object, attempt: Attempt, reach: Reach, say: Say) -> None:
    """Run the postStart hook; a container whose hook fails is killed (Kubernetes documentation, Container Lifecycle Hooks)."""
    hook = (spec.get("lifecycle") or {}).get("postStart")
    if not hook:
        return
    try:
        _run(hook, spec, reach, HOOK_S)
    except CheckFailed as error:
        say("Warning", "FailedPostStartHook", f"PostStartHook failed: {error}")
        attempt.kill()


def terminate(spec: Object, attempt: Attempt, reach: Reach, grace_s: float, say: Say) -> None:
    """End a container as its pod's grace allows; returns when it has ended."""
    until = time.monotonic() + grace_s
    hook = (spec.get("lifecycle") or {}).get("preStop")
    if hook and grace_s > 0:
        try:
            _run(hook, spec, reach, grace_s)
        except CheckFailed as error:
            say("Warning", "FailedPreStopHook", f"PreStopHook failed: {error}")
        until = max(until, time.monotonic() + AFTER_HOOK_S)
    if grace_s > 0:
        attempt.signal(_stop_signal(spec))
        if gone_within(attempt, until - time.monotonic()):
            return
    attempt.kill()


def gone_within(attempt: Attempt, seconds: float) -> bool:
    """Wait for its end at most so long; True when it has ended."""
    descriptor = pidfd(attempt.shim)
    if descriptor is None:
        return True
    with open(descriptor, "rb", buffering=0):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(0.0, seconds) * 1000))


def _run(hook: Object, spec: Object, reach: Reach, limit_s: float) -> None:
    if "sleep" in hook:
        time.sleep(min(hook["sleep"]["seconds"], limit_s))
    else:
        check(hook, spec, reach, limit_s)


def _stop_signal(spec: Object) -> int:
    name = (spec.get("lifecycle") or {}).get("stopSignal") or "SIGTERM"
    with suppress(KeyError):
        return signal.Signals[name]
    return signal.SIGTERM
