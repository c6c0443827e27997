"""Sections of storage that the stack does not make, and of ways into the cluster."""

from typing import Annotated

from pydantic import Field

from stacks.section import Section


class EfsCsiAddon(Section):
    """EFS CSI driver."""

    enabled: bool = False
    """Mount EFS file systems of yours; they need a security group that lets the nodes in at port 2049."""


class MountpointS3Addon(Section):
    """Mountpoint for Amazon S3 CSI driver."""

    enabled: bool = False
    """Mount buckets of yours."""
    buckets: tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")], ...] = ()
    """Buckets that may be mounted. At least one."""
    writable: bool = False
    """Also write and delete objects. Without it mounts are read-only."""


class LoadBalancerControllerAddon(Section):
    """AWS Load Balancer Controller."""

    enabled: bool = False
    """Load balancers for Services and Ingresses. Those outside the training namespace must be deleted before the stack."""


class CertManagerAddon(Section):
    """cert-manager."""

    enabled: bool = False
    """Certificates inside the cluster."""
