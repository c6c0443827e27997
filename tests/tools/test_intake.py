"""A release of the Neuron SDK is taken in by one command on its manifest: here from 2.32 to 2.33.1."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from facts.neuron_releases import SDK_RELEASES
from tests.support import ROOT
from tools.intake import FACTS, ManifestError, main, releases, rewritten, row_text, touched

RECORDED: dict[str, dict[str, str | tuple[str, ...]]] = {
    "2.33.1": {
        "aws-neuronx-dkms": "2.31.7.0", "aws-neuronx-runtime-lib": "2.35.30.0", "neuronx-cc": "2.28.7631.0", "libneuronxla": "3.0.10135.0",
        "jax_neuronx": "0.10.0.1.0.14198", "torch-neuronx": ("2.9.0.2.15.32035", "2.14.3.0"),
    },
    "2.32.0": {
        "aws-neuronx-dkms": "2.30.2.0", "aws-neuronx-runtime-lib": "2.34.10.0", "neuronx-cc": "2.27.5334.0", "libneuronxla": "3.0.5356.0",
        "jax_neuronx": "0.10.0.1.0.11459",
    },
    "2.31.1": {"aws-neuronx-dkms": "2.29.0.0", "aws-neuronx-runtime-lib": "2.33.10.0"},
    "2.30.0": {"aws-neuronx-dkms": "2.28.0.0", "aws-neuronx-runtime-lib": "2.32.31.0"},
    "2.21.0": {"aws-neuronx-dkms": "2.19.64.0", "aws-neuronx-runtime-lib": ("2.12.23.0", "2.23.110.0")},
}  # fmt: skip
"""Versions in the published manifest of 2026-08-21 (aws-neuron/aws-neuron-sdk src/helperscripts/n2-manifest.json); those of 2.33.1 are the
ones that the release page of 2.33.0 has, since no manifest with it was seen."""


def manifest() -> dict[str, Any]:
    """In the published shape, the oldest first: the order is not relied on."""
    found = [
        {"neuron_version": number, "packages": [{"name": name, "version": each} for name, given in packages.items() for each in ([given] if isinstance(given, str) else given)]}
        for number, packages in RECORDED.items()
    ]  # fmt: skip
    return {"neuron_releases": found[::-1]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that the command reads, as they were before 2.33."""
    for folder in ("facts", "training/images"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest()))
    facts = tmp_path / FACTS
    facts.write_text(facts.read_text().replace(row_text(SDK_RELEASES["2.33"]), ""))
    return tmp_path


def test_what_is_published_is_what_the_table_has():
    """Every recorded release; of one with the runtime of inf1 too, the newer."""
    assert {found.row.name: found.row for found in releases(manifest()).values()} == {
        number.rpartition(".")[0]: SDK_RELEASES[number.rpartition(".")[0]] for number in RECORDED
    }


def test_one_command_writes_the_row(tree: Path, capsys: pytest.CaptureFixture[str]):
    """Of the newest release, in its order; a second run finds nothing to write, and a dry run writes nothing."""
    facts, shipped = tree / FACTS, (ROOT / FACTS).read_text()
    before = facts.read_text()
    words = [str(tree / "manifest.json")]
    assert main([*words, "--dry-run"], tree) == 0
    assert facts.read_text() == before
    assert main(words, tree) == 0
    assert row_text(SDK_RELEASES["2.33"]) in facts.read_text()
    assert facts.read_text().count("SdkRelease(") == shipped.count("SdkRelease(")
    capsys.readouterr()
    assert main(words, tree) == 0
    assert capsys.readouterr().out.startswith(f"{FACTS}: is as it was\n")


def test_a_correction_of_a_release_takes_the_place_of_its_row():
    """2.33.1 corrects 2.33.0: one row has both."""
    corrected = releases({"neuron_releases": [{"neuron_version": "2.33.2", "packages": [
        {"name": "aws-neuronx-dkms", "version": "2.31.9.0"}, {"name": "aws-neuronx-runtime-lib", "version": "2.35.31.0"},
    ]}]})["2.33.2"].row  # fmt: skip
    text = (ROOT / FACTS).read_text()
    assert rewritten(text, corrected) == text.replace(row_text(SDK_RELEASES["2.33"]), row_text(corrected))


def test_everything_that_a_release_touches_is_listed():
    """Toolchains of it and before it, the image, drivers, AMI releases, and lines that name it."""
    found = "\n".join(touched(releases(manifest())["2.33.1"], ROOT))
    for text in (
        "toolchain torch-2.33: is of this release",
        "image of torch-2.33: none is known",
        "toolchain jax-2.32: stays at SDK 2.32; jax-neuronx 0.10.0.1.0.11459, the release has 0.10.0.1.0.14198",
        "runtime 2.35.30: as far as is published it starts on AMI releases of 20260409 or later",
        "driver 2.31.7.0: no AMI release with it is known",
        "toolchain xla-2.30: does not start on that driver, driver 2.29 and later need runtime 2.33 or later",
        'facts/toolchains.py:',
        'tests/facts/test_small_tables.py:',
    ):  # fmt: skip
        assert text in found
    assert "toolchain xla-2.30: is of" not in found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "is no manifest"),
        ('{"neuron_releases": []}', "no release at all"),
        ("{", "error: "),
        ('{"neuron_releases": [{"neuron_version": "2.40.0", "packages": []}]}', "no version of aws-neuronx-dkms"),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]):
    """And nothing is written."""
    (tmp_path / "m.json").write_text(text)
    assert main([str(tmp_path / "m.json")], ROOT) == 2
    assert says in capsys.readouterr().err


def test_a_row_needs_its_table():
    """A table that was written in another way is not written over."""
    with pytest.raises(ManifestError, match="no rows"):
        rewritten("", SDK_RELEASES["2.33"])
