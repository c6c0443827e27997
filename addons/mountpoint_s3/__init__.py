"""Mountpoint for Amazon S3 CSI driver, for buckets that the stack does not make."""

from typing import Annotated

from addons.declaration import Declaration
from addons.section import AddonSettings
from facts import text_formats
from facts.section import Formed

EKS_NAME = "aws-mountpoint-s3-csi-driver"
NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "s3-csi-driver-sa"


class MountpointS3Settings(AddonSettings):
    """Mountpoint for Amazon S3 CSI driver."""

    enabled: bool = False
    """Mount buckets of yours."""
    buckets: tuple[Annotated[str, Formed(text_formats.BUCKET)], ...] = ()
    """Buckets that may be mounted. At least one."""
    writable: bool = False
    """Also write and delete objects. Without it mounts are read-only."""


DECLARATION = Declaration(
    key="mountpointS3",
    title="Mountpoint for S3 CSI driver",
    purpose="Mounts buckets of yours; reads well, but renames and appends nothing, so no checkpoints",
    component="mountpoint-s3",
    namespace=NAMESPACE,
    nodes="all",
    settings=MountpointS3Settings,
    managed=(EKS_NAME,),
    identities=(f"{NAMESPACE}/{SERVICE_ACCOUNT}",),
    endpoints=("s3",),
)
