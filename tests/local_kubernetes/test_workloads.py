"""What a chart that is not at hand runs follows from its contract and the release's values."""

import pytest

from facts.charts import contracts
from local_kubernetes.workloads import RUNNING, value_of, workloads

PLUGIN = contracts()["neuron-helm-chart"]


@pytest.mark.parametrize("chart", sorted(contracts()))
def test_every_contract_gives_whole_objects(chart: str):
    """Named, in a namespace, with a selector that its own pods have."""
    for item in workloads(contracts()[chart], "here", {}):
        assert item["kind"] in RUNNING
        assert item["metadata"]["name"]
        assert item["metadata"]["namespace"]
        spec = item["spec"]
        assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()


def test_a_switch_of_the_values_leaves_it_out():
    """As the chart's own templates do."""
    names = {item["metadata"]["name"] for item in workloads(PLUGIN, "kube-system", {})}
    off = {item["metadata"]["name"] for item in workloads(PLUGIN, "kube-system", {"devicePlugin": {"enabled": False}})}
    assert names - off == {"neuron-device-plugin"}


def test_the_release_decides_before_the_chart():
    """Tolerations that are given take the place of the chart's own."""
    given = [{"key": "mine", "operator": "Exists"}]
    items = workloads(PLUGIN, "kube-system", {"devicePlugin": {"tolerations": given}})
    (plugin,) = [item for item in items if item["metadata"]["name"] == "neuron-device-plugin"]
    assert plugin["spec"]["template"]["spec"]["tolerations"] == given


def test_words_in_place_of_a_long_default_are_no_value():
    """Contracts shorten what is long."""
    volcano = contracts()["volcano"]
    assert volcano.values["custom.enabled_admissions"] == "seven webhook paths, shortened"
    assert value_of(volcano, {}, "custom.enabled_admissions") is None


def test_what_runs_on_all_nodes_tolerates_their_taints():
    """The agents of EKS run on Neuron nodes too."""
    (agent,) = [item for item in workloads(contracts()["kube-proxy"], "kube-system", {}) if item["kind"] == "DaemonSet"]
    assert {"operator": "Exists"} in agent["spec"]["template"]["spec"]["tolerations"]
