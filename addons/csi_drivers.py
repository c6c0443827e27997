"""CSI drivers by EKS's add-ons, for file systems and buckets that the stack does not make: EFS and Mountpoint for S3."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from addons.base import Addon, AddonArgs
from addons.declaration import Declaration
from addons.managed import ManagedAddon, ManagedAddonArgs
from components.identity import ServiceAccount

EFS, S3 = "aws-efs-csi-driver", "aws-mountpoint-s3-csi-driver"
EFS_ACCOUNT, S3_ACCOUNT = "efs-csi-controller-sa", "s3-csi-driver-sa"
NAMESPACE = "kube-system"
EFS_DECLARATION = Declaration(
    key="efsCsi",
    title="EFS CSI driver",
    purpose="Mounts EFS file systems of yours, and makes access points in them",
    component="efs-csi",
    namespace=NAMESPACE,
    nodes="all",
    managed=(EFS,),
    identities=(f"{NAMESPACE}/{EFS_ACCOUNT}",),
    leaves=("access points of claims that are still there",),
)
S3_DECLARATION = Declaration(
    key="mountpointS3",
    title="Mountpoint for S3 CSI driver",
    purpose="Mounts buckets of yours; reads well, but renames and appends nothing, so no checkpoints",
    component="mountpoint-s3",
    namespace=NAMESPACE,
    nodes="all",
    managed=(S3,),
    identities=(f"{NAMESPACE}/{S3_ACCOUNT}",),
)
TOLERATE_ALL: Mapping[str, Any] = {"node": {"tolerateAllTaints": True}}
"""Mounts happen where the pods run. Set for S3, whose add-on was seen with and without; EFS tolerates everything by itself."""


@dataclass(frozen=True)
class CsiDriverArgs(AddonArgs):
    """What a driver is made from."""

    eks_name: str
    version: str
    control_plane_name: pulumi.Input[str]
    account: ServiceAccount
    configuration: Mapping[str, Any]


class CsiDriver(Addon):
    """Starts when untainted nodes are there: the controller is a Deployment."""

    def __init__(self, name: str, args: CsiDriverArgs, opts: pulumi.ResourceOptions | None = None, *, after: list[pulumi.Resource]) -> None:
        """`after`: the untainted nodes."""
        super().__init__("CsiDriver", name, args, opts)
        managed = ManagedAddonArgs(
            args.eks_name, args.version, args.control_plane_name, account=args.account, configuration=args.configuration
        )
        ManagedAddon(args.eks_name, managed, after=after, opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})
