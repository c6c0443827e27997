"""A pod's conditions from its containers, with the kubelet's reasons (kubernetes/kubernetes:pkg/kubelet/status/generate.go). Pure."""

from collections.abc import Mapping

from tests.kubernetes.kubelet.pods import Object
from tests.kubernetes.kubelet.records import Records, Terminated
from tests.kubernetes.kubelet.times import as_text

State = tuple[bool, str, str]
"""Holds or not, reason, message."""


def conditions(pod: Object, records: Records, phase: str, has_address: bool, now_s: float) -> list[Object]:
    """The kubelet's five conditions. One that has not changed keeps its time."""
    containers = _containers_ready(records, phase)
    states: dict[str, State] = {
        "PodReadyToStartContainers": (has_address and phase not in ("Succeeded", "Failed"), "", ""),
        "Initialized": _initialized(records, phase),
        "Ready": _ready(pod, containers),
        "ContainersReady": containers,
        "PodScheduled": (True, "", ""),
    }
    before = {each["type"]: each for each in (pod.get("status") or {}).get("conditions") or ()}
    return [_condition(kind, state, before, now_s) for kind, state in states.items()]


def _condition(kind: str, state: State, before: Mapping[str, Object], now_s: float) -> Object:
    holds, reason, message = state
    status = "True" if holds else "False"
    kept = before.get(kind)
    since = kept["lastTransitionTime"] if kept and kept["status"] == status and kept.get("lastTransitionTime") else as_text(now_s)
    # None removes what an earlier state said: conditions are merged by type.
    return {"type": kind, "status": status, "lastTransitionTime": since, "reason": reason or None, "message": message or None}


def _initialized(records: Records, phase: str) -> State:
    if phase == "Succeeded":
        return True, "PodCompleted", ""
    missing = [
        each.name
        for each in records.values()
        if (each.kind == "init" and not (isinstance(each.state, Terminated) and each.state.exit_code == 0))
        or (each.kind == "sidecar" and not each.started and phase == "Pending")
    ]
    return _all(missing, "ContainersNotInitialized", "containers with incomplete status")


def _containers_ready(records: Records, phase: str) -> State:
    if phase == "Succeeded":
        return False, "PodCompleted", ""
    if phase == "Failed":
        return False, "PodFailed", ""
    missing = [each.name for each in records.values() if each.kind != "init" and not each.ready]
    return _all(missing, "ContainersNotReady", "containers with unready status")


def _ready(pod: Object, containers: State) -> State:
    """Its containers are, and every readiness gate is open."""
    if not containers[0]:
        return containers
    given = {each["type"]: each["status"] for each in (pod.get("status") or {}).get("conditions") or ()}
    gates = [each["conditionType"] for each in pod["spec"].get("readinessGates") or ()]
    closed = [gate for gate in gates if given.get(gate) != "True"]
    if not closed:
        return True, "", ""
    return (
        False,
        "ReadinessGatesNotReady",
        "; ".join(f'corresponding condition of pod readiness gate "{gate}" does not exist or is not True.' for gate in closed),
    )


def _all(missing: list[str], reason: str, message: str) -> State:
    return (False, reason, f"{message}: [{' '.join(missing)}]") if missing else (True, "", "")
