"""What every add-on declares, checked against the charts' contracts, the pinned versions and the configuration."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from addons import registry, versions
from addons.contract import load
from addons.declaration import Declaration, DeclarationError
from addons.images import mirror_values, mirrored, overlaid
from addons.registry import REGISTRY, SWITCHED, refuse_shared_keys, refuse_unknown_keys
from addons.versions import SUPPORTED_KUBERNETES, Chart
from facts.charts import ContractError, contracts
from stacks.addon_sections import Addons
from tests.addons.cases import CASES
from tests.addons.contract_keys import load_managed, value_at
from trn.run_command import run_command

CHARTS = [chart for declaration in REGISTRY for chart in declaration.charts]
COMMON_GROUPS = ("v1", "apps", "batch", "networking.k8s.io", "storage.k8s.io")
MIRROR = "mirror.example:5000/team"


def test_every_add_on_has_a_key_and_a_component_of_its_own():
    """Two of one name would be one line in every table."""
    assert len({declaration.key for declaration in REGISTRY}) == len(REGISTRY)
    assert len({declaration.title for declaration in REGISTRY}) == len(REGISTRY)
    assert len({declaration.component for declaration in SWITCHED.values()}) == len(SWITCHED)


def test_two_folders_with_one_key_are_refused():
    """The registry looks add-ons up by key."""
    with pytest.raises(ValueError, match="addons/kuberay and addons/copy both declare the key kubeRay"):
        refuse_shared_keys({"kuberay": SWITCHED["kubeRay"], "copy": SWITCHED["kubeRay"]})


@pytest.mark.parametrize("field", ["needs", "after", "changes"])
def test_a_key_that_no_add_on_has_is_refused_with_the_near_one(field: str):
    """A misspelt one would be needed by nothing and awaited by nothing, and a rehearsal would pass."""
    misspelt = {**SWITCHED, "slurm": replace(SWITCHED["slurm"], **{field: ("certManger",)})}
    with pytest.raises(DeclarationError, match=f"addons/slurm declares `{field}` 'certManger'") as refusal:
        refuse_unknown_keys(misspelt)
    assert "did you mean 'certManager'?" in refusal.value.hint


def test_a_key_that_is_no_key_of_a_stack_file_is_refused():
    """In our words: pydantic would speak of its own fields."""
    with pytest.raises(DeclarationError, match="`Vol-cano` cannot be the key of an add-on") as refusal:
        replace(SWITCHED["volcano"], key="Vol-cano")
    assert "certManager" in refusal.value.hint


def test_what_is_wrong_in_the_tree_is_one_sentence_of_a_command(capsys: pytest.CaptureFixture[str]):
    """Who adds an add-on reads it, not a traceback."""

    def misspelt() -> int:
        replace(SWITCHED["volcano"], key="Vol-cano")
        return 0

    assert run_command(misspelt) == 1
    assert run_command(lambda: len(load(Chart("podinfo", "6.9.0", "podinfo")).pods)) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if line]
    assert [line.split(":")[0] for line in lines] == ["error", "hint", "error", "hint"]


def test_a_folder_without_a_declaration_is_named(monkeypatch: pytest.MonkeyPatch):
    """A new one, say."""
    monkeypatch.setitem(sys.modules, "addons.empty", ModuleType("addons.empty"))
    monkeypatch.setattr(registry, "FOLDERS", ("empty",))
    with pytest.raises(ValueError, match=r"addons/empty/__init__\.py has no DECLARATION"):
        registry.read_folders()


def test_every_switch_is_a_section_and_every_section_a_switch():
    """An add-on that cannot be switched is either always there or never."""
    sections = {str(field.alias) for name, field in Addons.model_fields.items() if hasattr(getattr(Addons(), name), "enabled")}
    assert sections == SWITCHED.keys()


@pytest.mark.parametrize("declaration", REGISTRY, ids=lambda declaration: declaration.key)
def test_what_an_add_on_needs_is_another_add_on(declaration: Declaration):
    """`trn addons` and the rules follow these keys."""
    assert set(declaration.needs) <= SWITCHED.keys() - {declaration.key}


@pytest.mark.parametrize("declaration", REGISTRY, ids=lambda declaration: declaration.key)
def test_an_add_on_says_in_one_sentence_what_it_is_for(declaration: Declaration):
    """It stands in a table beside thirty others."""
    assert 10 < len(declaration.purpose) < 140
    assert not declaration.purpose.endswith(".")


@pytest.mark.parametrize("declaration", [item for item in REGISTRY if item.identities], ids=lambda declaration: declaration.key)
def test_an_add_on_with_an_identity_says_which_services_it_calls(declaration: Declaration):
    """Without a way out of the network its pods reach no other service than those with an endpoint."""
    assert declaration.endpoints
    assert len(set(declaration.endpoints)) == len(declaration.endpoints)


@pytest.mark.parametrize("declaration", [item for item in REGISTRY if item.endpoints], ids=lambda declaration: declaration.key)
def test_an_add_on_that_calls_aws_has_an_identity(declaration: Declaration):
    """All but the Pod Identity agent, which uses the rights of its node."""
    assert declaration.identities or declaration.key == "eks-pod-identity-agent"


def test_every_contract_belongs_to_a_chart():
    """A contract of a chart that is not installed would be checked by nothing."""
    managed = {name for declaration in REGISTRY for name in declaration.managed}
    assert contracts().keys() == {chart.name for chart in CHARTS} | managed


@pytest.mark.parametrize("declaration", REGISTRY, ids=lambda declaration: declaration.key)
def test_every_managed_add_on_has_a_contract_of_its_pinned_builds(declaration: Declaration):
    """The simulated cluster asks it whether the add-on needs a node, and which kinds it brings."""
    assert all(load_managed(name).pods for name in declaration.managed)


def test_a_managed_add_on_pinned_anew_is_refused_until_its_contract_is_read(monkeypatch: pytest.MonkeyPatch):
    """The message names the file."""
    monkeypatch.setattr("tests.addons.contract_keys.managed_addon_version", lambda addon, minor: "v9.9.9-eksbuild.1")
    with pytest.raises(ContractError, match=r"coredns is pinned at v9\.9\.9-eksbuild\.1") as refusal:
        load_managed("coredns")
    assert "addons/core/contracts/coredns.yaml" in refusal.value.hint


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_a_chart_renders_on_every_kubernetes_that_may_be_configured(chart: Chart):
    """A chart that refuses the cluster's minor fails minutes into an up."""
    assert set(SUPPORTED_KUBERNETES) <= set(load(chart).kubernetes)


