"""CustomResourceDefinitions come from the pinned modules, each from the one that has its group."""

import pytest

from facts.charts import contracts
from local_kubernetes import crds
from local_kubernetes.sources import CRDS, GROUPS


@pytest.mark.kubernetes
def test_every_group_of_a_module_is_looked_for_in_it():
    """A group that is missing would be made from the contract, though the pinned one is there."""
    there = {name.partition(".")[2]: module for module in CRDS for name in crds._files(module)}
    assert there == dict(GROUPS)


def test_a_kind_without_a_module_is_made_of_its_contract(monkeypatch: pytest.MonkeyPatch):
    """With any `spec`; its group, kind and plural are the contract's."""
    monkeypatch.setattr(crds, "folder", lambda module: pytest.fail(f"{module} is not needed"))
    (item,) = [crd for crd in crds.of_chart("kuberay-operator") if crd["metadata"]["name"] == "rayjobs.ray.io"]
    assert contracts()["kuberay-operator"].crds
    assert (item["spec"]["group"], item["spec"]["names"]["kind"], item["spec"]["names"]["plural"]) == ("ray.io", "RayJob", "rayjobs")
