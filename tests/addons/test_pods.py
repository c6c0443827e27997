"""Every pod that a chart makes finds a node among those we make: taints, selectors, room."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from addons.contract import load
from addons.slurm.values import GROUP_LABEL
from facts.catalogue import CORE_TYPES, NEURON_TYPES
from facts.charts import Contract
from facts.names import EFA_LABEL, NEURON_TAINT
from simulator.recording import Registration
from tests.addons.cases import CASES
from tests.addons.contract_keys import value_at
from tests.stacks.addon_sets import ALTERNATIVES
from tests.stacks.order_laws import RELEASE
from tests.stacks.test_addons import recorded
from tests.support import dev_configuration, record_stack

EVERY_NODE = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
NEURON_LABELS = {**EVERY_NODE, EFA_LABEL: "true"}
"""Labels that an EFA group's nodes have beside their own."""
SYSTEM_RESERVED_CPU, SYSTEM_RESERVED_GIB = 0.5, 1.5
"""Of each core node, for kubelet and what EKS runs on it; a generous round-up of nodeadm's own reservation."""
UNITS = {"Ki": 2**-20, "Mi": 2**-10, "Gi": 1.0, "Ti": 2.0**10}


def tolerated(tolerations: list[Mapping[str, Any]]) -> bool:
    """Whether pods with these tolerations may run on Neuron nodes."""
    return any(
        item.get("key") in (None, NEURON_TAINT) and item.get("effect") in (None, "NoSchedule") and item.get("operator") == "Exists"
        for item in tolerations
    )


def expanded(values: Mapping[str, Any], path: str) -> list[Any]:
    """What stands at a path whose `*` goes through all keys; nothing is left out."""
    before, star, after = path.partition(".*.")
    if not star:
        found = value_at(values, path)
        return [] if found is None else [found]
    return [item for entry in (value_at(values, before) or {}).values() for item in expanded(entry, after)]


