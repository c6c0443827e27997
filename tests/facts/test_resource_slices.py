"""ResourceSlices in the shape of the drivers': what claims select by, and what the API server takes."""

import pytest

from facts.catalogue import NEURON_TYPES
from facts.resource_slices import device_class, efa_slice, neuron_slice, offered
from tests.training.objects import errors

NODE = {"metadata": {"name": "ip-10-0-1-2.us-west-2.compute.internal", "uid": "u"}}
COMMON = {"deviceId", "instanceType", "neuronDriverVersion", "draDriverVersion", "resourceType"}
"""Attributes of each device (aws-neuron-sdk, attributes reference), but for those of the network, which no simulation knows."""


@pytest.mark.parametrize("name", ["trn1.2xlarge", "trn1.32xlarge", "trn2.48xlarge"])
def test_the_api_server_takes_them(name: str):
    """Names, types and lengths of attributes, by Kubernetes' own schema."""
    hardware = NEURON_TYPES[name]
    assert errors(neuron_slice(NODE, hardware, "2.29.0.0")) == []
    assert errors(device_class("neuron.aws.com")) == []
    if hardware.has_efa:
        assert errors(efa_slice(NODE, hardware, hardware.efa_count)) == []


def test_connected_chips_and_the_interfaces_beside_them_are_of_one_group():
    """Four rows of four on a trn1.32xlarge; two of its eight interfaces for each row, under the same attribute."""
    hardware = NEURON_TYPES["trn1.32xlarge"]
    chips = neuron_slice(NODE, hardware, "2.29.0.0")["spec"]["devices"]
    interfaces = efa_slice(NODE, hardware, 8)["spec"]["devices"]
    for attribute, per_group in (("resource.aws.com/devicegroup4_id", (4, 2)), ("resource.aws.com/devicegroup8_id", (8, 4))):
        for devices, count in zip((chips, interfaces), per_group, strict=True):
            groups = [device["attributes"][attribute]["string"] for device in devices]
            assert {groups.count(group) for group in groups} == {count}
        assert {each["attributes"][attribute]["string"] for each in chips} == {
            each["attributes"][attribute]["string"] for each in interfaces
        }
    assert chips[0]["attributes"].keys() >= COMMON | {"topology_x", "topology_y"}


def test_one_chip_alone_has_no_place_in_a_grid_and_no_group():
    """Those attributes are of nodes with several chips, and with EFA."""
    (chip,) = neuron_slice(NODE, NEURON_TYPES["trn1.2xlarge"], "2.29.0.0")["spec"]["devices"]
    assert chip["attributes"].keys() == COMMON


def test_devices_are_counted_for_their_node_alone():
    """By Volcano's name of the class."""
    hardware = NEURON_TYPES["trn2.48xlarge"]
    slices = [
        neuron_slice(NODE, hardware, "2.29.0.0"),
        efa_slice(NODE, hardware, 16),
        neuron_slice({"metadata": {"name": "b"}}, hardware, "2.29"),
    ]
    assert offered(slices, NODE["metadata"]["name"]) == {"deviceclass/neuron.aws.com": 16, "deviceclass/efa.networking.k8s.aws": 16}
