"""`trn addons` and `trn images` as a user meets them."""

import json
import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from addons.registry import REGISTRY
from facts.toolchains import TOOLCHAINS
from stacks.addon_table import without_image
from stacks.config import parse_settings
from stacks.images import job_toolchains, small_image, training_image
from tests.stacks.order_laws import RELEASE
from tests.support import ROOT, dev_configuration, merged, record_stack
from trn.app import app
from trn.before.addons.view import print_images

runner = CliRunner()
MIRROR = "mirror.example:5000/team"


def output(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command prints, run in the repository."""
    monkeypatch.chdir(ROOT)
    result = runner.invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_the_table_has_every_add_on_with_its_version(monkeypatch: pytest.MonkeyPatch):
    """The command and the declarations list the same add-ons."""
    rows = {row["key"]: row for row in json.loads(output("addons", "--json", "-", monkeypatch=monkeypatch))["addons"]}
    assert rows.keys() == {declaration.key for declaration in REGISTRY}
    assert rows["volcano"]["versions"] == ["volcano 1.15.0"]
    assert rows["volcano"]["on"] is True
    assert rows["coredns"]["why"] == "part of the core"
    assert rows["kueue"]["on"] is False
    assert "`addons.kueue.enabled` is false" in rows["kueue"]["why"]
    assert "fail closed" in rows["kueue"]["fights"]
    assert rows["grafana"]["needs"] == ["addons.prometheus", "untainted nodes", "identity of monitoring/grafana"]
    assert "identity of kube-system/cluster-autoscaler" in rows["clusterAutoscaler"]["needs"]
    assert (rows["fluentBit"]["endpoints"], rows["etcd"]["endpoints"]) == (["logs"], [])
    assert rows["kueue"]["drained"] == ["ClusterQueue", "LocalQueue"]
    assert rows["etcd"]["images"] == ["quay.io/coreos/etcd:v3.5.33"]


def test_what_is_on_in_the_table_is_what_the_program_makes(monkeypatch: pytest.MonkeyPatch):
    """A table that is not the program's own soon tells of another cluster."""
    rows = json.loads(output("addons", "--json", "-", monkeypatch=monkeypatch))["addons"]
    charts = {version.split()[0] for row in rows if row["on"] for version in row["versions"]}
    released = {item.inputs["name"] for item in record_stack(dev_configuration()).of_type(RELEASE)}
    assert released <= charts


def test_the_table_can_be_read(monkeypatch: pytest.MonkeyPatch):
    """In a terminal it says the same in columns."""
    text = output("addons", monkeypatch=monkeypatch)
    for word in (
        "add-on",
        "Volcano",
        "Karpenter",
        "yes",
        "no",
        "needs untainted nodes",
        "3 images",
        "1 image\n",
        "own registry",
        "own manifests",
        "in AWS alone",
    ):
        assert word in re.sub(" +\n", "\n", text)


def test_the_table_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch):
    """Names and versions are copied from it: none is cut or broken."""
    monkeypatch.setattr("trn.cli.output.PIPE_WIDTH", 80)
    text = output("addons", monkeypatch=monkeypatch)
    assert "…" not in text
    for row in json.loads(output("addons", "--json", "-", monkeypatch=monkeypatch))["addons"]:
        for part in (row["title"], *(part for version in row["versions"] for part in version.split())):
            assert part in text


def test_an_image_that_two_add_ons_share_is_listed_once(monkeypatch: pytest.MonkeyPatch):
    """A copying tool reads the list line by line; JSON says which add-on wants what."""
    lines = output("images", monkeypatch=monkeypatch).splitlines()
    wanted = json.loads(output("images", "--json", "-", monkeypatch=monkeypatch))["images"]
    assert len(lines) == len(set(lines)) < len(wanted)
    assert set(lines) == {image["image"] for image in wanted}


def test_both_lists_are_written_to_a_file_and_still_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """`--json FILE`, as for every other command; with `-` there is JSON alone on standard output."""
    for command in ("addons", "images"):
        written = output(command, "--json", str(tmp_path / "list.json"), monkeypatch=monkeypatch)
        assert "etcd" in written
        alone = output(command, "--json", "-", monkeypatch=monkeypatch)
        assert json.loads(alone) == json.loads((tmp_path / "list.json").read_text())


def test_the_mirror_list_pairs_each_image_with_its_copy(monkeypatch: pytest.MonkeyPatch):
    """Two words a line: what a copying tool wants."""
    text = output("images", "--mirror", MIRROR, monkeypatch=monkeypatch)
    pairs = dict(line.split(" ") for line in text.split("\n\n")[0].splitlines())
    assert pairs["quay.io/coreos/etcd:v3.5.33"] == f"{MIRROR}/coreos/etcd:v3.5.33"
    assert all(copy == f"{MIRROR}/{image.partition('/')[2]}" for image, copy in pairs.items())
    assert "registry.k8s.io/kueue/kueue:v0.19.2" not in pairs


