"""Volcano itself, at the pinned version: what its webhook refuses, which queues it lets nobody close, and gangs on whole nodes."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.api import Object, wait
from tests.kubernetes.charts import Helm, nodes_of, pods, release_of
from tests.kubernetes.conftest import Programs
from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.volcano import PROGRAMS, Volcano
from tests.simulator.account.standing import recording

pytestmark = pytest.mark.kubernetes
QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}


@pytest.fixture(scope="module")
def volcano(control_plane: ControlPlane, programs: Programs, _dev_nodes: list[str]) -> Iterator[Volcano]:
    """The dev stack's Volcano."""
    from tests.kubernetes import crds

    crds.remove_all(control_plane.api())
    tools = programs("volcano", "helm")
    made = Volcano(control_plane, Helm(control_plane, tools["helm"]), release_of(recording(), "volcano"), tools)
    made.start()
    probe = queue("probe")
    wait(lambda: made.api.apply(probe).status < 300, "the webhook answers")
    made.api.delete(probe)
    # The scheduler makes these itself.
    wait(lambda: {"default", "root"} <= made.api.names("/apis/scheduling.volcano.sh/v1beta1/queues"), "Volcano's own queues are there")
    yield made
    made.stop()


def queue(name: str, **spec: Any) -> Object:
    """A queue."""
    return {**QUEUE, "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


def test_its_pods_land_on_core_nodes(volcano: Volcano):
    """Neuron nodes are for training."""
    found = [pod for app in PROGRAMS for pod in pods(volcano.api, volcano.namespace, app=app)]
    assert nodes_of(volcano.api, found) == {"core"}
