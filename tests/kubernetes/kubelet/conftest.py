"""Two fake nodes whose pods run as processes, for the tests of one module."""

from collections.abc import Iterator

import pytest

from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes.conftest import Programs
from tests.kubernetes.kubelet.handle import RunningKubelet, process_node
from tests.kubernetes.kubelet.permission import why_not
from tests.kubernetes.kubelet.session import kubelet_of, kubelet_options


@pytest.fixture(scope="module")
def kubelet(control_plane: ControlPlane, programs: Programs) -> Iterator[RunningKubelet]:
    """A kubelet process with two nodes; both, and every pod on them, are gone after the module's tests."""
    if reason := why_not():
        pytest.skip(reason)
    options = kubelet_options(programs("kubernetes", "kubelet-streams"), control_plane.folder)
    with kubelet_of(control_plane, [process_node(0), process_node(1)], *options) as running:
        yield running
