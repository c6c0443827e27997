"""Mountpoint for Amazon S3 CSI driver as a component."""

from collections.abc import Mapping
from typing import Any

from addons.base import Addon
from addons.csi_driver import CsiDriver
from addons.mountpoint_s3 import EKS_NAME, NAMESPACE, SERVICE_ACCOUNT, MountpointS3Settings
from addons.site import Site
from components.identity import ServiceAccount
from facts.policies.storage import mountpoint_s3_policy
from facts.regions import partition

TOLERATE_ALL: Mapping[str, Any] = {"node": {"tolerateAllTaints": True}}
"""Mounts happen where the pods run. The add-on was seen with and without."""


def make(site: Site) -> Addon:
    """The add-on of a cluster."""
    cluster = site.cluster
    settings = cluster.section(MountpointS3Settings)
    policy = mountpoint_s3_policy(partition(cluster.region), settings.buckets, writable=settings.writable)
    account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "mountpoint-s3", policy=policy)
    return CsiDriver("mountpoint-s3", EKS_NAME, account, TOLERATE_ALL, site)
