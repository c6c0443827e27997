"""Charts installed by Helm itself with the program's values: their pods land on the nodes they are meant for, and nothing waits."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from addons.prometheus.values import SERVICE_MONITORS
from addons.versions import Chart
from facts.charts import Contract, contracts
from local_kubernetes.api import Api, settled, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.crds import PATH, stays
from local_kubernetes.sources import CHARTS, folder
from simulator.recording import Registration
from tests.kubernetes import contract_charts, crds
from tests.kubernetes.charts import Helm, plain, pods
from tests.kubernetes.conftest import Programs
from tests.kubernetes.stack import chart_of
from tests.simulator.account.standing import recording
from tests.stacks.order_laws import RELEASE
from tests.stacks.test_addons import recorded

pytestmark = pytest.mark.kubernetes
SETS = ("everything", "DRA in place of the plug-ins")
"""Sets of add-ons whose charts are installed; what other sets change in them is no other chart."""
AT_HAND: Mapping[str, Chart] = {chart.name: chart for chart in CHARTS}
PARTS = {"jobset": ("sigs.k8s.io/jobset", "charts/jobset")}
"""Charts that are parts of others, and the modules that hold them."""
GROUPS = {"core": {"core"}, "neuron": {"trn1-32xl"}, "all": {"core", "trn1-32xl"}}
"""Node groups of the dev stack that have nodes, by what a contract says that pods are meant for."""


def releases() -> dict[str, Registration]:
    """The release of each chart that makes pods."""
    found = {chart_of(item): item for name in reversed(SETS) for item in recorded(name).of_type(RELEASE)}
    return {chart: item for chart, item in sorted(found.items()) if contract_charts.made_by_kubernetes(contracts()[chart])}


NAMES = sorted(name for name, contract in contracts().items() if not contract.managed and contract_charts.made_by_kubernetes(contract))


@pytest.fixture(scope="module")
def helm(control_plane: ControlPlane, programs: Programs) -> Helm:
    """Helm of the provider's version."""
    return Helm(control_plane, programs("helm")["helm"])


@pytest.fixture
def clean(api: Api, dev_nodes: list[str]) -> Iterator[Api]:
    """The nodes are there, and no kind of another chart."""
    crds.remove_all(api)
    before = api.names("/api/v1/namespaces")
    yield api
    for name in api.names("/api/v1/namespaces") - before:
        api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    crds.remove_all(api)


def prepared(api: Api, contract: Contract, release: Registration) -> None:
    """The namespaces that the program makes before."""
    for pod in contract_charts.made_by_kubernetes(contract):
        namespace = str(pod["object"]).split("/")[1]
        settled(api, namespace)
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}).ok()


def is_made(contract: Contract, release: Registration, pod: Mapping[str, Any]) -> bool:
    """Whether the values switch on what makes these pods."""
    if "when" not in pod:
        return True
    node: Any = {}
    for tree in (contract_charts.defaults(contract), dict(release.inputs.get("values") or {})):
        found: Any = tree
        for key in str(pod["when"]).split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        node = node if found is None else found
    return bool(node)


