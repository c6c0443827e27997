"""Pods of fake nodes that run as processes, under a real API server: ends, restarts, logs, environment, volumes, images."""

import os
import time
from collections.abc import Iterator

import pytest

from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet.handle import RunningKubelet, process_pod
from tests.kubernetes.kubelet.looking import container, history, log, over, phase, status_of
from tests.kubernetes.kubelet.session import bound_claim, bring_back, lose

pytestmark = [pytest.mark.kubernetes, pytest.mark.usefixtures("kubelet")]


@pytest.fixture
def claim(api: Api, namespace: str) -> Iterator[str]:
    """A claim that is bound to a volume of its own, as the scheduler wants it; gives its name."""
    volume, _ = bound_claim(api, namespace, "shared")
    yield "shared"
    api.delete(volume)


def test_a_pod_runs_and_its_log_is_served(api: Api, namespace: str):
    """Through the API server, which dials the node's own endpoint."""
    pod = process_pod("hello", namespace, "echo one; echo two >&2; sleep 0.2; echo three")
    api.create(pod).ok()
    assert over(api, pod)["status"]["phase"] == "Succeeded"
    assert sorted(log(api, pod).split()) == ["one", "three", "two"]
    assert log(api, pod, tailLines="1").split() == ["three"]


def test_a_log_is_followed_to_its_end(control_plane: ControlPlane, api: Api, namespace: str):
    """`kubectl logs --follow` prints what comes later, and returns when the container has ended."""
    pod = process_pod("slow", namespace, "for n in 1 2 3; do echo line $n; sleep 0.3; done")
    api.create(pod).ok()
    phase(api, pod, "Running", "Succeeded")
    said = control_plane.kubectl("logs", "--follow", "--timestamps", "slow", "-n", namespace)
    assert [line.partition(" ")[2] for line in said.splitlines()] == ["line 1", "line 2", "line 3"]


def test_an_exit_code_is_in_the_status(api: Api, namespace: str):
    """With reason, message and times as a kubelet gives them."""
    pod = process_pod("fails", namespace, "echo no device > /dev/termination-log; exit 42")
    api.create(pod).ok()
    found = over(api, pod)
    ended = status_of(found)["state"]["terminated"]
    assert found["status"]["phase"] == "Failed"
    assert (ended["exitCode"], ended["reason"], ended["message"]) == (42, "Error", "no device\n")
    assert ended["startedAt"] <= ended["finishedAt"]


def test_a_killed_worker_is_a_failed_container(kubelet: RunningKubelet, api: Api, namespace: str):
    """SIGKILL from outside is exit code 137, as the out-of-memory killer's is."""
    pod = process_pod("killed", namespace, "sleep 60 & wait")
    api.create(pod).ok()
    running = phase(api, pod, "Running")
    kubelet.process_of(running, "main").kill()
    assert status_of(over(api, pod))["state"]["terminated"]["exitCode"] == 137


def test_a_crash_is_restarted_after_a_back_off(api: Api, namespace: str):
    """At once the first time, then later and later; meanwhile it waits in CrashLoopBackOff, and the end before is kept."""
    script = 'echo try >> /kept/tries; [ "$(wc -l < /kept/tries)" -ge 3 ] || exit 7'
    mount = {"volumeMounts": [{"name": "kept", "mountPath": "/kept"}]}
    pod = process_pod("crashes", namespace, script, restartPolicy="OnFailure", container=mount, volumes=[{"name": "kept", "emptyDir": {}}])
    created = api.create(pod).ok()
    found = over(api, pod)
    statuses = [status_of(each) for each in history(api, created) if each["status"].get("containerStatuses")]
    (waits, *_) = [each for each in statuses if "waiting" in each["state"] and each["restartCount"] == 1]
    assert waits["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert waits["lastState"]["terminated"]["exitCode"] == 7
    assert (found["status"]["phase"], status_of(found)["restartCount"]) == ("Succeeded", 2)


def test_a_worker_that_is_deleted_has_time_for_a_checkpoint(api: Api, namespace: str, claim: str):
    """Its preStop hook, then SIGTERM, which it catches; what it wrote to its claim is there for the next pod."""
    script = "trap 'echo checkpoint >> /claim/saved; exit 0' TERM; echo ready; while :; do sleep 0.1; done"
    mount = {"volumeMounts": [{"name": "claim", "mountPath": "/claim"}]}
    hook = {"lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", "echo hook > /claim/saved"]}}}}
    volumes = [{"name": "claim", "persistentVolumeClaim": {"claimName": claim}}]
    pod = process_pod("worker", namespace, script, container=mount | hook, volumes=volumes)
    api.create(pod).ok()
    wait(lambda: phase(api, pod, "Running") and "ready" in log(api, pod), "it runs")
    api.delete(pod)
    wait(lambda: not api.exists(pod), "it is gone")
    reader = process_pod("reader", namespace, "cat /claim/saved", container=mount, volumes=volumes)
    api.create(reader).ok()
    over(api, reader)
    assert log(api, reader) == "hook\ncheckpoint\n"


