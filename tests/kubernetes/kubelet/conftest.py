"""Two fake nodes whose pods run as processes, for the tests of one module."""

from collections.abc import Iterable, Iterator

import pytest

from tests.kubernetes.api import Api, Object, wait
from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.kubelet import namespaces
from tests.kubernetes.kubelet.handle import RunningKubelet, process_node
from tests.kubernetes.nodes import ready

NODE_COUNT = 2
BACK_OFF_S = "0.5"
"""Instead of the kubelet's 10 s: a test waits for it."""


def joined(api: Api, items: Iterable[Object]) -> None:
    """Make nodes with their status."""
    for item in items:
        api.create({key: value for key, value in item.items() if key != "status"}).ok()
        api.merge(item, {"status": item["status"]}, status=True).ok()


@pytest.fixture(scope="module")
def kubelet(control_plane: ControlPlane) -> Iterator[RunningKubelet]:
    """A kubelet process with two nodes; both, and every pod on them, are gone after the module's tests."""
    if reason := namespaces.why_not():
        pytest.skip(reason)
    api = control_plane.api()
    items = [process_node(number) for number in range(NODE_COUNT)]
    joined(api, items)
    running = RunningKubelet(control_plane.kubeconfig, control_plane.folder / "kubelet", "--back-off-s", BACK_OFF_S)
    wait(lambda: {item["metadata"]["name"] for item in items} <= set(ready(api)), "the nodes are ready")
    yield running
    for item in items:
        api.delete(item)
    running.close()
