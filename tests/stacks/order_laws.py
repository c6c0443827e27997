"""The order in which a cluster must go: pairs of kinds, the first of which has ended before the second begins."""

from collections.abc import Callable

from simulator.recording import Recording, Registration
from simulator.schedule import Phase

Kind = Callable[[Registration], bool]


def _type(*types: str) -> Kind:
    return lambda item: item.type.rsplit(":", 1)[-1] in types


def _addon(*names: str) -> Kind:
    return lambda item: item.type == "aws:eks/addon:Addon" and item.inputs["addonName"] in names


def _release(name: str) -> Kind:
    return lambda item: item.type == "kubernetes:helm.sh/v3:Release" and item.inputs["name"] == name


def _in_kubernetes(item: Registration) -> bool:
    return item.type.startswith("kubernetes:")


def _in_cluster(item: Registration) -> bool:
    """What EKS, or the cluster itself, holds."""
    return _in_kubernetes(item) or item.type in ("aws:eks/nodeGroup:NodeGroup", "aws:eks/addon:Addon", "aws:autoscaling/tag:Tag")


_node_groups, _control_plane = _type("NodeGroup"), _type("Cluster")

LAWS: dict[str, tuple[Kind, Kind]] = {
    "queues before Volcano": (_type("Queue"), _release("volcano")),
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
        _type("SecurityGroup", "Subnet", "Vpc", "Role", "Key", "LogGroup"),
    ),
    "the file system before security groups and subnets": (_type("LustreFileSystem"), _type("SecurityGroup", "Subnet")),
    "NAT gateways before addresses and the internet gateway": (_type("NatGateway"), _type("Eip", "InternetGateway")),
    "subnets before their block": (lambda item: _type("Subnet")(item) and "-node-" in item.name, _type("VpcIpv4CidrBlockAssociation")),
    "everything in the VPC before the VPC": (
        _type("Subnet", "SecurityGroup", "InternetGateway", "RouteTable", "VpcEndpoint"),
        _type("Vpc"),
    ),
}


def violations(recording: Recording, destroy: Phase) -> list[str]:
    """Pairs that break a law, in words."""
    found = []
    resources = [item for item in recording if item.custom and not item.type.startswith("pulumi:providers:")]
    for law, (first, second) in LAWS.items():
        last = max((item for item in resources if first(item)), key=lambda item: destroy.steps[item.urn].end, default=None)
        soonest = min((item for item in resources if second(item)), key=lambda item: destroy.steps[item.urn].start, default=None)
        if last is not None and soonest is not None and destroy.steps[last.urn].end > destroy.steps[soonest.urn].start:
            found.append(f"{law}: {last.type} {last.name} ends after {soonest.type} {soonest.name} began")
    return found