def test_one_that_ignores_sigterm_is_killed_after_its_grace(api: Api, namespace: str):
    """The first process of a container has no default for SIGTERM: without a handler it gets the whole grace, here as in a container."""
    pod = process_pod("deaf", namespace, "sleep 100 & wait", terminationGracePeriodSeconds=1)
    api.create(pod).ok()
    phase(api, pod, "Running")
    begun = time.monotonic()
    api.delete(pod)
    wait(lambda: not api.exists(pod), "it is gone")
    assert 0.9 < time.monotonic() - begun < 10


def test_a_pod_is_active_for_no_longer_than_it_may(api: Api, namespace: str):
    """activeDeadlineSeconds ends it with a reason of its own."""
    pod = process_pod("long", namespace, "trap 'exit 0' TERM; while :; do sleep 0.1; done", activeDeadlineSeconds=1)
    api.create(pod).ok()
    found = over(api, pod)["status"]
    assert (found["phase"], found["reason"]) == ("Failed", "DeadlineExceeded")


def test_an_image_that_is_not_in_the_table_is_not_pulled(api: Api, namespace: str):
    """ErrImagePull first, then ImagePullBackOff, while the pod stays Pending."""
    pod = process_pod("nothing", namespace, "true", image="registry.example/none:1")
    api.create(pod).ok()
    first = container(api, pod, lambda each: each["state"].get("waiting", {}).get("reason") == "ErrImagePull", "it says so")
    assert "registry.example/none:1: not found" in first["state"]["waiting"]["message"]
    container(api, pod, lambda each: each["state"]["waiting"]["reason"] == "ImagePullBackOff", "it backs off")
    assert api.get(pod).ok()["status"]["phase"] == "Pending"


def test_a_program_that_is_not_there_is_a_start_error(api: Api, namespace: str):
    """Exit code 128, in the words of a container runtime."""
    pod = process_pod("wrong", namespace, "", container={"command": ["torchrum"]})
    api.create(pod).ok()
    ended = status_of(over(api, pod))["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert '"torchrum": executable file not found' in ended["message"]


def test_a_missing_config_map_is_waited_for(api: Api, namespace: str):
    """CreateContainerConfigError until it is there; then the pod runs."""
    given = {"env": [{"name": "STEPS", "valueFrom": {"configMapKeyRef": {"name": "training", "key": "steps"}}}]}
    pod = process_pod("needs", namespace, "echo steps: $STEPS", container=given)
    api.create(pod).ok()
    found = container(api, pod, lambda each: each["state"].get("waiting", {}).get("reason") == "CreateContainerConfigError", "it says so")
    assert found["state"]["waiting"]["message"] == 'configmap "training" not found'
    api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "training", "namespace": namespace}, "data": {"steps": "12"}}
    ).ok()
    over(api, pod)
    assert log(api, pod) == "steps: 12\n"


