"""Every object that the program sends is accepted by a real API server, in the graph's order, and goes again in the reverse."""

import json
from typing import Any

import pytest

from addons.registry import SWITCHED
from operations.local_kubernetes.api import Api, Object, settled, wait
from tests.addons.test_custom_resources import BASES, REFUSALS, patched
from tests.addons.test_kubernetes_objects import CONFIGURATIONS
from tests.kubernetes import crds
from tests.kubernetes.stack import Deployed, objects
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.test_addons import alone, recorded
from tests.support import dev_configuration, merged, record_stack

pytestmark = pytest.mark.kubernetes
GIVEN_BY_KUBERNETES = {"default", "kube-system", "kube-public", "kube-node-lease"}


@pytest.fixture
def empty(api: Api) -> Api:
    """The session's API server with no kind that a chart brings."""
    crds.remove_all(api)
    settled(api)
    return api


def recording_of(name: str) -> Any:
    """A named configuration, recorded."""
    if name in ALTERNATIVES:
        return recorded(name)
    return record_stack(merged(dev_configuration(), **CONFIGURATIONS[name]))


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


def unique_objects() -> dict[str, Object]:
    """Every different object of every configuration, set and switch, by its text."""
    recordings = [recording_of(name) for name in (*CONFIGURATIONS, *ALTERNATIVES)]
    recordings += [alone(key, on=True) for key in SWITCHED]
    return {json.dumps(item, sort_keys=True): item for recording in recordings for item in objects(recording)}


def test_every_object_of_every_switch_is_accepted(with_kinds: Api):
    """Strictly: a field that the server does not know is refused, and so is what the real CRDs' own rules refuse."""
    items = unique_objects().values()
    namespaces = [item for item in items if item["kind"] == "Namespace"]
    for item in namespaces:
        with_kinds.apply(item).ok()
    refused = []
    for item in items:
        if item["kind"] == "Namespace":
            continue
        answer = with_kinds.apply(item, dry_run=True)
        if answer.status >= 300:
            refused.append(f"{item['kind']} {item['metadata']['name']}: {answer.message}")
    for item in namespaces:
        with_kinds.delete(item)
    assert refused == []
    # Most objects are the same wherever they are.
    assert len(items) > 80


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: f"{refusal['kind'].split()[1]}: {refusal['case']}")
def test_our_check_of_custom_resources_agrees_with_the_api_server(with_kinds: Api, refusal: dict[str, Any]):
    """The short schemas of the fast tests were written from these answers; the pinned CRDs give them still."""
    api_version, kind = refusal["kind"].split()
    spec = patched(BASES[refusal["kind"], refusal.get("base", "")], refusal["patch"])
    answer = with_kinds.call(
        "POST", with_kinds.path({"apiVersion": api_version, "kind": kind, "metadata": {"namespace": "default"}}),
        {"apiVersion": api_version, "kind": kind, "metadata": {"name": "broken"}, "spec": spec},
        fieldValidation="Strict", dryRun="All",
    )  # fmt: skip
    assert (answer.status >= 300) == refusal["refused"], answer.message
