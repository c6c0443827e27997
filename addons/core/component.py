"""Accounts, configurations and the default storage class of the core add-ons."""

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from addons.core import DEFAULT_STORAGE_CLASS, CoreDnsSettings
from components.identity import ServiceAccount
from facts import iam, regions


def ebs_csi_account(cluster_name: str, region: str) -> ServiceAccount:
    """The EBS driver's controller and what it may do."""
    policy = iam.ebs_csi_policy(regions.partition(region))
    return ServiceAccount(cluster_name, region, "kube-system", "ebs-csi-controller-sa", "ebs-csi", policy=policy)


def ebs_csi_configuration(owner_tags: Mapping[str, str]) -> dict[str, Any]:
    """Volumes carry the cluster's tags, so that a sweep finds those whose claim was never deleted."""
    return {"controller": {"extraVolumeTags": dict(owner_tags)}}


def coredns_configuration(settings: CoreDnsSettings) -> dict[str, Any]:
    """EKS's own autoscaler of CoreDNS, which counts nodes and cores; empty leaves the add-on at its two replicas."""
    scaling = {"enabled": True, "minReplicas": settings.min_replicas, "maxReplicas": settings.max_replicas}
    return {"autoScaling": scaling} if settings.autoscaled else {}


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
