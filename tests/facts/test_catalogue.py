"""The hardware catalogue: complete, sourced, and consistent with what EC2 itself knows."""

import re
from dataclasses import fields

import botocore.loaders
import pytest

from facts.catalogue import CHIP_SOURCES, CORE_TYPES, NEURON_TYPES, QUOTA_CODES, SOURCES, Chip, InstanceType, instance_type, known_zone_ids

ALL = [*NEURON_TYPES.values(), *CORE_TYPES.values()]


def test_the_types_that_the_program_promises_are_there():
    """A type missing here cannot be configured at all."""
    inferentia = {f"inf2.{size}xlarge" for size in ("", "8", "24", "48")}
    assert (
        set(NEURON_TYPES)
        == {"trn1.2xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.3xlarge", "trn2.48xlarge", "trn2u.48xlarge"} | inferentia
    )


def test_every_figure_names_its_source():
    """A number without an origin cannot be checked when AWS changes it."""
    assert set(SOURCES) == {field.name for field in fields(InstanceType)}
    assert set(CHIP_SOURCES) == {field.name for field in fields(Chip)}
    assert all(text.strip() for text in (*SOURCES.values(), *CHIP_SOURCES.values()))


@pytest.mark.parametrize("instance", ALL, ids=lambda item: item.name)
def test_every_type_is_one_that_ec2_knows(instance: InstanceType):
    """A misspelt name would be refused only when the node group is made."""
    shapes = botocore.loaders.Loader().load_service_model("ec2", "service-2")["shapes"]
    assert instance.name in shapes["InstanceType"]["enum"]


@pytest.mark.parametrize("instance", ALL, ids=lambda item: item.name)
def test_figures_of_a_type_agree_with_each_other(instance: InstanceType):
    """One EFA per card, cores in whole chips, pods that the addresses can carry."""
    assert instance.efa_count in (0, instance.network_card_count)
    assert bool(instance.chip) == bool(instance.chip_count)
    assert instance.max_pods <= instance.interfaces_per_card * (instance.ipv4_per_interface - 1) + 2 or instance.name in (
        "inf2.24xlarge",
        "inf2.48xlarge",
        "trn2u.48xlarge",
    )
    assert instance.family in QUOTA_CODES


@pytest.mark.parametrize("instance", ALL, ids=lambda item: item.name)
def test_zone_ids_are_zone_ids(instance: InstanceType):
    """A zone name here would be another zone in the next account."""
    assert all(re.fullmatch(r"[a-z]{3,6}\d-az\d", zone) for zone in instance.offered_zone_ids)


def test_logical_cores_follow_the_logical_core_size():
    """The device plug-in advertises 64 NeuronCores on trn2.48xlarge by default, 128 only at size 1."""
    trainium2 = NEURON_TYPES["trn2.48xlarge"]
    assert (trainium2.cores_at(2), trainium2.cores_at(1)) == (64, 128)
    assert NEURON_TYPES["trn1.32xlarge"].cores_at(2) == 32


def test_quota_codes_are_those_of_the_family():
    """Asking for the wrong quota costs days."""
    assert QUOTA_CODES[instance_type("trn1.32xlarge").family]["on-demand"] == "L-2C3B7624"
    assert QUOTA_CODES[instance_type("trn1.32xlarge").family]["spot"] == "L-6B0D517C"
    assert QUOTA_CODES[instance_type("m5.xlarge").family]["on-demand"] == "L-1216C47A"


def test_zones_are_looked_up_by_region():
    """`usw2` must not find `use2`."""
    assert known_zone_ids(NEURON_TYPES["trn1.32xlarge"], "usw2") == ("usw2-az1", "usw2-az4")
    assert known_zone_ids(NEURON_TYPES["trn2.48xlarge"], "usw2") == ()