def is_made(contract: Contract, values: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Whether the chart makes the pod with these values; a switch that is not set has its default."""
    given = value_at(values, pod["when"]) if "when" in pod else True
    return bool(contract.values.get(pod["when"]) if given is None else given)


def misfits(values: Mapping[str, Any], pod: Mapping[str, Any]) -> Iterator[str]:
    """Why a pod of a chart with these values would find no node."""
    given = expanded(values, pod["tolerations"]) if "tolerations" in pod else []
    tolerations = [item for entry in given for item in entry] if given else pod.get("tolerates", [])
    if pod["nodes"] in ("neuron", "all") and not tolerated(tolerations):
        yield f"{pod['object']} does not tolerate {NEURON_TAINT}"
    labels = NEURON_LABELS if pod["nodes"] == "neuron" else EVERY_NODE
    for selector in expanded(values, pod["selector"]) if "selector" in pod else []:
        own = {key: value for key, value in selector.items() if key not in ("node.kubernetes.io/instance-type", GROUP_LABEL)}
        if not own.items() <= labels.items():
            yield f"{pod['object']} asks for labels that no node has: {own}"
        if selector.get("node.kubernetes.io/instance-type", "trn1.32xlarge") not in NEURON_TYPES:
            yield f"{pod['object']} asks for an instance type that we do not make"


def cpu(quantity: Any) -> float:
    """CPUs of a quantity."""
    text = str(quantity)
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def gib(quantity: str) -> float:
    """GiB of a quantity."""
    return float(quantity[:-2]) * UNITS[quantity[-2:]]


def requested(release: Registration) -> tuple[float, float]:
    """CPUs and GiB that a release's pods ask for on core nodes, one replica of each."""
    charts = {case.chart.name: case.chart for case in CASES.values()}
    cpus, memory = 0.0, 0.0
    if release.inputs["name"] not in charts:
        return cpus, memory
    values = release.inputs["values"]
    for pod in load(charts[release.inputs["name"]]).pods:
        if pod["nodes"] == "core" and "requests" in pod and is_made(load(charts[release.inputs["name"]]), values, pod):
            for resources in expanded(values, pod["requests"]):
                cpus += cpu(resources["requests"]["cpu"])
                memory += gib(resources["requests"]["memory"])
    return cpus, memory


@pytest.mark.parametrize("case", CASES)
def test_every_pod_of_a_chart_finds_a_node(case: str):
    """A pod that tolerates nothing of ours, or asks for a label of someone else's, waits for ever without an error."""
    chart, values = CASES[case].chart, CASES[case].values
    assert [text for pod in load(chart).pods if is_made(load(chart), values, pod) for text in misfits(values, pod)] == []


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_pod_that_is_really_installed_finds_a_node(alternative: str):
    """The same for what reaches the engine."""
    charts = {case.chart.name: case.chart for case in CASES.values()}
    found = [
        text
        for release in recorded(alternative).of_type(RELEASE)
        if release.inputs["name"] in charts
        for pod in load(charts[release.inputs["name"]]).pods
        if is_made(load(charts[release.inputs["name"]]), release.inputs["values"], pod)
        for text in misfits(release.inputs["values"], pod)
    ]
    assert found == []


@pytest.mark.parametrize("case", CASES)
def test_every_pod_says_what_it_needs(case: str):
    """Without a request it is packed onto a full node and is the first to be evicted."""
    chart, values = CASES[case].chart, CASES[case].values
    for pod in load(chart).pods:
        if "requests" not in pod or not is_made(load(chart), values, pod):
            continue
        default = load(chart).open.get(pod["requests"])
        given = expanded(values, pod["requests"]) or ([default] if isinstance(default, Mapping) and default.get("requests") else [])
        unknown_default = isinstance(default, str)
        assert unknown_default or (given and all({"cpu", "memory"} <= item["requests"].keys() for item in given)), pod["object"]


@pytest.mark.parametrize(
    ("values", "pod", "message"),
    [
        ({}, {"object": "DaemonSet/x", "nodes": "all", "tolerations": "tolerations"}, "does not tolerate"),
        ({"tolerations": []}, {"object": "x", "nodes": "neuron", "tolerations": "tolerations", "tolerates": [{"operator": "Exists"}]}, "not tolerate"),
        ({"tolerations": [{"key": NEURON_TAINT, "operator": "Exists"}]}, {"object": "x", "nodes": "neuron", "tolerations": "tolerations"}, ""),
        ({"at": {"role": "system"}}, {"object": "x", "nodes": "core", "selector": "at"}, "labels that no node has"),
        ({"at": {EFA_LABEL: "true"}}, {"object": "x", "nodes": "core", "selector": "at"}, "labels that no node has"),
        ({"sets": {"a": {"at": {"node.kubernetes.io/instance-type": "p5.48xlarge"}}}}, {"object": "x", "nodes": "core", "selector": "sets.*.at"}, "instance type"),
    ],
)  # fmt: skip
def test_a_pod_without_a_node_is_caught(values: dict[str, Any], pod: dict[str, Any], message: str):
    """A check that lets everything pass would let the cluster wait."""
    found = "\n".join(misfits(values, pod))
    assert message in found
    assert bool(found) == bool(message)


def test_the_shipped_add_ons_fit_on_the_shipped_core_nodes():
    """Two m5.xlarge carry them all, replicas not counted twice; what does not fit would be Pending from the first minute."""
    recording = record_stack(dev_configuration())
    core = dev_configuration()["coreNodes"]
    instance, count = CORE_TYPES[core["instanceType"]], core["desiredSize"]
    sums = [requested(release) for release in recording.of_type(RELEASE)]
    cpus, memory = sum(item[0] for item in sums), sum(item[1] for item in sums)
    assert 0.3 < cpus < count * (instance.vcpu_count - SYSTEM_RESERVED_CPU)
    assert 0.3 < memory < count * (instance.memory_gib - SYSTEM_RESERVED_GIB)
