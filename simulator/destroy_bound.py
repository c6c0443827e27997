"""The shortest time in which this cluster could possibly be gone, without regard to the program's own dependencies or the engine's levels.

The chains are AWS's and Kubernetes' own, those of the account's rules for deletions (account/rules/deletion_*.py): a control
plane stays while it has node groups, a subnet while an interface is in it, a VPC while it has subnets. They name resource types
and the identifiers that inputs carry, and never look at a recorded dependency.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network

from simulator import latencies
from simulator.account import kinds
from simulator.account.charts import chart_of, kinds_with_finalizers, runs_delete_jobs
from simulator.account.view import listed
from simulator.recording import Indexed, Recording, Registration


@dataclass(frozen=True)
class DestroyBound:
    """The longest chain of deletions that nothing gets around."""

    seconds: float
    chain: tuple[str, ...]
    """URNs, the first to go first."""


def destroy_bound(recording: Recording, seed: int) -> DestroyBound:
    """The bound with the same latencies as the rehearsal."""

    recording = Indexed(recording)

    @cache
    def gone(urn: str) -> tuple[float, tuple[str, ...]]:
        registration = recording.registrations[urn]
        began, chain = max((gone(holder.urn) for holder in _holders(recording, registration)), default=(0.0, ()))
        kept = registration.options.get("retainOnDelete")
        return began + (0.0 if kept else latencies.seconds(registration, "delete", seed)), (*chain, urn)

    seconds, chain = max((gone(item.urn) for item in recording.resources()), default=(0.0, ()))
    return DestroyBound(round(seconds, 1), chain)


Holders = Iterable[Registration]


def _holders(recording: Recording, registration: Registration) -> list[Registration]:
    """What must be gone before the resource can go."""
    rule = _RULES.get(registration.type)
    return list(rule(recording, registration)) if rule is not None else []


def _naming(recording: Recording, key: str, name: object, *types: str) -> Holders:
    """Resources of some types whose input is, or holds, a name or id."""
    return (item for kind in types for item in recording.of_type(kind) if name in listed(item.inputs.get(key)))


def _of_cluster(recording: Recording, cluster: Registration) -> Holders:
    """Its node groups, and all that is deleted through its API server."""
    yield from _naming(recording, "clusterName", cluster.id, kinds.NODE_GROUP)
    yield from _kept_by(recording, cluster.id)


def _kept_by(recording: Recording, cluster: str) -> Holders:
    """All that the API server of a cluster keeps, and what nothing says of by which it is kept."""
    return (item for item in recording.resources() if kinds.is_kubernetes(item.type) and item.cluster in ("", cluster))


def _of_group(recording: Recording, group: Registration) -> Holders:
    """Releases whose deletion runs a Job, and objects whose finalizer a pod takes off: both need a node."""
    if group.inputs.get("taints"):
        return
    for item in _kept_by(recording, group.inputs["clusterName"]):
        if _waits_for_controller(item) or runs_delete_jobs(item):
            yield item


def _waits_for_controller(item: Registration) -> bool:
    return kinds.is_custom_resource(item.type) and kinds.object_kind(item.type) in kinds_with_finalizers()


def _of_release(recording: Recording, release: Registration) -> Holders:
    """Objects whose finalizer it alone takes off."""
    chart = chart_of(release)
    finalizers = chart.finalizers if chart is not None else ()
    kept = _kept_by(recording, release.cluster) if release.cluster else recording.resources()
    return (item for item in kept if kinds.is_kubernetes(item.type) and kinds.object_kind(item.type) in finalizers)


def _of_subnet(recording: Recording, subnet: Registration) -> Holders:
    """Interfaces: of the control plane, nodes, gateways, endpoints, file systems."""
    yield from (item for item in recording.of_type(kinds.CLUSTER) if subnet.id in item.inputs["vpcConfig"]["subnetIds"])
    yield from _naming(recording, "subnetIds", subnet.id, kinds.NODE_GROUP, kinds.ENDPOINT, kinds.FILE_SYSTEM)
    yield from _naming(recording, "subnetId", subnet.id, kinds.NAT_GATEWAY)


def _of_security_group(recording: Recording, group: Registration) -> Holders:
    """What carries it, and rules of other groups that name it."""
    yield from _naming(recording, "securityGroupIds", group.id, kinds.ENDPOINT, kinds.FILE_SYSTEM)
    rules = _naming(recording, "referencedSecurityGroupId", group.id, kinds.INGRESS, kinds.EGRESS)
    yield from (rule for rule in rules if rule.inputs["securityGroupId"] != group.id)
    yield from _groups_with(recording, lambda template: group.id in _carried(template))


def _carried(template: Registration) -> set[str]:
    """Security groups of all its interfaces."""
    interfaces = listed(template.inputs.get("networkInterfaces")) or [{"securityGroups": template.inputs.get("vpcSecurityGroupIds")}]
    return {one for interface in interfaces for one in listed(interface.get("securityGroups"))}


def _groups_with(recording: Recording, is_meant: Callable[[Registration], bool]) -> Holders:
    """Node groups whose launch template is meant."""
    templates = {template.id for template in recording.of_type(kinds.LAUNCH_TEMPLATE) if is_meant(template)}
    return (item for item in recording.of_type(kinds.NODE_GROUP) if item.inputs.get("launchTemplate", {}).get("id") in templates)


def _of_block(recording: Recording, block: Registration) -> Holders:
    inside = IPv4Network(block.inputs["cidrBlock"])
    return (item for item in recording.of_type(kinds.SUBNET) if IPv4Network(item.inputs["cidrBlock"]).subnet_of(inside))


def _of_gateway(recording: Recording, gateway: Registration) -> Holders:
    subnets = [item.id for item in _naming(recording, "vpcId", gateway.inputs.get("vpcId"), kinds.SUBNET)]
    return (item for item in recording.of_type(kinds.NAT_GATEWAY) if item.inputs["subnetId"] in subnets)


def _of_placement_group(recording: Recording, group: Registration) -> Holders:
    return _groups_with(recording, lambda template: template.inputs.get("placement", {}).get("groupName") == group.id)


_IN_VPC = (kinds.SUBNET, kinds.SECURITY_GROUP, kinds.ENDPOINT, kinds.ROUTE_TABLE, kinds.INTERNET_GATEWAY)
_RULES: Mapping[str, Callable[[Recording, Registration], Holders]] = {
    kinds.VPC: lambda recording, item: _naming(recording, "vpcId", item.id, *_IN_VPC),
    kinds.SUBNET: _of_subnet,
    kinds.POD_BLOCK: _of_block,
    kinds.SECURITY_GROUP: _of_security_group,
    kinds.INTERNET_GATEWAY: _of_gateway,
    kinds.ADDRESS: lambda recording, item: _naming(recording, "allocationId", item.id, kinds.NAT_GATEWAY),
    kinds.PLACEMENT_GROUP: _of_placement_group,
    kinds.CLUSTER: _of_cluster,
    kinds.NODE_GROUP: _of_group,
    kinds.RELEASE: _of_release,
    kinds.VOLUME: lambda recording, item: (
        claim
        for claim in recording.of_type(kinds.CLAIM)
        if (claim.cluster, claim.inputs["spec"].get("volumeName")) == (item.cluster, item.inputs["metadata"]["name"])
    ),
    kinds.ROLE: lambda recording, item: _naming(recording, "role", item.inputs["name"], kinds.ROLE_POLICY, kinds.ROLE_ATTACHMENT),
}
