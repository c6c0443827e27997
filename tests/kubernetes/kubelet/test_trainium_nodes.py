"""Fake Trainium nodes of the dev stack's own shape, whose pods run as processes: what training jobs are shown on."""

from collections.abc import Iterator

import pytest

from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet.handle import RunningKubelet, process_pod
from tests.kubernetes.kubelet.looking import log, over, phase
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import kubelet_of, trainium_nodes
from tests.simulator.account.standing import standing

pytestmark = pytest.mark.kubernetes

WHOLE_NODE = {NEURON_RESOURCE: "16", EFA_RESOURCE: "8"}


@pytest.fixture(scope="module")
def trainium(control_plane: ControlPlane) -> Iterator[RunningKubelet]:
    """A kubelet with the dev stack's two trn1.32xlarge."""
    if reason := why_not():
        pytest.skip(reason)
    with kubelet_of(control_plane, trainium_nodes(standing().state)) as running:
        yield running


@pytest.mark.usefixtures("trainium")
def test_workers_that_ask_for_whole_nodes_run_on_one_each(api: Api, namespace: str):
    """Scheduled by what they ask for, past the taint by EKS's own admission; a third waits until one has ended."""
    count = {"env": [{"name": "CPU_COUNT", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}]}
    resources = {"resources": {"limits": WHOLE_NODE}}
    stays = "trap 'exit 0' TERM; echo cpus: $CPU_COUNT; while :; do sleep 0.1; done"
    pods = [process_pod(f"worker-{number}", namespace, stays, container=resources | count) for number in range(2)]
    third = process_pod("worker-2", namespace, "echo cpus: $CPU_COUNT", container=resources | count)
    for pod in pods:
        api.create(pod).ok()
    nodes = {phase(api, pod, "Running")["spec"]["nodeName"] for pod in pods}
    assert len(nodes) == 2
    api.create(third).ok()
    wait(lambda: any("Insufficient" in said for said in api.events(namespace)), "the third finds no room")
    api.delete(pods[0])
    assert over(api, third)["spec"]["nodeName"] in nodes
    assert log(api, third) == "cpus: 128\n", "without a limit it may have the whole node's"
