"""Claims of dynamic resource allocation: the classes of Neuron's and EFA's drivers, and what a job claims of one node.

Source: aws-neuron/aws-neuron-sdk deploy/eks/dra.rst (attributes, example templates; chart 1.10 with driver 1.2.0, 2026-08) and EKS user
guide, device-management-neuron and device-management-efa.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from facts.catalogue import InstanceType

Devices = Literal["device-plugin", "dra"]
"""How pods ask for devices: by an extended resource of a device plug-in, or by claims of a class."""
API_VERSION = "resource.k8s.io/v1"
"""Generally available from Kubernetes 1.34 on (Kubernetes 1.34 release notes)."""
NEURON_CLASS = NEURON_DRIVER = "neuron.aws.com"
"""DeviceClass of Neuron's chart, and the name of its driver."""
EFA_CLASS, EFA_DRIVER = "efa.networking.k8s.aws", "dra.net"
"""DeviceClass of the chart aws-dranet, and the name of its driver."""
COUNTED_AS = "deviceclass/"
"""What Volcano puts before a class to count its devices in queues (volcano-sh/volcano docs/user-guide/how_to_use_dra_quota.md, from 1.15)."""
NEURON_COUNTED, EFA_COUNTED = COUNTED_AS + NEURON_CLASS, COUNTED_AS + EFA_CLASS
NEURONS, INTERFACES = "neurons", "interfaces"
"""Names of the two requests of a claim."""


@dataclass(frozen=True)
class Claimed:
    """What one pod claims of its node; 0 where the device plug-in offers it, or nothing is asked for."""

    chip_count: int = 0
    interface_count: int = 0
    logical_core_size: int | None = None
    """Size of a logical core that the driver sets for these devices; None leaves the node's."""


def claim_spec(claimed: Claimed, instance: InstanceType) -> dict[str, Any]:
    """`spec` of a ResourceClaim.

    Devices are always counted: Kueue refuses a claim of `All`, and Volcano's queues do not count it (kubernetes-sigs/kueue
    pkg/dra/claims.go; volcano-sh/volcano docs/user-guide/how_to_use_dra_quota.md, limitations).
    """
    requests: list[dict[str, Any]] = []
    if claimed.chip_count:
        of_type = f"device.attributes['{NEURON_DRIVER}'].instanceType == '{instance.name}'"
        requests.append(_request(NEURONS, NEURON_CLASS, claimed.chip_count, selectors=[{"cel": {"expression": of_type}}]))
    if claimed.interface_count:
        requests.append(_request(INTERFACES, EFA_CLASS, claimed.interface_count))
    devices: dict[str, Any] = {"requests": requests}
    if 0 < claimed.chip_count < instance.chip_count:
        # All devices of both drivers in one group of connected chips. A whole node leaves nothing to choose.
        attribute = f"resource.aws.com/devicegroup{claimed.chip_count}_id"
        devices["constraints"] = [{"requests": [each["name"] for each in requests], "matchAttribute": attribute}]
    if claimed.chip_count and claimed.logical_core_size is not None:
        size = {"apiVersion": "neuron.aws.com/v1", "kind": "NeuronConfig", "logicalNeuronCore": claimed.logical_core_size}
        devices["config"] = [{"requests": [NEURONS], "opaque": {"driver": NEURON_DRIVER, "parameters": size}}]
    return {"devices": devices}


def _request(name: str, device_class: str, count: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count, **more}}


def claim_template(name: str, namespace: str, labels: Mapping[str, str], claimed: Claimed, instance: InstanceType) -> dict[str, Any]:
    """The ResourceClaimTemplate from which each pod that names it gets a claim of its own."""
    spec = {"metadata": {"labels": dict(labels)}, "spec": claim_spec(claimed, instance)}
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": API_VERSION, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def counted(spec: Mapping[str, Any]) -> dict[str, int]:
    """Devices that the `spec` of a claim asks for, by Volcano's name of the class; `All`, whose number nobody knows before, is none."""
    found: dict[str, int] = {}
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly") or {}
        if exactly.get("deviceClassName") and exactly.get("allocationMode", "ExactCount") == "ExactCount":
            name = COUNTED_AS + exactly["deviceClassName"]
            found[name] = found.get(name, 0) + int(exactly.get("count", 1))
    return found