def test_volumes_are_at_their_paths_and_nothing_reaches_the_machine(api: Api, namespace: str):
    """Files of a ConfigMap, shared memory of the size that was asked for, a folder between containers; the rest is copied on write."""
    api.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "files", "namespace": namespace}, "data": {"train.py": "print(1)"}}
    ).ok()
    script = "cat /code/train.py; echo; df --output=size /dev/shm | tail -1; echo left > /data/left; touch /etc/trn-oops /usr/bin/trn-oops"
    pod = process_pod(
        "mounts",
        namespace,
        "cat /data/left; ls /etc/trn-oops",
        initContainers=[
            {
                "name": "first",
                "image": "busybox",
                "command": ["sh", "-c", script],
                "volumeMounts": [
                    {"name": "code", "mountPath": "/code", "readOnly": True},
                    {"name": "memory", "mountPath": "/dev/shm"},
                    {"name": "data", "mountPath": "/data", "subPath": "inner"},
                ],
            }
        ],
        container={"volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "inner"}]},
        volumes=[
            {"name": "code", "configMap": {"name": "files"}},
            {"name": "memory", "emptyDir": {"medium": "Memory", "sizeLimit": "8Mi"}},
            {"name": "data", "emptyDir": {}},
        ],
    )
    api.create(pod).ok()
    found = over(api, pod)
    assert log(api, pod, container="first").split() == ["print(1)", "8192"]
    assert log(api, pod, container="main").splitlines()[0] == "left"
    assert status_of(found)["state"]["terminated"]["exitCode"] == 2, "the first container's /etc is not the second's"


def test_a_pod_that_wants_a_path_of_the_machine_is_refused(api: Api, namespace: str):
    """hostPath would let a test write to the developer's files: it fails at once, and says why."""
    pod = process_pod("wants", namespace, "true", volumes=[{"name": "host", "hostPath": {"path": "/etc"}}])
    api.create(pod).ok()
    found = over(api, pod)["status"]
    assert (found["phase"], found["reason"]) == ("Failed", "UnsupportedVolume")
    assert "the process kubelet has no hostPath" in found["message"]


def test_a_pod_that_is_deleted_at_once_gets_no_grace(kubelet: RunningKubelet, api: Api, namespace: str):
    """Its object is gone, and soon its processes, also where they were given time before."""
    pod = process_pod("stubborn", namespace, "sleep 100 & wait", terminationGracePeriodSeconds=100)
    api.create(pod).ok()
    process = kubelet.process_of(phase(api, pod, "Running"), "main")
    api.delete(pod)
    wait(lambda: any("Stopping container main" in each for each in api.events(namespace)), "it is asked to end")
    assert process.alive
    api.delete(pod, grace_s=0)
    wait(lambda: not process.alive, "it is gone", patience_s=10)


@pytest.mark.parametrize("host", [True, False])
def test_a_pod_has_a_network_of_its_own_unless_it_wants_the_nodes(host: bool, api: Api, namespace: str):
    """hostNetwork is the machine's; any other pod sees two interfaces, and its address on one."""
    pod = process_pod("net", namespace, "readlink /proc/self/ns/net; echo $(ls /sys/class/net)", hostNetwork=host)
    api.create(pod).ok()
    found = over(api, pod)["status"]
    own, interfaces = log(api, pod).splitlines()
    assert (own == os.readlink("/proc/self/ns/net")) is host
    assert (found["podIP"] == found["hostIP"]) is host
    assert host or interfaces == "eth0 lo"


def test_a_node_that_comes_back_starts_its_pods_again(kubelet: RunningKubelet, api: Api, namespace: str):
    """As after a reboot: what was running was lost, and runs again where its policy says so, with the same address and folder."""
    mount = {"volumeMounts": [{"name": "kept", "mountPath": "/kept"}]}
    script = "echo boot >> /kept/boots; wc -l < /kept/boots; trap 'exit 0' TERM; while :; do sleep 0.1; done"
    pod = process_pod("steady", namespace, script, restartPolicy="Always", container=mount, volumes=[{"name": "kept", "emptyDir": {}}])
    api.create(pod).ok()
    first = phase(api, pod, "Running")
    process, node = kubelet.process_of(first, "main"), first["spec"]["nodeName"]
    # The API server keeps the connection for the next request.
    wait(lambda: log(api, pod), "its log is served")
    lose(api, node)
    wait(lambda: not process.alive, "its process is gone")
    wait(lambda: api.call("GET", f"{api.path(pod)}/steady/log").status == 500, "there is no endpoint to ask")
    bring_back(api, node)
    again = container(api, pod, lambda each: each["restartCount"] == 1 and each["ready"], "it runs again")
    assert again["lastState"]["terminated"]["reason"] == "ContainerStatusUnknown"
    assert api.get(pod).ok()["status"]["podIP"] == first["status"]["podIP"]
    assert wait(lambda: log(api, pod), "it says how often").split() == ["2"]
