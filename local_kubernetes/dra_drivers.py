"""In the place of Neuron's and EFA's DRA drivers: publishes the ResourceSlices of fake nodes, and the classes that claims name.

Kubernetes' own controllers and schedulers do the rest: claims are made from templates, allocated by CEL and constraints, and reserved for
pods. What a driver does on the node (it gives the container its devices) has no counterpart where no device is.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from facts.catalogue import instance_type
from facts.device_claims import EFA_CLASS, NEURON_CLASS
from facts.neuron_releases import ami_driver, version_text
from facts.resource_slices import device_class, efa_slice, neuron_slice
from local_kubernetes.api import Api, Object


def slices_of(node: Object) -> list[Object]:
    """What both drivers publish of one node, whose label says its type; nothing of a node without chips."""
    hardware = instance_type(node["metadata"]["labels"]["node.kubernetes.io/instance-type"])
    if not hardware.chip_count:
        return []
    found = [neuron_slice(node, hardware, version_text(ami_driver(None)))]
    return [*found, efa_slice(node, hardware, hardware.efa_count)] if hardware.has_efa else found


def publish(api: Api, nodes: Sequence[Object]) -> list[Object]:
    """Make the classes and the slices of nodes that have joined; returns what was made."""
    made = [device_class(name) for name in (NEURON_CLASS, EFA_CLASS)]
    for node in nodes:
        made += slices_of(api.get(node).ok())
    for item in made:
        api.apply(item).ok()
    return made


@contextmanager
def drivers_of(api: Api, nodes: Sequence[Object]) -> Iterator[list[Object]]:
    """Both drivers on nodes that have joined, until the end of the block."""
    made = publish(api, nodes)
    try:
        yield made
    finally:
        for item in reversed(made):
            api.delete(item, foreground=False)
