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

ADDONS_WITH_DEPLOYMENTS = frozenset(
    {
        "coredns",
        "aws-ebs-csi-driver",
        "aws-fsx-csi-driver",
        "aws-efs-csi-driver",
        "aws-mountpoint-s3-csi-driver",
        "amazon-cloudwatch-observability",
    }
)
"""Degraded until an untainted node is ready (EKS API, AddonIssueCode InsufficientNumberOfReplicas)."""
CHARTS_WITH_DEPLOYMENTS = frozenset(
    {
        "volcano",
        "metrics-server",
        "cluster-autoscaler",
        "karpenter",
        "kube-prometheus-stack",
        "grafana",
        "kueue",
        "kubeflow-trainer",
        "kuberay-operator",
        "lws",
        "cert-manager",
        "aws-load-balancer-controller",
        "slurm-operator",
    }
)
CHARTS_NEEDED: Mapping[str, str] = {"karpenter": "karpenter-crd", "slurm-operator": "slurm-operator-crds", "slurm": "slurm-operator"}
"""Charts whose pods cannot start without another chart's CRDs."""
BROUGHT_BY: Mapping[str, str] = {
    QUEUE: "volcano",
    "kubernetes:topology.volcano.sh/v1alpha1:HyperNode": "volcano",
    "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor": "kueue",
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue": "kueue",
    "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue": "kueue",
    "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime": "kubeflow-trainer",
    "kubernetes:monitoring.coreos.com/v1:PodMonitor": "kube-prometheus-stack",
    "kubernetes:monitoring.coreos.com/v1:ServiceMonitor": "kube-prometheus-stack",
    "kubernetes:monitoring.coreos.com/v1:PrometheusRule": "kube-prometheus-stack",
    "kubernetes:karpenter.k8s.aws/v1:EC2NodeClass": "karpenter-crd",
    "kubernetes:karpenter.sh/v1:NodePool": "karpenter-crd",
}
"""The chart that brings the kind of a custom resource, and the webhook that lets it in."""


def lower_bound_s(recording: Recording, seed: int) -> float:
    """Seconds of the longest chain that physics allows no way around, with the same latencies as the rehearsal."""

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
    if registration.type.startswith("kubernetes:"):
        return recording.of_type(CLUSTER), []
    return [], []


def _by_id(recording: Recording, kind: str, ids: Iterable[str]) -> list[Registration]:
    wanted = set(ids)
    return [item for item in recording.of_type(kind) if item.id in wanted]


def _vpc_of(recording: Recording, registration: Registration) -> Needs:
    return _by_id(recording, VPC, [registration.inputs["vpcId"]]), []


def _subnet(recording: Recording, registration: Registration) -> Needs:
    cidr = str(registration.inputs["cidrBlock"])
    blocks = [item for item in recording.of_type(POD_BLOCK) if _inside(cidr, str(item.inputs["cidrBlock"]))]
    return [*_vpc_of(recording, registration)[0], *blocks], []


def _inside(cidr: str, block: str) -> bool:
    return IPv4Network(cidr).subnet_of(IPv4Network(block))


def _cluster(recording: Recording, registration: Registration) -> Needs:
    return _by_id(recording, SUBNET, registration.inputs["vpcConfig"]["subnetIds"]), []


def _node_group(recording: Recording, registration: Registration) -> Needs:
    clusters = _by_id(recording, CLUSTER, [registration.inputs["clusterName"]])
    return [*clusters, *_by_id(recording, SUBNET, registration.inputs["subnetIds"])], recording.of_type(NAT_GATEWAY)


def _untainted(recording: Recording) -> list[Registration]:
    return [item for item in recording.of_type(NODE_GROUP) if not item.inputs.get("taints")]


def _addon(recording: Recording, registration: Registration) -> Needs:
    nodes = _untainted(recording) if registration.inputs["addonName"] in ADDONS_WITH_DEPLOYMENTS else []
    return _by_id(recording, CLUSTER, [registration.inputs["clusterName"]]), nodes


def _release(recording: Recording, registration: Registration) -> Needs:
    name = str(registration.inputs["name"])
    nodes = _untainted(recording) if name in CHARTS_WITH_DEPLOYMENTS else []
    return [*recording.of_type(CLUSTER), *_releases(recording, CHARTS_NEEDED.get(name))], nodes


def _releases(recording: Recording, name: str | None) -> list[Registration]:
    return [release for release in recording.of_type(RELEASE) if release.inputs["name"] == name]


def _file_system(recording: Recording, registration: Registration) -> Needs:
    subnets = registration.inputs["subnetIds"]
    return _by_id(recording, SUBNET, [subnets] if isinstance(subnets, str) else subnets), []


def _custom(recording: Recording, registration: Registration) -> Needs:
    return _releases(recording, BROUGHT_BY[registration.type]), []


def _volume(recording: Recording, registration: Registration) -> Needs:
    return [*recording.of_type(CLUSTER), *_by_id(recording, FILE_SYSTEM, [registration.inputs["spec"]["csi"]["volumeHandle"]])], []


def _claim(recording: Recording, registration: Registration) -> Needs:
    name = registration.inputs["spec"].get("volumeName")
    return [volume for volume in recording.of_type(VOLUME) if volume.inputs["metadata"]["name"] == name], []


def _deployment(recording: Recording, registration: Registration) -> Needs:
    return recording.of_type(CLUSTER), _untainted(recording)


_RULES: Mapping[str, Callable[[Recording, Registration], Needs]] = {
    SUBNET: _subnet,
    POD_BLOCK: _vpc_of,
    NAT_GATEWAY: lambda recording, item: (_by_id(recording, SUBNET, [item.inputs["subnetId"]]), []),
    CLUSTER: _cluster,
    NODE_GROUP: _node_group,
    ADDON: _addon,
    FILE_SYSTEM: _file_system,
    RELEASE: _release,
    "kubernetes:apps/v1:Deployment": _deployment,
    **dict.fromkeys(BROUGHT_BY, _custom),
    VOLUME: _volume,
    CLAIM: _claim,
}
