"""EKS managed add-ons at pinned versions, each with a role of its own where it calls AWS."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

from addons.declaration import Declaration
from components.identity import ServiceAccount, service_account_role
from facts import iam, regions
from facts.names import cluster_tags

DEFAULT_STORAGE_CLASS = "gp3"
CORE_DECLARATIONS = (
    Declaration(
        "vpc-cni", "VPC CNI", "Gives pods addresses of the VPC", "control-plane", "kube-system", "all",
        managed=("vpc-cni",), identities=("kube-system/aws-node",), switch=False,
    ),
    Declaration("kube-proxy", "kube-proxy", "Routes Services", "control-plane", "kube-system", "all", managed=("kube-proxy",), switch=False),
    Declaration(
        "eks-pod-identity-agent", "Pod Identity agent", "Hands AWS identities to pods", "eks-pod-identity-agent", "kube-system", "all",
        managed=("eks-pod-identity-agent",), switch=False,
    ),
    Declaration(
        "coredns", "CoreDNS", "Names of Services; scaled by EKS where `addons.coreDns.autoscaled` says so", "coredns", "kube-system", "core",
        managed=("coredns",), switch=False,
    ),
    Declaration(
        "aws-ebs-csi-driver", "EBS CSI driver", "Volumes of the default class: encrypted gp3", "aws-ebs-csi-driver", "kube-system", "all",
        managed=("aws-ebs-csi-driver",), identities=("kube-system/ebs-csi-controller-sa",), switch=False,
    ),
    Declaration(
        "aws-fsx-csi-driver", "FSx CSI driver", "Mounts the Lustre file system; there where `storage.lustre.enabled` is", "aws-fsx-csi-driver",
        "kube-system", "all", managed=("aws-fsx-csi-driver",), identities=("kube-system/fsx-csi-controller-sa",), switch=False,
    ),
)  # fmt: skip
"""Add-ons without a switch: the cluster is none without them."""


@dataclass(frozen=True)
class ManagedAddonArgs:
    """What a managed add-on is made from."""

    addon: str
    """Name in EKS, such as `coredns`."""
    version: str
    control_plane_name: pulumi.Input[str]
    """The control plane's name output."""
    account: ServiceAccount | None = None
    """The service account that calls AWS, where there is one."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Values in the add-on's own schema."""


class ManagedAddon(pulumi.ComponentResource):
    """One add-on. `after` holds nodes for add-ons with Deployments: without a node they are DEGRADED for 20 minutes."""

    addon: aws.eks.Addon

    def __init__(
        self, name: str, args: ManagedAddonArgs, *, after: Sequence[pulumi.Resource] = (), opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trn:addons:ManagedAddon", name, None, opts)
        identity: list[pulumi.Input[aws.eks.AddonPodIdentityAssociationArgs]] = []
        needs = list(after)
        if args.account is not None:
            role = service_account_role(name, args.account, pulumi.ResourceOptions(parent=self))
            identity.append(aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=args.account.name))
            needs += role.grants
        self.addon = aws.eks.Addon(
            name,
            cluster_name=args.control_plane_name,
            addon_name=args.addon,
            addon_version=args.version,
            # EKS puts a self-managed coredns into each new cluster; ours takes it over.
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            configuration_values=json.dumps(args.configuration, sort_keys=True) if args.configuration else None,
            pod_identity_associations=identity or None,
            opts=pulumi.ResourceOptions(parent=self, depends_on=needs),
        )
        self.register_outputs({"addon": self.addon.id})


def ebs_csi_account(cluster_name: str, region: str) -> ServiceAccount:
    """The EBS driver's controller and what it may do."""
    policy = iam.ebs_csi_policy(regions.partition(region))
    return ServiceAccount(cluster_name, region, "kube-system", "ebs-csi-controller-sa", "ebs-csi", policy=policy)


def ebs_csi_configuration(cluster_name: str) -> dict[str, Any]:
    """Volumes carry the cluster's tag, so that a sweep finds those whose claim was never deleted."""
    return {"controller": {"extraVolumeTags": cluster_tags(cluster_name)}}


def coredns_configuration(*, autoscaled: bool, min_replicas: int, max_replicas: int) -> dict[str, Any]:
    """EKS's own autoscaler of CoreDNS, which counts nodes and cores; empty leaves the add-on at its two replicas."""
    return {"autoScaling": {"enabled": True, "minReplicas": min_replicas, "maxReplicas": max_replicas}} if autoscaled else {}


def fsx_csi_account(cluster_name: str, region: str) -> ServiceAccount:
    """The FSx driver's controller; only claims of the dynamic class make it call FSx."""
    policy = iam.fsx_csi_policy(regions.partition(region), region, cluster_name)
    return ServiceAccount(cluster_name, region, "kube-system", "fsx-csi-controller-sa", "fsx-csi", policy=policy)


def vpc_cni_account(cluster_name: str, region: str) -> ServiceAccount:
    """The CNI's DaemonSet; with a role of its own the node role needs none of its rights."""
    return ServiceAccount(cluster_name, region, "kube-system", "aws-node", "vpc-cni", managed_policies=("AmazonEKS_CNI_Policy",))


def default_storage_class(name: str, opts: pulumi.ResourceOptions) -> k8s.storage.v1.StorageClass:
    """Encrypted gp3 for claims that name no class; EKS itself marks no class as default from 1.30 on."""
    return k8s.storage.v1.StorageClass(
        name,
        metadata={"name": DEFAULT_STORAGE_CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        provisioner="ebs.csi.aws.com",
        parameters={"type": "gp3", "encrypted": "true"},
        # The volume must be made in the zone of the node that mounts it.
        volume_binding_mode="WaitForFirstConsumer",
        allow_volume_expansion=True,
        reclaim_policy="Delete",
        opts=opts,
    )
