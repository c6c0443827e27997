"""Groups, nodes and their devices."""

from collections.abc import Iterator, Mapping
from typing import Any

from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from facts.device_claims import EFA_COUNTED, NEURON_COUNTED
from facts.efa import NetworkInterface
from facts.kubernetes_kinds import Resource
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE
from facts.typed import made_again, typed
from trn.aws.eks import node_group, node_group_names
from trn.aws.network import group_rules
from trn.aws.quotas import DESCRIBE_INSTANCES
from trn.cli.findings import Finding, failed, passed, skipped
from trn.kubernetes.claimed import with_slices
from trn.kubernetes.client import Object
from trn.running.subject import Subject, core_count, efa_count, efa_interfaces, hardware, instance_id, name_of

DAEMON_SETS = Resource("DaemonSet", "/apis/apps/v1", "daemonsets")
NEURON_PLUGIN, EFA_PLUGIN = "neuron-device-plugin", "aws-efa-k8s-device-plugin"
NEURON_DRA_DRIVER = ("neuron-dra-driver", "neuron-dra-driver-kubelet-plugin")
EFA_DRA_DRIVER = ("kube-system", "aws-dranet")
"""Namespace and DaemonSet of the DRA drivers (charts as pinned, rendered)."""
EFA_KINDS = ("efa", "efa-only")


def groups(subject: Subject) -> Iterator[Finding]:
    """Every group is ACTIVE: after a failed creation a second `pulumi up` succeeds without a word (seen with CLI 3.260)."""
    cluster = subject.settings.name
    names = list(node_group_names(subject.api, cluster))
    for name in sorted(set(subject.settings.node_groups) - set(names)):
        yield failed("node groups", f"there is no node group {name}", f"`{typed('pulumi up')}` makes it")
    for name in names:
        entry = node_group(subject.api, cluster, name)
        issues = [f"{issue.get('code', '')}: {issue.get('message', '')}" for issue in entry.get("health", {}).get("issues", ())]
        if entry["status"] == "CREATE_FAILED":
            do = f"`{made_again(f'**aws:eks/nodeGroup:NodeGroup::{name}')}`, in another zone where capacity lacks"
            yield failed("node groups", f"{name} is CREATE_FAILED {'; '.join(issues)}".rstrip(), do)
        elif entry["status"] != "ACTIVE" or issues:
            yield failed(
                "node groups", f"{name} is {entry['status']} {'; '.join(issues)}".rstrip(), f"`{typed('trn check')}` for {name}'s needs"
            )
        else:
            yield passed("node groups", f"{name} is ACTIVE")


def ready(subject: Subject) -> Iterator[Finding]:
    """As many nodes are ready as the group is to have now; `trn scale` may have changed it."""
    for group, nodes in subject.nodes.items():
        entry = node_group(subject.api, subject.settings.name, group)
        wanted, there = entry["scalingConfig"]["desiredSize"], sum(1 for node in nodes if _is_ready(node))
        if there == wanted:
            yield passed("nodes ready", f"{group}: {there} of {wanted}")
        else:
            late = ", ".join(name_of(node) for node in nodes if not _is_ready(node)) or "the others have not joined"
            yield failed("nodes ready", f"{group}: {there} of {wanted}; {late}", f"`kubectl describe node -l trn/node-group={group}`")


def _is_ready(node: Object) -> bool:
    return any(item["type"] == "Ready" and item["status"] == "True" for item in node.get("status", {}).get("conditions", ()))


def devices(subject: Subject) -> Iterator[Finding]:
    """Kubernetes offers what the hardware has: fewer mean a plug-in that lost a device."""
    addons = subject.settings.addons
    neuron, efa = addons.of(NeuronSettings), addons.of(EfaSettings)
    if not subject.neuron_nodes:
        yield skipped("devices", "no Neuron node is up")
    nodes = [node for _, node in subject.neuron_nodes]
    if "dra" in (neuron.devices, efa.devices):
        nodes = with_slices(nodes, subject.kubernetes)
    for (group, _), node in zip(subject.neuron_nodes, nodes, strict=True):
        chips, interfaces = hardware(group).chip_count, efa_count(group)
        wanted: dict[str, int] = {}
        if neuron.enabled and neuron.devices == "dra":
            wanted[NEURON_COUNTED] = chips
        elif neuron.enabled:
            wanted |= {NEURON_RESOURCE: chips, NEURON_CORE_RESOURCE: core_count(group)}
        if efa.enabled and interfaces:
            wanted[EFA_COUNTED if efa.devices == "dra" else EFA_RESOURCE] = interfaces
        offered = node["status"]["allocatable"]
        wrong = [f"{key} {offered.get(key, '0')} of {count}" for key, count in wanted.items() if offered.get(key, "0") != str(count)]
        if wrong:
            do = "read the log of the plug-in, or of the driver, on the node; replace the node"
            yield failed("devices", f"{name_of(node)}: {', '.join(wrong)}", do)
        elif wanted:
            yield passed("devices", f"{name_of(node)}: {', '.join(f'{key} {count}' for key, count in wanted.items())}")


