"""Ends of the kubelet itself: killed and started again while pods run, and gone with everything when the test run is killed."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet.attempts import ROOT
from tests.kubernetes.kubelet.handle import RunningKubelet, process_node, process_pod, selector
from tests.kubernetes.kubelet.looking import log, over, phase, status_of
from tests.kubernetes.kubelet.session import joined

pytestmark = pytest.mark.kubernetes

OTHER = "trn.test/kubelet=doomed"
CRASH = """
import os, sys
from pathlib import Path
from tests.kubernetes.kubelet.handle import RunningKubelet
running = RunningKubelet(Path(sys.argv[1]), Path(sys.argv[2]), "--label", sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
if sys.argv[4] == "both":
    running.kill()
os.kill(os.getpid(), 9)
"""


def test_a_kubelet_that_is_started_again_finds_its_pods(kubelet: RunningKubelet, api: Api, namespace: str):
    """The same process runs on; its end, also one that came meanwhile, is seen; its log goes on."""
    script = "echo before; while [ ! -f /data/go ]; do sleep 0.1; done; echo after; exit 3"
    mount = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    pods = [
        process_pod(name, namespace, script, container=mount, volumes=[{"name": "data", "emptyDir": {}}]) for name in ("now", "meanwhile")
    ]
    for pod in pods:
        api.create(pod).ok()
    running = [phase(api, pod, "Running") for pod in pods]
    before = [kubelet.process_of(pod, "main") for pod in running]
    kubelet.kill()
    go = [kubelet.folder / "pods" / pod["metadata"]["uid"] / "volumes/data/go" for pod in running]
    go[1].touch()
    wait(lambda: not before[1].alive, "one ends while no kubelet is there")
    kubelet.start()
    assert before[0].alive
    go[0].touch()
    for pod in pods:
        found = status_of(over(api, pod))
        assert (found["state"]["terminated"]["exitCode"], found["restartCount"]) == (3, 0)
        assert log(api, pod) == "before\nafter\n"


@pytest.mark.parametrize("killed", ["test", "both"])
def test_nothing_outlives_a_test_run_that_is_killed(
    killed: str, kubelet: RunningKubelet, control_plane: ControlPlane, api: Api, namespace: str
):
    """No process and no file, also where the kubelet was killed just before."""
    node = process_node(9, OTHER)
    joined(api, [node])
    folder = control_plane.folder / "doomed"
    arguments = [str(control_plane.kubeconfig), str(folder), OTHER, killed]
    running = subprocess.Popen(
        [sys.executable, "-c", CRASH, *arguments], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdin is not None
    with running.stdout, running.stdin:
        assert running.stdout.readline() == "ready\n"
        pod = process_pod("child", namespace, "sleep 1000 & sleep 1000", nodeSelector=selector(OTHER))
        api.create(pod).ok()
        phase(api, pod, "Running")
        assert len(working_in(folder)) >= 3, "kubelet, shim, sandbox"
        running.stdin.write("now\n")
    assert running.wait() == -signal.SIGKILL
    wait(lambda: not folder.exists(), "the folder is removed")
    wait(lambda: working_in(folder) == [], "no process is left")
    api.delete(pod, grace_s=0)
    api.delete(node)


def working_in(folder: Path) -> list[str]:
    """Command lines of processes that name the folder, and of those inside its containers."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            mounts = (process / "mounts").read_text()
        except OSError:
            continue
        if str(folder) in words or f"upperdir={folder}/" in mounts or f" {folder}/" in mounts:
            found.append(words)
    return found