@pytest.mark.parametrize("name", NAMES)
def test_pods_land_on_the_nodes_they_are_meant_for(helm: Helm, clean: Api, tmp_path: Path, name: str):
    """With the release's own values, by Helm's own waiting, hook Jobs included; and the release goes again without a trace of its pods."""
    if name not in releases():
        pytest.skip(f"no set that is installed here has {name}")
    contract, release = contracts()[name], releases()[name]
    prepared(clean, contract, release)
    helm.install(release, contract_charts.write(contract, tmp_path))
    for pod in contract_charts.made_by_kubernetes(contract):
        kind, namespace, workload = str(pod["object"]).split("/")
        if kind == "Job" or not is_made(contract, release, pod):
            continue
        found = clean.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"app.kubernetes.io/name={workload}")
        if kind != "DaemonSet":
            found = pods(clean, namespace, **{"app.kubernetes.io/name": workload})
        nodes = {
            item["metadata"]["name"]: item["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] for item in clean.items("/api/v1/nodes")
        }
        groups = {nodes[item["spec"]["nodeName"]] for item in found if item["spec"].get("nodeName")}
        # A Deployment of core pods may be on one of the core nodes; what is meant for all nodes is on all.
        assert groups == GROUPS[pod["nodes"]], f"{workload} is on {groups}"
        assert {item["status"]["phase"] for item in found} == {"Running"}
    helm.uninstall(release)
    wait(lambda: not left_of(clean, contract), "its pods are gone")


def left_of(api: Api, contract: Contract) -> list[str]:
    """Pods of a contract chart that are still there."""
    return sorted(api.names(f"/api/v1/pods?labelSelector=app.kubernetes.io%2Finstance%3D{contract.chart}"))


@pytest.mark.parametrize("name", sorted(set(AT_HAND) - {"volcano"}))
def test_a_chart_that_is_at_hand_is_installed_itself(helm: Helm, clean: Api, tmp_path: Path, name: str):
    """The pinned chart, with what it really renders from our values: strict about fields, and with its own waiting. Volcano's has tests of its own."""
    contract, release = contracts()[name], releases()[name]
    helm.install(release, copied(name, tmp_path))
    nodes = {item["metadata"]["name"]: item["metadata"]["labels"]["eks.amazonaws.com/nodegroup"] for item in clean.items("/api/v1/nodes")}
    found = clean.items(f"/api/v1/namespaces/{release.inputs['namespace']}/pods")
    assert {nodes[item["spec"]["nodeName"]] for item in found} == {"core"}
    there = clean.names(PATH)
    assert {str(crd["name"]) for crd in contract.crds} <= there, {str(crd["name"]) for crd in contract.crds} - there
    helm.uninstall(release)
    assert clean.names(PATH) & {str(crd["name"]) for crd in contract.crds} == stays(name)


KARPENTER_MODULE, KARPENTER_CHART = "github.com/aws/karpenter-provider-aws", "charts/karpenter"
"""The templates of the pinned release; the number in its Chart.yaml is set only when the chart is published."""


def services(helm: Helm, name: str, place: str) -> list[dict[str, Any]]:
    """Services that a set's Karpenter brings, by its own chart and the release's values; none where the set has no Karpenter."""
    found = []
    stack = recording() if name == "dev" else recorded(name)
    for release in (item for item in stack.of_type(RELEASE) if chart_of(item) == "karpenter"):
        chart = folder(KARPENTER_MODULE) / KARPENTER_CHART
        values = json.dumps(plain(release.inputs.get("values") or {}))
        text = helm.run("template", "karpenter", str(chart), "--namespace", release.inputs["namespace"], "--values", "-", stdin=values)
        found += [item for item in yaml.safe_load_all(text) if item and item["kind"] == "Service"]
    return [item for item in found if item["metadata"]["namespace"] == place]


@pytest.mark.parametrize(("name", "count"), [("dev", 0), ("everything", 1)])
def test_karpenters_monitor_finds_it_where_it_is_on(helm: Helm, name: str, count: int):
    """By the labels and the port that its own chart gives to its Service. Where Karpenter is off, as on dev, the monitor stands and finds
    nothing, and says nothing of it: switching Karpenter changes no monitor."""
    spec = SERVICE_MONITORS["karpenter"]
    (place,) = spec["namespaceSelector"]["matchNames"]
    wanted, port = spec["selector"]["matchLabels"].items(), spec["endpoints"][0]["port"]
    found = [item for item in services(helm, name, place) if wanted <= item["metadata"]["labels"].items()]
    assert [port in {entry.get("name") for entry in item["spec"]["ports"]} for item in found] == [True] * count


def copied(name: str, place: Path) -> Path:
    """A chart from its module, with those of the charts that it names as its parts that are a Go module's too."""
    module, path = CHARTS[AT_HAND[name]]
    copy = place / name
    _copy(folder(module) / path, copy)
    described = yaml.safe_load((copy / "Chart.yaml").read_text())
    parts = [part for part in described.get("dependencies", ()) if part["name"] in PARTS]
    for part in parts:
        _copy(folder(PARTS[part["name"]][0]) / PARTS[part["name"]][1], copy / "charts" / part["name"])
        part["version"] = yaml.safe_load((copy / "charts" / part["name"] / "Chart.yaml").read_text())["version"]
    (copy / "Chart.yaml").write_text(yaml.safe_dump({**described, "dependencies": parts}))
    return copy


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for inner in (target, *(item for item in target.rglob("*") if item.is_dir())):
        inner.chmod(0o755)
