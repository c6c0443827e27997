"""The status in the API: conditions, container states, and what a patch removes."""

from dataclasses import replace

from tests.kubernetes.kubelet.environment import MissingReference
from tests.kubernetes.kubelet.images import NotPulled
from tests.kubernetes.kubelet.records import Running, Terminated, Waiting, new_records
from tests.kubernetes.kubelet.setbacks import setback
from tests.kubernetes.kubelet.status import Place, pod_status

PLACE = Place("10.0.3.7", "100.64.0.2", 0.0)


def pod(status=None, **spec):
    """A pod with an init and a main container."""
    both = {"initContainers": [{"name": "i", "image": "x"}], "containers": [{"name": "a", "image": "y"}]}
    return {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": {**both, **spec}, "status": status or {}}


def states(i, a, whole=None, **main):
    """The status of a pod with these states."""
    whole = whole or pod()
    records = new_records(whole)
    records = {"i": replace(records["i"], state=i), "a": replace(records["a"], state=a, **main)}
    return pod_status(whole, records, PLACE, 100.0)


def conditions(status):
    """Status and reason by type."""
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


DONE, RUNS = Terminated(0, 1.0, 2.0), Running(3.0)


def test_a_pod_that_initialises():
    """Nothing is ready, and it says which containers are not."""
    found = states(RUNS, Waiting("PodInitializing"))
    assert found["phase"] == "Pending"
    assert conditions(found)["Initialized"] == ("False", "ContainersNotInitialized")
    assert conditions(found)["Ready"] == ("False", "ContainersNotReady")
    assert [each["message"] for each in found["conditions"] if each["type"] == "ContainersReady"] == ["containers with unready status: [a]"]


def test_a_pod_that_is_ready():
    """With times of both containers."""
    found = states(DONE, RUNS, ready=True, started=True)
    assert {kind: status for kind, (status, _) in conditions(found).items()} == dict.fromkeys(
        ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"), "True"
    )
    assert found["containerStatuses"][0]["state"] == {"running": {"startedAt": "1970-01-01T00:00:03Z"}}
    assert found["initContainerStatuses"][0]["ready"]


def test_a_readiness_gate_keeps_it_from_being_ready():
    """Until its condition, which another writes, is true."""
    gated = pod(readinessGates=[{"conditionType": "lb"}])
    assert conditions(states(DONE, RUNS, gated, ready=True))["Ready"] == ("False", "ReadinessGatesNotReady")
    opened = pod({"conditions": [{"type": "lb", "status": "True"}]}, readinessGates=[{"conditionType": "lb"}])
    assert conditions(states(DONE, RUNS, opened, ready=True))["Ready"] == ("True", None)


def test_a_condition_that_has_not_changed_keeps_its_time():
    """Otherwise every look would be a change for all who watch."""
    before = states(DONE, RUNS, ready=True)
    later = pod_status(pod(before), new_records(pod()), PLACE, 500.0)
    times = {each["type"]: each["lastTransitionTime"] for each in later["conditions"]}
    assert times["PodScheduled"] == "1970-01-01T00:01:40Z"
    assert times["Ready"] == "1970-01-01T00:08:20Z"


def test_a_container_between_two_attempts_says_how_it_ended_before():
    """Waiting now, and the last state kept."""
    records = new_records(pod(restartPolicy="Always"))
    record = replace(records["a"], state=Terminated(7, 1.0, 2.0), restarts=1).waits("CrashLoopBackOff", "back-off")
    found = pod_status(pod(), {"i": replace(records["i"], state=DONE), "a": record}, PLACE, 3.0)
    only = found["containerStatuses"][0]
    assert only["state"] == {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
    assert only["lastState"]["terminated"]["exitCode"] == 7
    assert found["phase"] == "Running"


def test_ends_have_the_usual_reasons():
    """Completed and Error, unless there is another."""
    reasons = [
        states(DONE, Terminated(code, 1.0, 2.0, why))["containerStatuses"][0]["state"]["terminated"]["reason"]
        for code, why in ((0, ""), (1, ""), (128, "StartError"))
    ]
    assert reasons == ["Completed", "Error", "StartError"]


def test_a_pod_without_an_address_has_none_in_its_status():
    """The API server refuses an empty one."""
    found = pod_status(pod(), new_records(pod()), Place("10.0.3.7", None, 0.0), 1.0)
    assert "podIP" not in found
    assert conditions(found)["PodReadyToStartContainers"] == ("False", None)


def test_an_image_is_first_not_pulled_and_then_backed_off_from():
    """As `kubectl get pods` shows it in turn."""
    error = NotPulled("none:1", ["busybox"])
    first = setback(error, Waiting("ContainerCreating"))
    second = setback(error, first.waiting)
    assert (first.waiting.reason, second.waiting.reason) == ("ErrImagePull", "ImagePullBackOff")
    assert second.waiting.message == 'Back-off pulling image "none:1"'


def test_anything_else_that_is_missing_is_a_configuration_error():
    """With what is missing."""
    found = setback(MissingReference('secret "key" not found'), Waiting("ContainerCreating"))
    assert found.waiting == Waiting("CreateContainerConfigError", 'secret "key" not found')


def test_what_the_machine_refuses_is_another_error():
    """A full disk is not the pod's fault."""
    assert setback(OSError(28, "No space left on device"), Waiting("ContainerCreating")).waiting.reason == "CreateContainerError"
