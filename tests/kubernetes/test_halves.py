"""A simulated account whose Kubernetes half is a real API server: what AWS looks for there is what is really there."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.half import Half
from local_kubernetes.running import Cluster
from simulator.account import kinds
from simulator.account.rules.batch import environment_finds_its_namespace
from tests.simulator.account.standing import extra, standing

pytestmark = pytest.mark.kubernetes


@pytest.mark.parametrize("is_there", [True, False])
def test_batch_finds_its_namespace_on_the_api_server(control_plane: ControlPlane, namespace: str, is_there: bool):
    """Whoever made it: the account's own record knows only what the program made, and refused an environment over any other namespace."""
    state = standing().state
    over: dict[str, Any] = {"eksClusterArn": "arn", "kubernetesNamespace": namespace if is_there else "none-of-this-name"}
    environment = extra(kinds.COMPUTE_ENVIRONMENT, "batch", {"name": "batch", "eksConfiguration": over})
    assert environment_finds_its_namespace.check(state, environment) is not None
    Half(cast(Cluster, SimpleNamespace(api=control_plane.api))).look(state, environment)
    refusal = environment_finds_its_namespace.check(state, environment)
    assert (refusal is None) is is_there, refusal
