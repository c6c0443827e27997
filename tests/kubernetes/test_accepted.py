"""Every object of every configuration, set and switch is accepted by a real API server with the pinned kinds."""

import json
from typing import Any

import pytest

from addons.registry import SWITCHED
from local_kubernetes.api import Api, Object
from tests.addons.test_custom_resources import BASES, REFUSALS, patched
from tests.addons.test_kubernetes_objects import CONFIGURATIONS
from tests.kubernetes.stack import objects, recording_of
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.test_addons import alone

pytestmark = pytest.mark.kubernetes


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