def plugins(subject: Subject) -> Iterator[Finding]:
    """A plug-in, or the DRA driver in its place, runs on each node that it is for."""
    addons = subject.settings.addons
    found = {name_of(item): item for item in subject.kubernetes.list(DAEMON_SETS) or ()}
    sides = (
        (NEURON_PLUGIN, NEURON_DRA_DRIVER, addons.of(NeuronSettings), len(subject.neuron_nodes)),
        (EFA_PLUGIN, EFA_DRA_DRIVER, addons.of(EfaSettings), sum(1 for group, _ in subject.neuron_nodes if efa_count(group))),
    )
    for plugin, driver, addon, wanted in sides:
        namespace, name = driver if addon.devices == "dra" else ("kube-system", plugin)
        if not addon.enabled:
            yield skipped("device plug-ins", f"{name} is off in the configuration")
        elif name not in found:
            yield failed("device plug-ins", f"there is no DaemonSet {name}", f"`{typed('pulumi up')}` installs it")
        else:
            there = found[name].get("status", {}).get("numberReady", 0)
            make = passed("device plug-ins", f"{name}: {there} pods ready")
            do = f"`kubectl -n {namespace} describe daemonset {name}`"
            yield make if there >= wanted else failed("device plug-ins", f"{name}: {there} of {wanted} pods ready", do)


def interfaces(subject: Subject) -> Iterator[Finding]:
    """Every instance has its EFA interfaces, in a group whose rules let its traffic through both ways."""
    wanted = {instance_id(node): efa_interfaces(group) for group, node in subject.neuron_nodes if efa_count(group)}
    if not wanted:
        yield skipped("EFA", "no node with EFA is up")
        return
    security_groups: set[str] = set()
    for reservation in subject.api.pages(DESCRIBE_INSTANCES, "Reservations", InstanceIds=sorted(wanted)):
        for entry in reservation["Instances"]:
            attached = [item for item in entry["NetworkInterfaces"] if item.get("InterfaceType") in EFA_KINDS]
            security_groups |= {group["GroupId"] for item in attached for group in item["Groups"]}
            yield _compared(entry["InstanceId"], wanted[entry["InstanceId"]], frozenset(map(_interface, attached)))
    judged = [_self_rules(subject, group_id) for group_id in sorted(security_groups)]
    # One that all of them carry is enough: the group that EKS makes for the cluster has no rule out to itself.
    yield from [finding for finding in judged if finding.verdict == "pass"] or judged


def _interface(item: Mapping[str, Any]) -> NetworkInterface:
    place = item["Attachment"]
    return NetworkInterface(place.get("NetworkCardIndex", 0), place["DeviceIndex"], item["InterfaceType"])


def _compared(instance: str, wanted: frozenset[NetworkInterface], found: frozenset[NetworkInterface]) -> Finding:
    """Count, kind and card, against the layout of the hardware catalogue."""
    wrong = [f"card {item.card} has no {item.kind}" for item in sorted(wanted - found, key=lambda item: item.card)]
    if found - wanted:
        wrong.append(f"{len(found - wanted)} of another kind or in another place")
    text = f"{instance}: {len(found & wanted)} of {len(wanted)} interfaces"
    if wrong:
        return failed("EFA", f"{text}; {', '.join(wrong)}", "the launch template lists them: replace the node")
    return passed("EFA", text)


def _self_rules(subject: Subject, group_id: str) -> Finding:
    rules = group_rules(subject.api, group_id)
    open_ways = {
        "out" if rule["IsEgress"] else "in"
        for rule in rules
        if rule["IpProtocol"] == "-1" and rule.get("ReferencedGroupInfo", {}).get("GroupId") == group_id
    }
    missing = sorted({"in", "out"} - open_ways)
    if missing:
        do = f"`{typed('pulumi refresh')}`, then `{typed('pulumi up')}`: EFA has no IP, and 0.0.0.0/0 does not cover it"
        return failed("EFA", f"{group_id} has no rule to itself: {', '.join(missing)}", do)
    return passed("EFA", f"{group_id} lets all of its own traffic in and out")
