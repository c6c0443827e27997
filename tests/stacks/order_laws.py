"""The order in which a cluster must go: pairs of kinds, the first of which has ended before the second begins."""

from collections.abc import Callable

from addons.declaration import Declaration
from addons.registry import REGISTRY
from simulator.engine.schedule import Phase
from simulator.recording import Recording, Registration

Kind = Callable[[Registration], bool]
RELEASE = "kubernetes:helm.sh/v3:Release"
VOLCANO_QUEUE = "kubernetes:scheduling.volcano.sh/v1beta1:Queue"


def _type(*types: str) -> Kind:
    return lambda item: item.type.rsplit(":", 1)[-1] in types


def _addon(*names: str) -> Kind:
    return lambda item: item.type == "aws:eks/addon:Addon" and item.inputs["addonName"] in names


def _release(name: str) -> Kind:
    return lambda item: item.type == RELEASE and item.inputs["name"] == name


def _in_kubernetes(item: Registration) -> bool:
    return item.type.startswith("kubernetes:")


def _in_cluster(item: Registration) -> bool:
    """What EKS, or the cluster itself, holds."""
    return _in_kubernetes(item) or item.type in ("aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon", "aws:autoscaling/tag:Tag")


_node_groups, _control_plane = _type("NodeGroup"), _type("Cluster")

LAWS: dict[str, tuple[Kind, Kind]] = {
    "queues before Volcano": (lambda item: item.type == VOLCANO_QUEUE, _release("volcano")),
    "claims before volumes": (_type("PersistentVolumeClaim"), _type("PersistentVolume")),
    "volumes before the file system": (_type("PersistentVolume"), _type("LustreFileSystem")),
    "volumes and classes before the FSx driver": (
        lambda item: _type("PersistentVolume")(item) or item.name == "fsx-lustre",
        _addon("aws-fsx-csi-driver"),
    ),
    "the default class before the EBS driver": (lambda item: item.name == "default-storage-class", _addon("aws-ebs-csi-driver")),
    "everything in Kubernetes before any node group": (_in_kubernetes, _node_groups),
    "add-ons that need nodes before any node group": (_addon("coredns", "aws-ebs-csi-driver", "aws-fsx-csi-driver"), _node_groups),
    "add-ons with identities before the agent": (_addon("aws-ebs-csi-driver", "aws-fsx-csi-driver"), _addon("eks-pod-identity-agent")),
    "node groups before vpc-cni": (_node_groups, _addon("vpc-cni")),
    "node groups before the CNI's identity": (_node_groups, _type("PodIdentityAssociation")),
    "node groups before launch templates": (_node_groups, _type("LaunchTemplate")),
    "launch templates before placement groups": (_type("LaunchTemplate"), _type("PlacementGroup")),
    "everything in the cluster before the control plane": (_in_cluster, _control_plane),
    "the control plane before security groups, subnets, VPC, role and key": (
        _control_plane,
        lambda item: item.type.startswith("aws:") and _type("SecurityGroup", "Subnet", "Vpc", "Role", "Key", "LogGroup")(item),
    ),
    "the file system before security groups and subnets": (_type("LustreFileSystem"), _type("SecurityGroup", "Subnet")),
    "NAT gateways before addresses and the internet gateway": (_type("NatGateway"), _type("Eip", "InternetGateway")),
    "subnets before their block": (lambda item: _type("Subnet")(item) and "-node-" in item.name, _type("VpcIpv4CidrBlockAssociation")),
    "everything in the VPC before the VPC": (
        _type("Subnet", "SecurityGroup", "InternetGateway", "RouteTable", "VpcEndpoint"),
        _type("Vpc"),
    ),
}


def _kind(kind: str) -> str:
    """Type token of a custom resource, from its API version and kind."""
    return "kubernetes:" + kind.replace(" ", ":")


def _charts_of(declaration: Declaration) -> Kind:
    names = {chart.name for chart in declaration.charts}
    return lambda item: item.type == RELEASE and item.inputs["name"] in names


def _identities_of(declaration: Declaration) -> Kind:
    accounts = set(declaration.identities)
    return lambda item: _type("PodIdentityAssociation")(item) and f"{item.inputs['namespace']}/{item.inputs['serviceAccount']}" in accounts


