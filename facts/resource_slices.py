"""ResourceSlices as Neuron's and EFA's drivers publish them: the devices of one node, with the attributes that claims select by.

Source of attributes and their types: aws-neuron/aws-neuron-sdk deploy/eks/dra.rst, attributes reference (2026-08). Of names, order and
groups: a slice of a trn2.48xlarge as its tester printed it in 2026-03 (`neuron-device-0` to 15 in four rows, a group of 4 for each row), and
one of a trn1.32xlarge with both drivers in the dranet project's example (`pci-...`, the same groups in both drivers). Group ids are hashes
there; here they name node and group. Figures of one node that nobody can know before (PCI addresses, network nodes) are made up.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from facts.catalogue import InstanceType
from facts.device_claims import API_VERSION, COUNTED_AS, EFA_CLASS, EFA_DRIVER, NEURON_CLASS, NEURON_DRIVER
from facts.node_resources import CHIP_SUBSETS

Object = dict[str, Any]
DRA_DRIVER_VERSION = "1.2.0"
"""Of chart 1.10.0 (facts of the chart, rendered)."""
ROW = 4
"""Devices of a row of the grid (the same slice of a trn2.48xlarge)."""


def device_class(name: str) -> Object:
    """A DeviceClass of the two charts: all devices of its driver."""
    driver = {NEURON_CLASS: NEURON_DRIVER, EFA_CLASS: EFA_DRIVER}[name]
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    return {"apiVersion": API_VERSION, "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [selector]}}


def neuron_slice(node: Object, instance: InstanceType, driver_version: str) -> Object:
    """The chips of a node. `driver_version`: of the kernel driver on it."""
    name = node["metadata"]["name"]
    devices = [_chip(name, instance, number, driver_version) for number in range(instance.chip_count)]
    return _slice(node, NEURON_DRIVER, devices)


def efa_slice(node: Object, instance: InstanceType, interface_count: int) -> Object:
    """The EFA interfaces of a node."""
    name = node["metadata"]["name"]
    return _slice(node, EFA_DRIVER, [_interface(name, instance, number, interface_count) for number in range(interface_count)])


def _chip(node: str, instance: InstanceType, number: int, driver_version: str) -> Object:
    values: Object = {
        "deviceId": {"int": number},
        "instanceType": {"string": instance.name},
        "neuronDriverVersion": {"string": driver_version},
        "draDriverVersion": {"version": DRA_DRIVER_VERSION},
        "resourceType": {"string": "neuron_device"},
    }
    if instance.chip_count > 1:
        values |= {"topology_x": {"int": number // ROW}, "topology_y": {"int": number % ROW}}
    return {"name": f"neuron-device-{number}", "attributes": values | (dict(_groups(node, instance, number)) if instance.has_efa else {})}


def _interface(node: str, instance: InstanceType, number: int, count: int) -> Object:
    chip = number * instance.chip_count // count
    values = {"dra.net/rdma": {"bool": True}, "dra.net/pciDevice": {"string": "Elastic Fabric Adapter (EFA)"}}
    return {"name": f"pci-0000-{number:02x}-19-0", "attributes": values | dict(_groups(node, instance, chip))}


def _groups(node: str, instance: InstanceType, chip: int) -> Iterator[tuple[str, Object]]:
    """The group of a chip for each number of connected chips: equal for chips, and interfaces, of the same group."""
    for size in CHIP_SUBSETS:
        if size <= instance.chip_count:
            yield f"resource.aws.com/devicegroup{size}_id", {"string": f"{node}-{size}-{chip // size}"[-64:]}


def _slice(node: Object, driver: str, devices: list[Object]) -> Object:
    name = node["metadata"]["name"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"].get("uid", ""), "controller": True}
    return {
        "apiVersion": API_VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-{driver}", "ownerReferences": [owner]},
        "spec": {
            "driver": driver,
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def of_class(driver: str) -> str:
    """Volcano's name of the class of a driver's devices; for a driver that this program does not know, a class of its name."""
    return COUNTED_AS + {NEURON_DRIVER: NEURON_CLASS, EFA_DRIVER: EFA_CLASS}.get(driver, driver)


def offered(slices: Iterable[Object], node: str) -> dict[str, int]:
    """Devices that the drivers offer on a node, by Volcano's name of their class."""
    found: dict[str, int] = {}
    for spec in (item["spec"] for item in slices):
        if spec.get("nodeName") == node:
            name = of_class(spec["driver"])
            found[name] = found.get(name, 0) + len(spec.get("devices") or ())
    return found
