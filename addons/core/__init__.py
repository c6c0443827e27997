"""Add-ons that are always there, all managed by EKS: pod network, Service routing, identities, names, volumes."""

from pydantic import Field

from addons.declaration import Declaration
from facts.section import Section

DEFAULT_STORAGE_CLASS = "gp3"


class CoreDnsSettings(Section):
    """CoreDNS's own autoscaling, by EKS."""

    autoscaled: bool = False
    """Let EKS add replicas with the number of nodes and cores; without it there are two."""
    min_replicas: int = Field(default=2, ge=2, le=1000)
    """Fewest replicas."""
    max_replicas: int = Field(default=10, ge=2, le=1000)
    """Most replicas."""


DECLARATIONS = (
    Declaration(
        "vpc-cni", "VPC CNI", "Gives pods addresses of the VPC", "control-plane", "kube-system", "all",
        managed=("vpc-cni",), identities=("kube-system/aws-node",), endpoints=("ec2",),
    ),
    Declaration("kube-proxy", "kube-proxy", "Routes Services", "control-plane", "kube-system", "all", managed=("kube-proxy",)),
    Declaration(
        "eks-pod-identity-agent", "Pod Identity agent", "Gives AWS identities to pods", "eks-pod-identity-agent", "kube-system", "all",
        managed=("eks-pod-identity-agent",), endpoints=("eks-auth",),
    ),
    Declaration(
        "coredns", "CoreDNS", "Names of Services; scaled by EKS where `addons.coreDns.autoscaled` says so", "coredns", "kube-system", "core",
        managed=("coredns",),
    ),
    Declaration(
        "aws-ebs-csi-driver", "EBS CSI driver", "Volumes of the default class: encrypted gp3", "aws-ebs-csi-driver", "kube-system", "all",
        managed=("aws-ebs-csi-driver",), identities=("kube-system/ebs-csi-controller-sa",), endpoints=("ec2",),
    ),
    Declaration(
        "aws-fsx-csi-driver", "FSx CSI driver", "Mounts the Lustre file system; there where `storage.lustre.enabled` is", "aws-fsx-csi-driver",
        "kube-system", "all", managed=("aws-fsx-csi-driver",), identities=("kube-system/fsx-csi-controller-sa",),
        endpoints=("fsx",), called_in=lambda cluster: ("fsx",) if cluster.claim_name is not None and not cluster.has_existing_file_system else (),
    ),
)  # fmt: skip
"""Add-ons without a switch: the cluster cannot work without them."""
