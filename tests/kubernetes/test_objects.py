"""A whole stack's objects come up on a real API server in the graph's order, and go again in the reverse."""

import pytest

from local_kubernetes.api import Api, settled, wait
from tests.kubernetes import crds
from tests.kubernetes.stack import Deployed, recording_of

pytestmark = pytest.mark.kubernetes
GIVEN_BY_KUBERNETES = {"default", "kube-system", "kube-public", "kube-node-lease"}


@pytest.fixture
def empty(api: Api) -> Api:
    """The session's API server with no kind that a chart brings."""
    crds.remove_all(api)
    settled(api)
    return api


@pytest.mark.parametrize("name", ["dev", "everything"])
def test_a_stack_comes_up_and_goes_again(empty: Api, dev_nodes: list[str], name: str):
    """In the graph's order each kind is known and each namespace there before it is asked for; a second time changes nothing; and in the
    reverse order nothing holds anything: finalizers, claims, webhooks and namespaces included."""
    deployed = Deployed(empty, recording_of(name))
    assert deployed.up() == []
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "fsx-claim", "namespace": "training"}}
    wait(lambda: empty.get(claim).ok()["status"]["phase"] == "Bound", "the claim is bound")
    before = deployed.contents()
    assert deployed.up() == []
    assert deployed.contents() == before
    assert deployed.down() == []
    namespaces = {item["metadata"]["name"] for item in empty.items("/api/v1/namespaces")}
    assert {name for name in namespaces if not name.startswith("test-")} == GIVEN_BY_KUBERNETES
    assert empty.items("/api/v1/persistentvolumes") == []
