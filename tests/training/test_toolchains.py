"""Toolchains: what fits together, and a hundred pairs that do not."""

from dataclasses import fields
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import SDK_RELEASES, fitting_ami_dates
from facts.node_resources import DAEMONS_CPU_MILLIS, allocatable, chip_counts, job_share
from facts.text_formats import IMAGE
from facts.toolchains import TOOLCHAINS, Toolchain, allowed_workers, image_conflict, running_on
from tests.training.sites import NEWEST, group, job, site
from training.check import problems
from training.images import constraints, dockerfile

ROWS = [line for line in (Path(__file__).parent / "wrong_pairs.txt").read_text().splitlines() if line and not line.startswith("#")]
ALL = pytest.mark.parametrize("toolchain", TOOLCHAINS.values(), ids=lambda toolchain: toolchain.name)


@pytest.mark.parametrize("row", ROWS)
def test_a_pair_that_cannot_run_is_refused(row: str):
    """Each would come up, bill, and end in an error of the runtime, or hang."""
    name, instance_type, ami, workers, chips, size, image, says = (cell.strip() for cell in row.split("|"))
    nodes = group(
        "g",
        instance_type,
        release_version=None if ami == "newest" else f"1.35.4-{ami}",
        logical_core_size=int(size or 2),
    )
    keys = {"workersPerNode": workers, "devices": chips}
    asked = {key: int(value) for key, value in keys.items() if value} | ({"image": image} if image else {})
    (problem,) = problems(job(toolchain=name, **asked), site(node_groups={"g": nodes}))
    assert says in str(problem)
    assert problem.hint


def test_there_are_a_hundred_wrong_pairs_and_each_toolchain_has_some():
    """The table is the demand."""
    assert len(ROWS) == len(set(ROWS)) >= 100
    assert {row.split(" | ")[0] for row in ROWS} == TOOLCHAINS.keys()


@ALL
def test_what_fits_is_accepted(toolchain: Toolchain):
    """A check that refuses everything would pass the table above."""
    first, last = toolchain.ami_dates
    dates = [date for date in ("20260107", "20260505", "20260714", "20260901") if date >= first and (last is None or date < last)]
    assert dates
    for name in toolchain.workers:
        for date in dates:
            for chips in chip_counts(NEURON_TYPES[name]):
                nodes = site(node_groups={"g": group("g", name, release_version=f"1.35.4-{date}")})
                image = toolchain.image or "registry.example.com/train:1"
                for workers in (None, *allowed_workers(toolchain, NEURON_TYPES[name], chips)):
                    asked = {} if workers is None else {"workersPerNode": workers}
                    assert problems(job(toolchain=toolchain.name, devices=chips, image=image, **asked), nodes) == []


@ALL
def test_each_toolchain_is_whole(toolchain: Toolchain):
    """Exact image or what to build one from; its SDK in its name and its image; a default that the hardware can run."""
    assert toolchain.name.endswith(f"-{toolchain.sdk.name}")
    assert toolchain.sdk is SDK_RELEASES[toolchain.sdk.name]
    assert (toolchain.image is None) == bool(toolchain.build_from)
    if toolchain.image is not None:
        assert IMAGE.fits(toolchain.image)
        assert f"sdk{toolchain.sdk.name}." in toolchain.image
        assert image_conflict(toolchain, toolchain.image) is None
    for name in toolchain.workers:
        counts = allowed_workers(toolchain, NEURON_TYPES[name], NEURON_TYPES[name].chip_count)
        assert toolchain.default_workers(counts) in counts
        assert max(counts) == NEURON_TYPES[name].logical_core_count


@ALL
def test_what_is_not_established_is_said_of_a_field(toolchain: Toolchain):
    """A mark on something else would be read by nothing."""
    known = {field.name for field in fields(Toolchain)} | {"driver"}
    assert toolchain.marks.keys() | toolchain.sources.keys() <= known
    assert "state" in toolchain.marks or toolchain.state == "beta"
    assert "image" in toolchain.marks or toolchain.image is not None


def index_versions() -> dict[str, list[str]]:
    """Versions by name, as the indexes write them."""
    found = dict[str, list[str]]()
    for line in (Path(__file__).parent / "index_versions.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version, _ = line.split(" ", 2)
            found.setdefault(name, []).append(version)
    return found


@ALL
def test_every_constraint_of_a_toolchain_matches_a_version_of_its_index(toolchain: Toolchain):
    """`neuronx-distributed==0.19` never matched 0.19.28093: pip finds nothing, and no image can be built."""
    known = index_versions()
    for requirement in map(Requirement, constraints(toolchain).splitlines()):
        assert len(list(requirement.specifier.filter(known[requirement.name]))) == 1, requirement


@pytest.mark.parametrize("name", [name for name, toolchain in TOOLCHAINS.items() if toolchain.image is None])
def test_an_image_that_is_built_from_a_bare_system_has_efa(name: str):
    """AWS's own images bring libfabric; without it a job of two nodes waits in its first collective."""
    text = dockerfile(name)
    assert "efa_installer.sh -y" in text
    assert "gpg --verify aws-efa-installer" in text
    assert "&& /opt/amazon/efa/bin/fi_info --version" in text
    assert "/opt/amazon/efa/lib" in text.partition("ENV LD_LIBRARY_PATH=")[2].partition("\n")[0]


def test_neurons_apt_suite_is_one_that_aws_takes_for_images():
    """None is known to be named after Ubuntu 26.04: the build would end at `apt-get update`."""
    text = dockerfile("torch-2.33")
    assert "ARG NEURON_SUITE=jammy\n" in text
    assert "${NEURON_SUITE} main" in text


def test_tables_are_asked_from_both_sides():
    """By hardware for hints, by runtime for AMI releases."""
    assert running_on(NEURON_TYPES["trn2.48xlarge"]) == list(TOOLCHAINS)
    assert running_on(NEURON_TYPES["inf2.48xlarge"]) == ["jax-2.32"]
    assert all(running_on(instance) for instance in NEURON_TYPES.values()), "`trn init` writes one for each type"
    assert TOOLCHAINS["xla-2.30"].ami_dates == fitting_ami_dates((2, 32, 31)) == ("20260409", "20260714")
    assert NEWEST.endswith("20260714")


def test_a_whole_node_is_what_kubelet_offers_less_room_for_daemons():
    """Karpenter's model of a trn1.32xlarge says 127,610 millicores and 481,894 MiB (docs of 1.14); huge pages of EFA go off that."""
    trn1 = NEURON_TYPES["trn1.32xlarge"]
    assert (allocatable(trn1, efa=False).cpu_millis, allocatable(trn1, efa=False).memory_mib) == (127_610, 481_894)
    share = job_share(trn1, 16, efa=True)
    assert share.cpu_millis <= 127_610 - DAEMONS_CPU_MILLIS
    assert share.memory_mib == 456 * 1024


@pytest.mark.parametrize("name", NEURON_TYPES)
def test_parts_of_a_node_fit_into_it_together(name: str):
    """Two jobs of half a node run side by side."""
    instance = NEURON_TYPES[name]
    whole = allocatable(instance, efa=instance.has_efa)
    for chips in chip_counts(instance):
        share, parts = job_share(instance, chips, efa=instance.has_efa), instance.chip_count // chips
        assert share.cpu_millis * parts < whole.cpu_millis
        assert share.memory_mib * parts < whole.memory_mib
