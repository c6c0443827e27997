"""Definitions of custom kinds, as the tests make them come and go."""

import pytest

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.crds import PATH
from tests.kubernetes import crds

pytestmark = pytest.mark.kubernetes


def is_established(item: Object) -> bool:
    """Whether the server takes objects of the kind."""
    # A definition that was just made has conditions, and they are null.
    return any(entry["type"] == "Established" and entry["status"] == "True" for entry in (item.get("status") or {}).get("conditions") or ())


def test_a_kind_that_was_listed_goes_at_the_first_attempt(control_plane: ControlPlane, api: Api):
    """`helm uninstall --wait` hung for minutes where the deletion itself was the first to ask for the kind's store."""
    items = [item for item in crds.of_chart("cert-manager") if item["metadata"]["name"] not in api.names(PATH)]
    for item in items:
        api.create(item).ok()
    for item in items:
        wait(lambda item=item: is_established(api.get(item).ok()), f"{item['metadata']['name']} is established")
    crds.open_stores(api)
    for item in items:
        api.delete(item, foreground=False).ok()
    wait(lambda: not any(api.exists(item) for item in items), "they are gone")
    said = [line for line in control_plane.processes.log("kube-apiserver").splitlines() if "failed with: storage is" in line]
    assert [line for line in said if any(item["metadata"]["name"] in line for item in items)] == []
