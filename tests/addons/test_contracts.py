"""Every value that a values function sets is a key of the pinned chart, whatever the switches."""

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from addons.contract import load
from addons.declaration import Declaration
from addons.efa.values import efa_values
from addons.neuron import NeuronSettings
from addons.neuron.values import neuron_values
from addons.registry import REGISTRY
from addons.versions import EFA_DEVICE_PLUGIN, NEURON, SUPPORTED_KUBERNETES, VOLCANO, Chart
from addons.volcano import VolcanoSettings
from addons.volcano.values import volcano_values
from facts.charts import Contract, ContractError, contracts
from tests.addons.cases import CASES
from tests.addons.contract_keys import is_open, unknown_keys
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.support import merged, record_stack

CHARTS = tuple({case.chart.name: case.chart for case in CASES.values()}.values())
RELEASE = "kubernetes:helm.sh/v3:Release"
SWITCHES = (False, True)
ALL_VALUES: list[tuple[Chart, dict[str, Any]]] = [
    *(
        (NEURON, neuron_values(NeuronSettings(scheduler_extension=extension, node_problem_detector=detector), minor))
        for minor, extension, detector in product(SUPPORTED_KUBERNETES, SWITCHES, SWITCHES)
    ),
    *((EFA_DEVICE_PLUGIN, efa_values(types)) for types in ((), ("trn1.32xlarge",), ("trn2.48xlarge", "trn1n.32xlarge"))),
    *(
        (VOLCANO, volcano_values(VolcanoSettings(replicas=replicas, image_registry=registry), autoscaled=autoscaled))
        for replicas, registry, autoscaled in product((1, 2, 3), ("docker.io", "mirror.example"), SWITCHES)
    ),
]
"""Values of every chart for all combinations of switches."""


def compared_paths(contract: Contract, values: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of `values`, sections included, that the contract compares; nothing below an open map."""
    for key in values:
        here = (*path, key)
        yield here
        if isinstance(values[key], Mapping) and not is_open(contract, here):
            yield from compared_paths(contract, values[key], here)


def misspelt(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """A copy in which the last key of a path has lost its last letter."""
    key, *rest = path
    if rest:
        return {**values, key: misspelt(values[key], tuple(rest))}
    return {name[:-1] if name == key else name: value for name, value in values.items()}


def is_a_name(contract: Contract, path: tuple[str, ...]) -> bool:
    """Whether the last part is a name of ours, where the chart takes any."""
    for known in (*contract.values, *contract.open):
        parts = known.split(".")
        if len(parts) >= len(path) and parts[len(path) - 1] == "*" and parts[: len(path) - 1] == list(path[:-1]):
            return True
    return False


SLIPS = [
    (case.chart, case.values, path)
    for case in CASES.values()
    for path in compared_paths(load(case.chart), case.values)
    if not is_a_name(load(case.chart), path)
]


@pytest.mark.parametrize(("chart", "values"), ALL_VALUES)
def test_every_value_set_is_a_key_of_the_chart(chart: Chart, values: dict[str, Any]) -> None:
    """Helm takes a key that the chart does not have in silence, and the cluster runs with the default instead."""
    assert unknown_keys(load(chart), values) == []


@pytest.mark.parametrize("case", CASES)
def test_every_case_sets_keys_of_the_chart_only(case: str) -> None:
    """The same for the values of the golden files."""
    assert unknown_keys(load(CASES[case].chart), CASES[case].values) == []


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_every_recorded_release_keeps_its_contract(alternative: str) -> None:
    """What reaches the engine counts, not what a function returned: a component could add values of its own."""
    charts = {chart.name: chart for declaration in REGISTRY for chart in declaration.charts}
    changes = {"addons": {"mirror": "mirror.example"}}
    for release in record_stack(merged(everything(alternative), **changes)).of_type(RELEASE):
        assert unknown_keys(load(charts[release.inputs["name"]]), release.inputs["values"]) == [], release.name


@pytest.mark.parametrize(("chart", "values", "path"), SLIPS)
def test_every_misspelt_key_is_caught(chart: Chart, values: dict[str, Any], path: tuple[str, ...]) -> None:
    """A contract that lets one slip of the pen through proves nothing about the others."""
    assert ".".join(path)[:-1] in unknown_keys(load(chart), misspelt(values, path))


@pytest.mark.parametrize("chart", CHARTS)
def test_a_contract_is_of_the_pinned_version(chart: Chart) -> None:
    """Charts rename values between versions: a contract of another version would vouch for keys that are gone."""
    assert (load(chart).chart, load(chart).version) == (chart.name, chart.version)


def test_a_chart_pinned_anew_is_refused_until_its_contract_is_read() -> None:
    """With a new version the chart's values must be read again; the message names the file."""
    with pytest.raises(ContractError, match=r"volcano is pinned at 9\.9\.9, its contract was written for volcano 1\.15\.0") as refusal:
        load(Chart("volcano", "9.9.9", "volcano"))
    assert "addons/volcano/contracts/volcano.yaml" in refusal.value.hint


def test_a_chart_without_a_contract_is_named_with_the_file_to_write() -> None:
    """The first step of a new add-on that is easily forgotten."""
    with pytest.raises(ContractError, match="podinfo has no contract") as refusal:
        load(Chart("podinfo", "6.9.0", "podinfo"))
    assert "addons/NAME/contracts/podinfo.yaml" in refusal.value.hint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("chart: a\nsource: here\nlatency_s: {}\nvalue: {}\n", "no key `value` is known"),
        ("chart: a\n", "`source` is missing, `latency_s` is missing"),
        ("- a\n", "`chart` is missing"),
        ("chart: [a\n", "is not YAML"),
    ],
)
def test_a_file_that_is_no_contract_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str) -> None:
    """Not with what Python says of a call."""
    file = tmp_path / "addons" / "a" / "contracts" / "a.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    monkeypatch.setattr("facts.charts.ADDONS", tmp_path / "addons")
    with pytest.raises(ContractError, match=says) as refusal:
        contracts.__wrapped__()
    assert "correct addons/a/contracts/a.yaml" in refusal.value.hint


