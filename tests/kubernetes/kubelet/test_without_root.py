"""The same without root, in a user namespace: developers' machines, and CI runners, have no root to give."""

from collections.abc import Iterator

import pytest

from local_kubernetes.api import Api
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.handle import RunningKubelet, process_node, process_pod
from tests.kubernetes.kubelet.looking import log, over, phase
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import kubelet_of, kubelet_options
from tests.kubernetes.kubelet.test_controllers import ALL_REDUCE, job, service, succeeded

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module")
def rootless(control_plane: ControlPlane, programs: Programs) -> Iterator[RunningKubelet]:
    """A kubelet that has no rights on the machine."""
    if reason := why_not(as_user=True):
        pytest.skip(reason)
    options = kubelet_options(programs("kubernetes", "kubelet-streams"), control_plane.folder)
    with kubelet_of(control_plane, [process_node(0), process_node(1)], *options, as_user=True) as running:
        yield running


@pytest.mark.usefixtures("rootless")
def test_pods_talk_over_their_names(api: Api, namespace: str):
    """Networks of pods are made in the user namespace."""
    api.create(service("pair", namespace, 29500)).ok()
    item = job("pair", namespace, 2, ALL_REDUCE)
    api.create(item).ok()
    assert succeeded(api, item)["succeeded"] == 2


@pytest.mark.usefixtures("rootless")
def test_what_a_container_writes_stays_in_it(api: Api, namespace: str):
    """Anywhere: the machine's files are copied on write here too."""
    pod = process_pod(
        "writes", namespace, "echo 1 > /etc/trn-oops && mkdir /opt/trn-oops && hostname && df --output=fstype /dev/shm | tail -1"
    )
    api.create(pod).ok()
    over(api, pod)
    assert log(api, pod).split() == ["writes", "tmpfs"]


def test_exec_and_a_new_kubelet(rootless: RunningKubelet, control_plane: ControlPlane, api: Api, namespace: str):
    """The kubelet that is started again joins the user namespace in which its pods run."""
    pod = process_pod("stays", namespace, "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.1; done")
    api.create(pod).ok()
    running = rootless.process_of(phase(api, pod, "Running"), "main")
    rootless.kill()
    rootless.start()
    assert running.alive
    assert control_plane.kubectl("exec", "stays", "-n", namespace, "--", "hostname") == "stays\n"
    after = process_pod("after", namespace, "echo after")
    api.create(after).ok()
    assert over(api, after)["status"]["phase"] == "Succeeded"
