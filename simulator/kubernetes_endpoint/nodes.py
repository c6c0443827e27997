"""Nodes of the simulated cluster, from its node groups: labels as EKS sets them, devices as the plug-ins report them."""

from collections.abc import Iterator, Mapping
from typing import Any

from facts.catalogue import NEURON_TYPES, InstanceType
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE
from facts.neuron_releases import NEWEST_DRIVER, version_text
from facts.resource_slices import efa_slice, neuron_slice
from simulator.account import kinds, view
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.aws_endpoint.entries import made_id
from simulator.recording import Registration

Object = dict[str, Any]
_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
_EFA_KINDS = ("efa", "efa-only")
PLUGINS = {"neuron-device-plugin": "neuron-helm-chart", "aws-efa-k8s-device-plugin": "aws-efa-k8s-device-plugin"}
"""DaemonSets of device plug-ins to the charts that bring them (charts as pinned, rendered)."""


HELD = "heldJobs"
"""Key beside what a user has patched of a node: uids of the jobs that it had when it was closed."""


def nodes(state: AccountState) -> Iterator[Object]:
    """Every node of every group that EC2 gave instances to."""
    for item in state.existing(kinds.NODE_GROUP):
        if item.status not in ("failed", "creating"):
            yield from (_node(state, item, number) for number in range(view.desired_size(item.registration)))


def closings(state: AccountState) -> dict[str, Registration]:
    """Nodes that were closed for new pods, by name: what a user has patched, and the jobs that were there by then."""
    return {item.registration.id: item.registration for item in state.existing(kinds.NODE)}


def _annotations(closed: Mapping[str, Any]) -> Object:
    found = (closed.get("metadata") or {}).get("annotations")
    return {"annotations": found} if found else {}


def _node(state: AccountState, item: CloudObject, number: int) -> Object:
    group = item.registration
    # The same instance as EC2 lists.
    instance = made_id("i", group.urn, group.id, number)
    hardware = view.instance_type_of(state, group)
    zones = view.zones_of(state, group)
    zone = zones[number % len(zones)] if zones else ""
    name = _name(instance, zone)
    labels = {
        **(group.inputs.get("labels") or {}),
        "eks.amazonaws.com/nodegroup": group.inputs["nodeGroupName"],
        "eks.amazonaws.com/capacityType": group.inputs.get("capacityType", "ON_DEMAND"),
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": hardware.name if hardware else "",
        "topology.k8s.aws/zone-id": zone,
    }
    taints = [
        {"key": taint["key"], "value": taint.get("value", ""), "effect": _EFFECTS[taint["effect"]]}
        for taint in group.inputs.get("taints") or ()
    ]
    is_ready = item.status in ("ready", "deleting")
    closed = next((each.registration.inputs for each in state.existing(kinds.NODE) if each.registration.id == name), {})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"node-{instance}", "labels": labels, **_annotations(closed)},
        "spec": {"providerID": f"aws:///{zone}/{instance}", "taints": taints, **(closed.get("spec") or {})},
        "status": {
            "conditions": [{"type": "Ready", "status": "True" if is_ready else "Unknown"}],
            "allocatable": allocatable(state, group, hardware),
        },
    }


def _name(instance: str, zone: str) -> str:
    third, fourth = int(instance[2:4], 16), int(instance[4:6], 16)
    return f"ip-10-0-{third}-{fourth}.{zone or 'none'}.compute.internal"


def allocatable(state: AccountState, group: Registration, hardware: InstanceType | None) -> dict[str, str]:
    """What pods can ask of a node, as text; devices only where their plug-in runs."""
    if hardware is None:
        return {}
    found = {"cpu": str(hardware.vcpu_count), "memory": f"{hardware.memory_gib}Gi", "pods": str(hardware.max_pods)}
    if hardware.chip_count and plugin_runs(state, "neuron-device-plugin") and not claims_chips(state):
        found |= {NEURON_RESOURCE: str(hardware.chip_count), NEURON_CORE_RESOURCE: str(hardware.logical_core_count)}
    interfaces = efa_count(state, group)
    if interfaces and plugin_runs(state, "aws-efa-k8s-device-plugin"):
        found[EFA_RESOURCE] = str(interfaces)
    return found


def efa_count(state: AccountState, group: Registration) -> int:
    """EFA interfaces of one node of a group, from its launch template."""
    interfaces = view.listed(view.template_of(state, group).get("networkInterfaces"))
    return sum(1 for interface in interfaces if interface.get("interfaceType") in _EFA_KINDS)


def plugin_runs(state: AccountState, name: str) -> bool:
    """Whether the release that brings a device plug-in is installed."""
    return any(_chart(release) == PLUGINS[name] for release in state.ready(kinds.RELEASE))


def claims_chips(state: AccountState) -> bool:
    """Whether Neuron's chart brings its DRA driver, and with it no device plug-in."""
    charts = (item for item in state.ready(kinds.RELEASE) if _chart(item) == PLUGINS["neuron-device-plugin"])
    return any(((item.inputs.get("values") or {}).get("draDriver") or {}).get("enabled") for item in charts)


def claims_interfaces(state: AccountState) -> bool:
    """Whether EFA's DRA driver is there."""
    return any(_chart(item) == "aws-dranet" for item in state.ready(kinds.RELEASE))


def slices(state: AccountState) -> Iterator[Object]:
    """ResourceSlices of every node whose devices are handed out by claims."""
    for node in nodes(state):
        name = node["metadata"]["labels"]["node.kubernetes.io/instance-type"]
        hardware = NEURON_TYPES.get(name)
        if hardware is not None and claims_chips(state):
            yield neuron_slice(node, hardware, version_text(NEWEST_DRIVER))
        if hardware is not None and hardware.has_efa and claims_interfaces(state):
            yield efa_slice(node, hardware, hardware.efa_count)


def _chart(release: Registration) -> str:
    return str(release.inputs["chart"]).rsplit("/", 1)[-1]


def is_neuron(node: Object) -> bool:
    """Whether a node has Neuron devices."""
    return node["metadata"]["labels"]["node.kubernetes.io/instance-type"] in NEURON_TYPES