@pytest.mark.parametrize("chart", CHARTS)
def test_no_path_of_a_contract_lies_below_another(chart: Chart) -> None:
    """A path that is value and section at once would let anything below it pass or refuse it all."""
    contract = load(chart)
    paths = [*contract.values, *contract.open]
    assert [(one, other) for one, other in product(paths, paths) if other.startswith(f"{one}.")] == []


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        ({"tolerations": [{"anything": "goes"}]}, []),
        ({"nodeSelector": {"vpc.amazonaws.com/efa.present": "true"}}, []),
        ({"image": {}}, []),
        ({"image": {"tagg": "v1"}}, ["image.tagg"]),
        ({"image": "v1"}, ["image"]),
        ({"nameOverride": {"deep": {"er": 1}}}, ["nameOverride.deep"]),
        ({"tolerance": [], "nodeSelectors": {}}, ["nodeSelectors", "tolerance"]),
    ],
)
def test_open_maps_take_anything_and_nothing_else_does(values: dict[str, Any], unknown: list[str]) -> None:
    """What Kubernetes checks is left to Kubernetes; what only the template reads is compared key by key."""
    assert unknown_keys(load(EFA_DEVICE_PLUGIN), values) == unknown


@pytest.mark.parametrize(
    "declaration", [item for item in REGISTRY if any("CRDs of" in text for text in item.leaves)], ids=lambda item: item.key
)
def test_what_an_add_on_says_it_leaves_are_the_crds_that_stay(declaration: Declaration) -> None:
    """By number and by group: a user deletes by hand what is named, and finds the rest later."""
    (text,) = [text for text in declaration.leaves if "CRDs of" in text]
    named = [contracts()[name] for name in (*(chart.name for chart in declaration.charts), *declaration.managed)]
    stay = [str(crd["name"]) for contract in named for crd in contract.crds if crd["stays"]]
    assert int(text.split()[0]) == len(stay)
    groups = {name.partition(".")[2] for name in stay}
    assert {group for group in groups if group not in text} == set()
