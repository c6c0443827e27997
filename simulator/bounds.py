"""The shortest time in which this cluster could possibly be ready, whatever the program's own dependencies say.

The chains are AWS's and Kubernetes' own: a subnet needs its VPC, a control plane its subnets, a node its control plane and
a way out. They name resource types and the identifiers that inputs carry, and never look at a recorded dependency.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from ipaddress import IPv4Network

from simulator import latencies
from simulator.recording import Recording, Registration

VPC = "aws:ec2/vpc:Vpc"
POD_BLOCK = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
SUBNET = "aws:ec2/subnet:Subnet"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"
RELEASE = "kubernetes:helm.sh/v3:Release"
QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"

ADDONS_WITH_DEPLOYMENTS = frozenset({"coredns", "aws-ebs-csi-driver", "aws-fsx-csi-driver"})
"""Degraded until an untainted node is ready (EKS API, AddonIssueCode InsufficientNumberOfReplicas)."""
CHARTS_WITH_DEPLOYMENTS = frozenset({"volcano"})


def lower_bound_s(recording: Recording, seed: int) -> float:
    """Seconds of the longest chain that physics allows no way around, with the same latencies as the rehearsal."""

    @cache
    def ready(urn: str) -> float:
        registration = recording.registrations[urn]
        earliest = max((ready(need) for need in _needs(recording, registration)), default=0.0)
        return earliest + latencies.seconds(registration, "create", seed)

    return round(max((ready(item.urn) for item in recording.resources()), default=0.0), 1)


def _needs(recording: Recording, registration: Registration) -> Iterable[str]:
    """URNs without which the resource cannot be ready."""
    rule = _RULES.get(registration.type)
    if rule is not None:
        return [item.urn for item in rule(recording, registration)]
    if registration.type.startswith("kubernetes:"):
        return [item.urn for item in recording.of_type(CLUSTER)]
    return []


def _by_id(recording: Recording, kind: str, ids: Iterable[str]) -> list[Registration]:
    wanted = set(ids)
    return [item for item in recording.of_type(kind) if item.id in wanted]


def _vpc_of(recording: Recording, registration: Registration) -> list[Registration]:
    return _by_id(recording, VPC, [registration.inputs["vpcId"]])


def _subnet(recording: Recording, registration: Registration) -> list[Registration]:
    cidr = str(registration.inputs["cidrBlock"])
    blocks = [item for item in recording.of_type(POD_BLOCK) if _inside(cidr, str(item.inputs["cidrBlock"]))]
    return [*_vpc_of(recording, registration), *blocks]


def _inside(cidr: str, block: str) -> bool:
    return IPv4Network(cidr).subnet_of(IPv4Network(block))


def _cluster(recording: Recording, registration: Registration) -> list[Registration]:
    return _by_id(recording, SUBNET, registration.inputs["vpcConfig"]["subnetIds"])


def _node_group(recording: Recording, registration: Registration) -> list[Registration]:
    clusters = _by_id(recording, CLUSTER, [registration.inputs["clusterName"]])
    return [*clusters, *_by_id(recording, SUBNET, registration.inputs["subnetIds"]), *recording.of_type(NAT_GATEWAY)[:1]]


def _untainted(recording: Recording) -> list[Registration]:
    return [item for item in recording.of_type(NODE_GROUP) if not item.inputs.get("taints")]


def _addon(recording: Recording, registration: Registration) -> list[Registration]:
    clusters = _by_id(recording, CLUSTER, [registration.inputs["clusterName"]])
    nodes = _untainted(recording)[:1] if registration.inputs["addonName"] in ADDONS_WITH_DEPLOYMENTS else []
    return [*clusters, *nodes]


def _release(recording: Recording, registration: Registration) -> list[Registration]:
    nodes = _untainted(recording)[:1] if registration.inputs["name"] in CHARTS_WITH_DEPLOYMENTS else []
    return [*recording.of_type(CLUSTER), *nodes]


def _file_system(recording: Recording, registration: Registration) -> list[Registration]:
    subnets = registration.inputs["subnetIds"]
    return _by_id(recording, SUBNET, [subnets] if isinstance(subnets, str) else subnets)


_RULES: Mapping[str, Callable[[Recording, Registration], list[Registration]]] = {
    SUBNET: _subnet,
    POD_BLOCK: _vpc_of,
    NAT_GATEWAY: lambda recording, item: _by_id(recording, SUBNET, [item.inputs["subnetId"]]),
    CLUSTER: _cluster,
    NODE_GROUP: _node_group,
    ADDON: _addon,
    FILE_SYSTEM: _file_system,
    RELEASE: _release,
    QUEUE: lambda recording, item: [release for release in recording.of_type(RELEASE) if release.inputs["name"] == "volcano"],
    VOLUME: lambda recording, item: [
        *recording.of_type(CLUSTER), *_by_id(recording, FILE_SYSTEM, [item.inputs["spec"]["csi"]["volumeHandle"]])
    ],
    CLAIM: lambda recording, item: [
        volume for volume in recording.of_type(VOLUME) if volume.inputs["metadata"]["name"] == item.inputs["spec"].get("volumeName")
    ],
}  # fmt: skip
