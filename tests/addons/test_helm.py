"""The pinned charts themselves, rendered with our values: what Kubernetes would be sent, and whether the contracts tell the truth.

Charts come from the folder that TRN_CHARTS names, as `NAME/` or `NAME-VERSION.tgz`, or from Helm's own cache.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from addons.contract import load
from addons.images import mirror_values, overlaid
from addons.versions import SLURM, SLURM_OPERATOR_CRDS, Chart
from facts.names import NEURON_TAINT
from local_kubernetes.crds import Loader
from tests.addons.cases import CASES

pytestmark = pytest.mark.helm

KUBERNETES = "1.35"
MIRROR = "mirror.example/team"
MAKING_PODS = ("DaemonSet", "Deployment", "Job", "StatefulSet")
CONTAINERS = ("containers", "initContainers")
Manifest = dict[str, Any]


def helm(*arguments: str) -> str:
    """What Helm prints; its error fails the test."""
    binary = shutil.which("helm")
    if binary is None:
        pytest.skip("no helm on PATH")
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def places() -> tuple[Path, ...]:
    """Folders in which charts may lie."""
    given = os.environ.get("TRN_CHARTS")
    return (*([Path(given)] if given else []), Path(helm("env", "HELM_REPOSITORY_CACHE").strip()))


def source(chart: Chart) -> Path:
    """Folder or archive of a chart at its pinned version; without one the test is skipped."""
    for place in places():
        archive = place / f"{chart.name}-{chart.version}.tgz"
        if archive.is_file():
            return archive
        described = place / chart.name / "Chart.yaml"
        if described.is_file() and str(yaml.safe_load(described.read_text())["version"]).lstrip("v") == chart.version.lstrip("v"):
            return place / chart.name
    pytest.skip(f"no {chart.name} {chart.version} in TRN_CHARTS or Helm's cache")


@cache
def rendered(case: str, *, mirrored: bool = False) -> tuple[Manifest, ...]:
    """Every object that the chart makes of a case's values, hooks and CRDs included, tests left out."""
    chart, values = CASES[case].chart, CASES[case].values
    path = source(chart)
    given = overlaid(values, mirror_values(load(chart), MIRROR)) if mirrored else values
    flags = ("--include-crds", "--skip-tests", "--kube-version", f"{KUBERNETES}.0", "--api-versions", "monitoring.coreos.com/v1")
    binary = shutil.which("helm")
    assert binary is not None
    command = [binary, "template", chart.name, str(path), "--namespace", "some-namespace", *flags, "--values", "-"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [item for item in yaml.load_all(done.stdout, Loader=Loader) if item]
    return tuple(part for item in found for part in (item["items"] if item["kind"] == "List" else [item]))


def pods(case: str, *, mirrored: bool = False) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Kind and name of everything that makes pods, with the pods' spec."""
    for item in rendered(case, mirrored=mirrored):
        if item["kind"] in MAKING_PODS:
            yield f"{item['kind']}/{item['metadata']['name']}", item["spec"]["template"]["spec"]
        elif item["kind"] == "CronJob":
            yield f"CronJob/{item['metadata']['name']}", item["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def images(case: str, *, mirrored: bool = False) -> set[str]:
    """Images of all containers."""
    return {container["image"] for _, spec in pods(case, mirrored=mirrored) for kind in CONTAINERS for container in spec.get(kind) or []}


def known_to_kubernetes(item: Manifest) -> bool:
    """Whether Kubernetes itself has the kind."""
    group = item["apiVersion"].rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io") and not group.startswith("karpenter"))


@pytest.mark.parametrize("case", CASES)
def test_every_object_satisfies_its_schema(case: str):
    """A chart that was made for another Kubernetes sends fields that ours drops in silence."""
    errors = []
    for item in rendered(case):
        if known_to_kubernetes(item) and item["kind"] != "CustomResourceDefinition":
            try:
                kubernetes_validate.validate(item, KUBERNETES, strict=True)
            except kubernetes_validate.ValidationError as error:
                where = ".".join(str(part) for part in error.path)
                errors.append(f"{item['kind']} {item['metadata'].get('name')} {where}: {error.message[:200]}")
    assert errors == []


@pytest.mark.parametrize("case", CASES)
def test_everything_that_makes_pods_is_in_the_contract(case: str):
    """The contract says on which nodes pods run: one that it does not know may wait for a node for ever."""
    known = {pod["object"].split("/")[0] + "/" + pod["object"].split("/")[-1] for pod in load(CASES[case].chart).pods}
    assert {name for name, _ in pods(case)} - known == set()


@pytest.mark.parametrize("case", CASES)
def test_pods_for_neuron_nodes_tolerate_their_taint(case: str):
    """As rendered, not as the values look."""
    meant = {pod["object"].split("/")[-1] for pod in load(CASES[case].chart).pods if pod["nodes"] in ("neuron", "all")}
    for name, spec in pods(case):
        if name.split("/")[1] in meant:
            tolerations = spec.get("tolerations") or []
            assert any(item.get("key") in (None, NEURON_TAINT) and item.get("operator") == "Exists" for item in tolerations), name


@pytest.mark.parametrize("case", CASES)
def test_no_image_is_missing_from_the_contract(case: str):
    """The mirror list is made of the contract: an image that it leaves out is never pulled in a closed network."""
    known = {str(image["image"]).partition("/")[2].rpartition(":")[0] for image in load(CASES[case].chart).images}
    found = {image.partition("@")[0] for image in images(case)}
    assert {image for image in found if not any(image.rpartition(":")[0].endswith(name) for name in known)} == set()


@pytest.mark.parametrize("case", CASES)
def test_the_mirror_takes_every_image(case: str):
    """One image that the values do not move holds up the whole release behind a closed network."""
    assert {image for image in images(case, mirrored=True) if not image.startswith(f"{MIRROR}/")} == set()


@pytest.mark.parametrize("case", CASES)
def test_the_contract_knows_every_crd(case: str):
    """The list of what is deleted with a release, and what stays, comes from it."""
    chart = CASES[case].chart
    found = {item["metadata"]["name"] for item in rendered(case) if item["kind"] == "CustomResourceDefinition"}
    if not chart.crds_apart:
        assert found <= {str(crd["name"]) for crd in load(chart).crds}


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if case.chart == SLURM])
def test_slurms_objects_satisfy_their_crds(case: str):
    """The chart copies most of our values into them unread."""
    text = helm("template", "crds", str(source(SLURM_OPERATOR_CRDS)))
    crds = [item for item in yaml.load_all(text, Loader=Loader) if item]
    schemas = {crd["spec"]["names"]["kind"]: crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for crd in crds}
    objects = [item for item in rendered(case) if item["apiVersion"].startswith("slinky.slurm.net/")]
    assert {"Controller", "NodeSet", "LoginSet", "RestApi"} <= {item["kind"] for item in objects}
    for item in objects:
        validator = jsonschema.Draft202012Validator(schemas[item["kind"]])
        # What is null is dropped by the API server before it looks.
        assert [error.message for error in validator.iter_errors(without_nulls(item))] == [], item["metadata"]["name"]


def without_nulls(value: Any) -> Any:
    """A copy without keys that hold nothing."""
    if isinstance(value, Mapping):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
