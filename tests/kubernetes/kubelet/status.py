"""A pod's status in the API from the records of its containers: phase, container statuses, conditions. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.kubernetes.kubelet.conditions import conditions
from tests.kubernetes.kubelet.lifecycle import Ending
from tests.kubernetes.kubelet.pods import Object, containers, restart_policy
from tests.kubernetes.kubelet.records import ContainerRecord, Records, Running, Terminated, Waiting
from tests.kubernetes.kubelet.times import as_text


@dataclass(frozen=True)
class Place:
    """Where the pod is."""

    host_ip: str
    pod_ip: str | None
    started_at_s: float
    """When its node took it."""


def phase(records: Records, policy: str, over: bool = False) -> str:
    """The phase that containers give (kubernetes/kubernetes:pkg/kubelet/kubelet_pods.go, getPhase).

    `over`: nothing will be started any more, so that even with policy Always the pod is Succeeded or Failed.
    """
    mains = [each for each in records.values() if each.kind == "main"]
    early = [each for each in records.values() if each.kind == "init"]
    if over:
        clean = all(each.ended is not None and each.ended.exit_code == 0 for each in [*early, *mains])
        return "Succeeded" if clean else "Failed"
    if any(each.ended is not None and each.ended.exit_code != 0 and each.policy == "Never" for each in early):
        return "Pending" if any(each.runs for each in records.values()) else "Failed"
    if not all(isinstance(each.state, Terminated) and each.state.exit_code == 0 for each in early):
        return "Pending"
    if any(not each.started and each.restarts == 0 and each.ended is None for each in records.values() if each.kind == "sidecar"):
        return "Pending"
    if any(not each.runs and each.ended is None for each in mains):
        return "Pending"
    ends = [each.ended for each in mains if each.ended is not None]
    if len(ends) < len(mains) or policy == "Always" or any(each.runs for each in records.values()):
        return "Running"
    if all(end.exit_code == 0 for end in ends):
        return "Succeeded"
    return "Failed" if policy == "Never" else "Running"


def pod_status(pod: Object, records: Records, place: Place, now_s: float, ending: Ending | None = None, over: bool = False) -> Object:
    """What the node writes to the pod's `status`, as a strategic merge patch."""
    reached = (ending.phase if ending and over else None) or phase(records, restart_policy(pod), over)
    images = {container["name"]: container["image"] for _, container in containers(pod)}
    status: Object = {
        "phase": reached,
        "conditions": conditions(pod, records, reached, place.pod_ip is not None, now_s),
        "startTime": as_text(place.started_at_s),
        "hostIP": place.host_ip,
        "hostIPs": [{"ip": place.host_ip}],
        "containerStatuses": [_container(each, images) for each in records.values() if each.kind == "main"],
        "initContainerStatuses": [_container(each, images) for each in records.values() if each.kind != "main"],
        "reason": ending.reason or None if ending and over else None,
        "message": ending.message or None if ending and over else None,
        "observedGeneration": pod["metadata"].get("generation"),
    }
    if place.pod_ip:
        status |= {"podIP": place.pod_ip, "podIPs": [{"ip": place.pod_ip}]}
    return status


def _container(record: ContainerRecord, images: Mapping[str, str]) -> Object:
    return {
        "name": record.name,
        "image": images[record.name],
        "imageID": f"process/{images[record.name]}" if record.container_id else "",
        "containerID": f"process://{record.container_id}" if record.container_id else None,
        "restartCount": record.restarts,
        "started": record.started,
        "ready": record.ready or (record.kind == "init" and isinstance(record.state, Terminated) and record.state.exit_code == 0),
        "state": _state(record.state),
        "lastState": _state(record.last) if record.last else {},
    }


def _state(state: Waiting | Running | Terminated) -> Object:
    if isinstance(state, Waiting):
        return {"waiting": {"reason": state.reason} | ({"message": state.message} if state.message else {})}
    if isinstance(state, Running):
        return {"running": {"startedAt": as_text(state.started_at_s)}}
    return {
        "terminated": {
            "exitCode": state.exit_code,
            "reason": state.reason or ("Completed" if state.exit_code == 0 else "Error"),
            "startedAt": as_text(state.started_at_s),
            "finishedAt": as_text(state.finished_at_s),
        }
        | ({"message": state.message} if state.message else {})
    }
