"""The shortest time in which this cluster could possibly be ready, without regard to the program's own dependencies.

The chains are AWS's and Kubernetes' own: a subnet needs its kinds.VPC, a control plane its subnets, a node its control plane and
a way out. They name resource types and the identifiers that inputs carry, and never look at a recorded dependency.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from ipaddress import IPv4Network

from simulator import latencies
from simulator.account import kinds
from simulator.account.charts import chart_of, kinds_brought, needs_node
from simulator.account.one_cluster import cluster_of
from simulator.recording import Indexed, Recording, Registration


def lower_bound_s(recording: Recording, seed: int) -> float:
    """Seconds of the longest chain that physics allows no way around, with the same latencies as the rehearsal."""

    recording = Indexed(recording)

    @cache
    def ready(urn: str) -> float:
        registration = recording.registrations[urn]
        needs, one_of = _needs(recording, registration)
        earliest = max((ready(need.urn) for need in needs), default=0.0)
        # Any one of these will do, so only the fastest is a bound.
        fastest = min((ready(need.urn) for need in one_of), default=0.0)
        return max(earliest, fastest) + latencies.seconds(registration, "create", seed)

    return round(max((ready(item.urn) for item in recording.resources()), default=0.0), 1)


Needs = tuple[list[Registration], list[Registration]]
"""All of the first, and any one of the second."""


def _needs(recording: Recording, registration: Registration) -> Needs:
    """What the resource cannot be ready without."""
    rule = _RULES.get(registration.type)
    if rule is not None:
        return rule(recording, registration)
    if kinds.is_kubernetes(registration.type):
        return _custom(recording, registration) if kinds.is_custom_resource(registration.type) else (_clusters(recording, registration), [])
    return [], []


def _by_id(recording: Recording, kind: str, ids: Iterable[str]) -> list[Registration]:
    wanted = set(ids)
    return [item for item in recording.of_type(kind) if item.id in wanted]


def _vpc_of(recording: Recording, registration: Registration) -> Needs:
    return _by_id(recording, kinds.VPC, [registration.inputs["vpcId"]]), []


def _subnet(recording: Recording, registration: Registration) -> Needs:
    cidr = str(registration.inputs["cidrBlock"])
    blocks = [item for item in recording.of_type(kinds.POD_BLOCK) if _inside(cidr, str(item.inputs["cidrBlock"]))]
    return [*_vpc_of(recording, registration)[0], *blocks], []


def _inside(cidr: str, block: str) -> bool:
    return IPv4Network(cidr).subnet_of(IPv4Network(block))


def _cluster(recording: Recording, registration: Registration) -> Needs:
    return _by_id(recording, kinds.SUBNET, registration.inputs["vpcConfig"]["subnetIds"]), []


def _node_group(recording: Recording, registration: Registration) -> Needs:
    clusters = _by_id(recording, kinds.CLUSTER, [registration.inputs["clusterName"]])
    subnets = _by_id(recording, kinds.SUBNET, registration.inputs["subnetIds"])
    vpcs = {subnet.inputs["vpcId"] for subnet in subnets}
    beside = {subnet.id for subnet in recording.of_type(kinds.SUBNET) if subnet.inputs["vpcId"] in vpcs}
    return [*clusters, *subnets], [item for item in recording.of_type(kinds.NAT_GATEWAY) if item.inputs["subnetId"] in beside]


def _clusters(recording: Recording, registration: Registration) -> list[Registration]:
    """The cluster that keeps an object; all where that is not known."""
    return [item for item in recording.of_type(kinds.CLUSTER) if registration.cluster in ("", item.id)]


def _untainted(recording: Recording, registration: Registration) -> list[Registration]:
    wanted = cluster_of(registration)
    groups = recording.of_type(kinds.NODE_GROUP)
    return [item for item in groups if not item.inputs.get("taints") and wanted in ("", item.inputs["clusterName"])]


def _addon(recording: Recording, registration: Registration) -> Needs:
    nodes = _untainted(recording, registration) if needs_node(registration) else []
    return _by_id(recording, kinds.CLUSTER, [registration.inputs["clusterName"]]), nodes


def _release(recording: Recording, registration: Registration) -> Needs:
    chart = chart_of(registration)
    needed = chart.needs if chart is not None else ""
    nodes = _untainted(recording, registration) if needs_node(registration) else []
    return [*_clusters(recording, registration), *_releases(recording, registration, needed)], nodes


def _releases(recording: Recording, registration: Registration, chart: str) -> list[Registration]:
    """Releases of the chart without whose kinds another of its cluster cannot start."""
    found = (release for release in recording.of_type(kinds.RELEASE) if release.inputs["name"] == chart)
    return [release for release in found if release.cluster == registration.cluster]


def _file_system(recording: Recording, registration: Registration) -> Needs:
    subnets = registration.inputs["subnetIds"]
    return _by_id(recording, kinds.SUBNET, [subnets] if isinstance(subnets, str) else subnets), []


def _custom(recording: Recording, registration: Registration) -> Needs:
    """Any chart that brings the kind will do, and with it the webhook that lets the object in."""
    kind = kinds.object_kind(registration.type)
    found = (*recording.of_type(kinds.RELEASE), *recording.of_type(kinds.ADDON))
    bringing = [item for item in found if kind in kinds_brought(item) and registration.cluster in ("", cluster_of(item))]
    return _clusters(recording, registration), bringing


def _volume(recording: Recording, registration: Registration) -> Needs:
    return [
        *_clusters(recording, registration),
        *_by_id(recording, kinds.FILE_SYSTEM, [registration.inputs["spec"]["csi"]["volumeHandle"]]),
    ], []


def _claim(recording: Recording, registration: Registration) -> Needs:
    name = registration.inputs["spec"].get("volumeName")
    volumes = (volume for volume in recording.of_type(kinds.VOLUME) if volume.cluster == registration.cluster)
    return [volume for volume in volumes if volume.inputs["metadata"]["name"] == name], []


def _deployment(recording: Recording, registration: Registration) -> Needs:
    return _clusters(recording, registration), _untainted(recording, registration)


_RULES: Mapping[str, Callable[[Recording, Registration], Needs]] = {
    kinds.SUBNET: _subnet,
    kinds.POD_BLOCK: _vpc_of,
    kinds.NAT_GATEWAY: lambda recording, item: (_by_id(recording, kinds.SUBNET, [item.inputs["subnetId"]]), []),
    kinds.CLUSTER: _cluster,
    kinds.NODE_GROUP: _node_group,
    kinds.ADDON: _addon,
    kinds.FILE_SYSTEM: _file_system,
    kinds.RELEASE: _release,
    kinds.DEPLOYMENT: _deployment,
    kinds.VOLUME: _volume,
    kinds.CLAIM: _claim,
}