def test_a_mirror_that_is_no_registry_is_refused():
    """It would stand in the stack file next, and in every pod."""
    result = CliRunner().invoke(app, ["images", "--mirror", "http://bad host"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`--mirror http://bad host` is no registry" in result.stderr
    assert "without https://" in result.stderr


def test_without_a_mirror_the_list_is_of_images_alone(monkeypatch: pytest.MonkeyPatch):
    """For a scanner, say."""
    lines = output("images", monkeypatch=monkeypatch).splitlines()
    assert "quay.io/coreos/etcd:v3.5.33" in lines
    assert all(" " not in line for line in lines)
    plain, mirrored = (json.loads(output("images", *words, "--json", "-", monkeypatch=monkeypatch)) for words in ((), ("--mirror", MIRROR)))
    assert plain["images"] == [{**entry, "target": None} for entry in mirrored["images"]]
    assert (plain["configuration"], plain["values"]) == (None, None)


def test_the_mirror_holds_what_verify_and_shell_start(monkeypatch: pytest.MonkeyPatch):
    """Each image once: the EFA exporter runs in one of them too."""
    lines = output("images", monkeypatch=monkeypatch).splitlines()
    assert lines.count("public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04") == 1
    assert len([line for line in lines if "library/python" in line]) == 1
    mirrored = parse_settings(merged(dev_configuration(), addons={"mirror": "mirror.example"}), "dev", rehearsal=True)
    assert small_image(mirrored) == "mirror.example/docker/library/python:3.13.7-alpine3.22"
    assert str(training_image(mirrored)).startswith("mirror.example/neuron/pytorch-training-neuronx:")
    unknown = parse_settings(merged(dev_configuration(), training={"toolchain": None}), "dev", rehearsal=True)
    assert training_image(unknown) is None


def test_the_mirror_holds_the_images_of_jobs_that_the_nodes_can_run(monkeypatch: pytest.MonkeyPatch):
    """Of each toolchain that fits hardware and driver: a job file names the toolchain, and its pods pull from the mirror."""
    wanted = {image["addon"]: image["image"] for image in json.loads(output("images", "--json", "-", monkeypatch=monkeypatch))["images"]}
    assert {name for name in wanted if name.startswith("training ")} == {"training xla-2.28", "training xla-2.30", "training jax-2.32"}
    assert wanted["training jax-2.32"] == TOOLCHAINS["jax-2.32"].image


@pytest.mark.parametrize(
    ("instance_type", "release", "expected"),
    [
        ("trn1.32xlarge", None, ["xla-2.30", "jax-2.32"]),
        ("trn1.32xlarge", "1.35.4-20260304", ["xla-2.28", "xla-2.30"]),
        ("trn2.48xlarge", None, ["xla-2.30", "jax-2.32", "torch-2.33"]),
    ],
)
def test_which_toolchains_run_follows_from_hardware_and_driver(instance_type: str, release: str | None, expected: list[str]):
    """The newest driver starts no image of PyTorch/XLA; the stack's own toolchain is listed all the same, another check refuses it."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    (name, group), *_ = settings.node_groups.items()
    changed = group.model_copy(update={"instance_type": instance_type, "release_version": release})
    found = settings.model_copy(update={"node_groups": {name: changed}})
    assert [toolchain.name for toolchain in job_toolchains(found)] == expected
    assert [toolchain.name for toolchain in without_image(found)] == [name for name in expected if TOOLCHAINS[name].image is None]


def test_a_toolchain_without_an_image_is_named_and_its_base(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The list would look complete without it."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    (name, group), *_ = settings.node_groups.items()
    changed = group.model_copy(update={"instance_type": "trn2.48xlarge", "release_version": None})
    print_images(settings.model_copy(update={"node_groups": {name: changed}}), None, None)
    said = capsys.readouterr()
    assert "no image of torch-2.33 is published" in said.err
    assert "torch-2.33" not in said.out


def test_the_key_that_is_printed_sets_the_values_that_are_printed(monkeypatch: pytest.MonkeyPatch):
    """And every image of the cluster then comes from the mirror."""
    document = json.loads(output("images", "--mirror", MIRROR, "--json", "-", monkeypatch=monkeypatch))
    assert document["configuration"] == {"trn:addons": {"mirror": MIRROR}}
    recording = record_stack(merged(dev_configuration(), addons=document["configuration"]["trn:addons"]))
    for release in recording.of_type(RELEASE):
        expected = document["values"][release.inputs["name"]]
        assert contains(release.inputs["values"], expected), release.name
    (etcd,) = [item for item in recording if item.type.endswith(":StatefulSet")]
    assert etcd.inputs["spec"]["template"]["spec"]["containers"][0]["image"] == f"{MIRROR}/coreos/etcd:v3.5.33"
    assert yaml.safe_load(output("images", "--mirror", MIRROR, monkeypatch=monkeypatch).split("\n\n")[1]) == document["configuration"]


def contains(values: object, expected: object) -> bool:
    """Whether a nested mapping has all that another has."""
    if not isinstance(expected, dict):
        return values == expected
    return isinstance(values, dict) and all(key in values and contains(values[key], expected[key]) for key in expected)


def test_a_stack_without_a_file_is_misuse(monkeypatch: pytest.MonkeyPatch):
    """With the stacks that there are."""
    monkeypatch.chdir(ROOT)
    result = runner.invoke(app, ["addons", "--stack", "nowhere"])
    assert result.exit_code == 2
    assert "stacks with a file here: dev" in result.stderr
