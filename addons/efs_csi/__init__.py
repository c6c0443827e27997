"""EFS CSI driver, for file systems that the stack does not make."""

from addons.declaration import Declaration
from addons.section import AddonSettings

EKS_NAME = "aws-efs-csi-driver"
NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "efs-csi-controller-sa"


class EfsCsiSettings(AddonSettings):
    """EFS CSI driver."""

    enabled: bool = False
    """Mount EFS file systems of yours; they need a security group that lets the nodes in at port 2049."""


DECLARATION = Declaration(
    key="efsCsi",
    title="EFS CSI driver",
    purpose="Mounts EFS file systems of yours, and makes access points in them",
    component="efs-csi",
    namespace=NAMESPACE,
    nodes="all",
    settings=EfsCsiSettings,
    managed=(EKS_NAME,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("elasticfilesystem", "ec2"),
    leaves=("access points of claims that are still there",),
)