def _laws_of(declaration: Declaration) -> dict[str, tuple[Kind, Kind]]:
    """What holds for every add-on: objects before the chart that brings their kind, pods before their rights, fences."""
    laws: dict[str, tuple[Kind, Kind]] = {}
    kinds = {_kind(kind) for kind in declaration.kinds}
    if kinds and declaration.charts:
        laws[f"{declaration.title}: objects before their chart"] = (lambda item: item.type in kinds, _charts_of(declaration))
    if declaration.charts and declaration.identities:
        laws[f"{declaration.title}: pods before their rights"] = (_charts_of(declaration), _identities_of(declaration))
    if declaration.fenced:
        own = {chart.name for chart in declaration.charts}
        others = [other for other in REGISTRY if not other.fenced]
        names = {chart.name for other in others for chart in other.charts} - own
        laws[f"{declaration.title} before all other charts"] = (
            _charts_of(declaration),
            lambda item: item.type == RELEASE and item.inputs["name"] in names,
        )
    return laws


ADDON_LAWS: dict[str, tuple[Kind, Kind]] = {law: pair for declaration in REGISTRY for law, pair in _laws_of(declaration).items()} | {
    "the training namespace before the load balancer controller": (
        lambda item: item.name == "training-namespace",
        _release("aws-load-balancer-controller"),
    ),
    "training-operator: the operator before its kinds": (
        lambda item: _type("Deployment")(item) and item.name == "training-operator",
        lambda item: item.name in ("pytorchjobs", "tfjobs"),
    ),
    "training-operator: the operator before Volcano, whose gangs it makes": (
        lambda item: _type("Deployment")(item) and item.name == "training-operator",
        _release("volcano"),
    ),
    "Slurm: the cluster before its operator": (_release("slurm"), _release("slurm-operator")),
    "Slurm: the operator before its kinds": (_release("slurm-operator"), _release("slurm-operator-crds")),
    "Slurm: the operator before cert-manager": (_release("slurm-operator"), _release("cert-manager")),
    "Slurm: the cluster before what it mounts": (
        _release("slurm"),
        lambda item: _type("PersistentVolumeClaim")(item) or item.name == "default-storage-class",
    ),
    "MPI operator: the operator before its kind": (
        lambda item: _type("Deployment")(item) and item.name == "mpi-operator",
        lambda item: item.name == "mpijobs",
    ),
    "Batch: the right to the namespace before the environment, with which its entry comes": (
        lambda item: item.type.endswith(":AccessPolicyAssociation") and item.name == "batch",
        _type("ComputeEnvironment"),
    ),
    "Batch: the queue before the environment that it names": (_type("JobQueue"), _type("ComputeEnvironment")),
    "Batch: the environment before its namespace": (_type("ComputeEnvironment"), lambda item: item.name == "training-namespace"),
    "Kueue: queues before flavors": (_type("ClusterQueue"), _type("ResourceFlavor")),
    "Volcano: queues before those above them": (lambda item: item.name == "queue-nlp", lambda item: item.name == "queue-team"),
    "Karpenter: pools before classes": (_type("NodePool"), _type("EC2NodeClass")),
    "Karpenter: the controller before its CRDs": (_release("karpenter"), _release("karpenter-crd")),
    "Karpenter: pools before their nodes' way in": (_type("NodePool"), lambda item: item.name == "karpenter-nodes"),
    "Karpenter: the controller before its queue": (
        _release("karpenter"),
        lambda item: _type("Queue")(item) and item.type.startswith("aws:"),
    ),
}


def violations(recording: Recording, destroy: Phase) -> list[str]:
    """Pairs that break a law, in words."""
    found = []
    resources = [item for item in recording if item.custom and not item.type.startswith("pulumi:providers:")]
    for law, (first, second) in (LAWS | ADDON_LAWS).items():
        last = max((item for item in resources if first(item)), key=lambda item: destroy.steps[item.urn].end, default=None)
        soonest = min((item for item in resources if second(item)), key=lambda item: destroy.steps[item.urn].start, default=None)
        if last is not None and soonest is not None and destroy.steps[last.urn].end > destroy.steps[soonest.urn].start:
            found.append(f"{law}: {last.type} {last.name} ends after {soonest.type} {soonest.name} began")
    return found