@pytest.mark.parametrize("declaration", REGISTRY, ids=lambda declaration: declaration.key)
def test_every_managed_add_on_is_pinned_for_every_minor(declaration: Declaration):
    """An unpinned one shows a change with each new build of AWS."""
    for name in declaration.managed:
        for minor in SUPPORTED_KUBERNETES:
            assert versions.managed_addon_version(name, minor).startswith("v")


@pytest.mark.parametrize("declaration", REGISTRY, ids=lambda declaration: declaration.key)
def test_charts_whose_webhooks_stop_common_kinds_are_fenced(declaration: Declaration):
    """Installed beside others they fail them, and their atomic installs are taken back at once."""
    kinds = [kind for chart in declaration.charts for kind in load(chart).guards]
    common = [kind for kind in kinds if kind.split("/")[0] in COMMON_GROUPS]
    assert bool(common) == bool(declaration.fenced or declaration.tamed)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_chart_has_golden_values_unless_it_has_no_pods(chart: Chart):
    """Values without a golden file are not reviewed."""
    assert chart.name in {case.chart.name for case in CASES.values()} or not load(chart).pods


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_no_image_floats(chart: Chart):
    """`latest` is another image tomorrow, and none in a mirror."""
    images = [str(image["image"]) for image in load(chart).images]
    assert [image for image in images if image.rpartition(":")[2] in ("", "latest", "main", "master")] == []
    assert all("/" in image.rpartition(":")[2] or ":" in image for image in images)


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_mirrors_values_are_keys_of_the_chart(chart: Chart):
    """A misspelt one leaves the image where an air-gapped node cannot reach it."""
    contract = load(chart)
    for image in contract.images:
        for key in ("repository", "registry", "digest", "tag"):
            assert key not in image or image[key] in contract.values, image


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_every_image_can_be_mirrored(chart: Chart):
    """An image that no value moves is one that an air-gapped cluster never pulls."""
    assert [image["image"] for image in load(chart).images if not {"repository", "registry"} & image.keys()] == []


def test_mirrored_images_do_not_collide():
    """The mirror keeps paths and drops hosts."""
    images = {str(image["image"]) for chart in CHARTS for image in load(chart).images}
    images |= {image for declaration in REGISTRY for image in declaration.images}
    assert len({mirrored(image, MIRROR) for image in images}) == len(images)


def test_the_mirror_takes_the_place_of_each_host():
    """Repository, registry, or whole image: whatever the chart has."""
    assert mirrored("registry.k8s.io/metrics-server/metrics-server:v0.8.1", MIRROR) == f"{MIRROR}/metrics-server/metrics-server:v0.8.1"
    assert mirrored("quay.io/coreos/etcd:v3.5.33", None) == "quay.io/coreos/etcd:v3.5.33"
    assert mirror_values(load(versions.METRICS_SERVER), MIRROR) == {"image": {"repository": f"{MIRROR}/metrics-server/metrics-server"}}
    assert mirror_values(load(versions.VOLCANO), MIRROR) == {"basic": {"image_registry": MIRROR}}
    assert value_at(mirror_values(load(versions.KARPENTER), MIRROR), "controller.image.digest") == ""


def test_overlaid_values_keep_what_they_do_not_replace():
    """Maps are merged, everything else replaced, and neither side is changed."""
    below, over = {"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"c": [3]}, "e": {"f": 4}}
    assert overlaid(below, over) == {"a": {"b": 1, "c": [3]}, "d": 2, "e": {"f": 4}}
    assert (below, over) == ({"a": {"b": 1, "c": [1]}, "d": 2}, {"a": {"c": [3]}, "e": {"f": 4}})
    assert value_at(below, "a.b") == 1
    assert value_at(below, "a.b.c") is None
