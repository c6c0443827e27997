"""EFS CSI driver as a component."""

from addons.base import Addon
from addons.csi_driver import CsiDriver
from addons.efs_csi import EKS_NAME, NAMESPACE, SERVICE_ACCOUNT
from addons.site import Site
from components.identity import ServiceAccount
from facts.policies.storage import efs_csi_policy
from facts.regions import partition


def make(site: Site) -> Addon:
    """The add-on of a cluster. Its pods tolerate every taint by themselves."""
    cluster = site.cluster
    policy = efs_csi_policy(partition(cluster.region), cluster.region)
    account = ServiceAccount(cluster.name, cluster.region, NAMESPACE, SERVICE_ACCOUNT, "efs-csi", policy=policy)
    return CsiDriver("efs-csi", EKS_NAME, account, {}, site)
